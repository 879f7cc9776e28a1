// SPDX-License-Identifier: Apache-2.0
// The reference's bytes against the witness's: from the strict values on, rounding, exponents, codes,
// packing and addresses were written twice, and must agree on every byte of hostile launches.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/backend/backend.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"
#include "property_tests/oracle/enclosed_stages.h"
#include "property_tests/oracle/hostile_cases.h"
#include "property_tests/oracle/store_outputs.h"
#include "reference/operations/indexer_q.h"

namespace kvexact::oracle {
namespace {

std::uint64_t Cases() {
  const char* text = std::getenv("KVEXACT_STORED_WITNESS_CASES");
  return text == nullptr ? 200 : std::strtoull(text, nullptr, 10);
}

// First difference between two output sets, or an empty string.
std::string Difference(const TensorMap& want, const TensorMap& got) {
  for (const auto& [name, tensor] : want) {
    const auto other = got.at(name).byte_span();
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (tensor.byte_span()[i] != other[i]) {
        return name + " byte " + std::to_string(i) + ": witness " + std::to_string(tensor.byte_span()[i]) +
               ", reference " + std::to_string(other[i]);
      }
    }
  }
  return {};
}

// What the reference stores for the case, against the strict values stored by the witness.
void ExpectSameCompression(Backend& reference, const Case& c) {
  Check(c);
  const CompressBinding binding(c);
  TensorMap want = c.outputs_before;
  for (std::int64_t t = 0; t < c.params.num_actual; ++t) {
    if (ExitOf(c, t) != Exit::kNone) continue;
    const CompressToken token = GatherToken(c, t);
    const PerturbedToken strict = EvaluateStrict(binding.inputs(), t);
    if (token.norm_weight.empty()) {
      WriteScratch(t, strict.columns, want);
    } else {
      WriteToken(c, token, StorePerturbed(token, strict), want);
    }
  }
  TensorMap got = c.outputs_before;
  ASSERT_EQ(reference.Run(c, got).status, RunStatus::kOk);
  ASSERT_EQ(Difference(want, got), "") << c.name << ' ' << c.row().name;
}

void ExpectSameQ(Backend& reference, const Case& c) {
  Check(c);
  const IndexerQBinding binding(c);
  TensorMap want = c.outputs_before;
  for (std::int64_t t = 0; t < c.params.num_actual; ++t) {
    for (std::int64_t h = 0; h < c.inputs.at("index_q").dim(1); ++h) {
      const QHead q = GatherQHead(c, t, h);
      Strict::Row row;
      EvaluateQHead(SeedStages(), Strict(), binding.inputs(), t, h, row);
      PerturbedQ value;
      std::vector<std::uint16_t> values;
      for (int i = 0; i < row.columns; ++i) values.push_back(Bf16Of(row.value[i]));
      value.stored = StoreQ(q.kind, values);
      const float scale = q.kind == QKind::kMxfp4 ? 1.0F : PowerOfTwo(value.stored.blocks[0].exponent);
      value.weight = ((q.weight * scale) * q.softmax_scale) * q.head_scale;
      value.weight_bf16 = Bf16Of(value.weight);
      WriteQHead(q, value, t, h, want);
    }
  }
  TensorMap got = c.outputs_before;
  ASSERT_EQ(reference.Run(c, got).status, RunStatus::kOk);
  ASSERT_EQ(Difference(want, got), "") << c.name << ' ' << c.row().name;
}

TEST(StoredWitness, HostileCompressionBytesAgree) {
  const auto reference = MakeReferenceBackend();
  for (std::uint64_t i = 0; i < Cases() && !HasFatalFailure(); ++i) {
    ExpectSameCompression(*reference, HostileCompressCase(5000 + i));
  }
}

TEST(StoredWitness, HostileQBytesAgree) {
  const auto reference = MakeReferenceBackend();
  for (std::uint64_t i = 0; i < Cases() && !HasFatalFailure(); ++i) ExpectSameQ(*reference, HostileQCase(5000 + i));
}

// Every operation, layout, stride and skipping that the generator draws.
TEST(StoredWitness, GeneratedBytesAgree) {
  const auto reference = MakeReferenceBackend();
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  for (std::uint64_t i = 0; i < Cases() && !HasFatalFailure(); ++i) {
    const Case c = Generate(Draw(settings, i));
    if (c.row().family == spec::Family::kIndexerQ) {
      ExpectSameQ(*reference, c);
    } else {
      ExpectSameCompression(*reference, c);
    }
  }
}

}  // namespace
}  // namespace kvexact::oracle
