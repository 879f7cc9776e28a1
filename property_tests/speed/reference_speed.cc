// SPDX-License-Identifier: Apache-2.0
// Items are tokens that store something, or Q heads.
#include <benchmark/benchmark.h>

#include "harness/backend/backend.h"
#include "harness/generate/generate.h"
#include "harness/judge/judge.h"

namespace kvexact {
namespace {

CaseSpec SpecOf(spec::Operation op, std::int64_t ratio) {
  CaseSpec spec = DefaultSpec(op);
  if (spec::row(op).family == spec::Family::kIndexerQ) {
    spec.config.heads = 64;
    spec.requests = {{0, 64, 1}};
    return spec;
  }
  spec.config.ratio = ratio;
  spec.config.overlap = ratio == 4;
  spec.config.block = ratio == 4 ? 4 : 8;
  spec.config.page = 256 / ratio;
  // Continuations far from position 0, so that every window is whole.
  spec.requests = {{ratio * 16, ratio * 64, 1}};
  return spec;
}

std::int64_t ItemsOf(const Case& c, const CaseVerdict& verdict) {
  if (c.row().family != spec::Family::kIndexerQ) return verdict.tokens;
  return verdict.tokens * c.inputs.find("index_q")->second.dim(1);
}

void Reference(benchmark::State& state, spec::Operation op, std::int64_t ratio) {
  const Case c = Generate(SpecOf(op, ratio));
  const auto backend = MakeReferenceBackend();
  TensorMap outputs = c.outputs_before;
  for (auto _ : state) benchmark::DoNotOptimize(backend->Run(c, outputs).status);
  state.SetItemsProcessed(state.iterations() * ItemsOf(c, Judge(c, {}, c.outputs_before, outputs)));
}

void JudgeOutputs(benchmark::State& state, spec::Operation op, std::int64_t ratio) {
  const Case c = Generate(SpecOf(op, ratio));
  TensorMap outputs = c.outputs_before;
  MakeReferenceBackend()->Run(c, outputs);
  CaseVerdict verdict;
  for (auto _ : state) {
    verdict = Judge(c, {}, c.outputs_before, outputs);
    benchmark::DoNotOptimize(verdict);
  }
  if (!verdict.right()) state.SkipWithError("the reference is not right");
  state.SetItemsProcessed(state.iterations() * ItemsOf(c, verdict));
}

#define KVEXACT_SPEED(name, op, ratio)                            \
  BENCHMARK_CAPTURE(Reference, name, spec::Operation::op, ratio); \
  BENCHMARK_CAPTURE(JudgeOutputs, name, spec::Operation::op, ratio)

KVEXACT_SPEED(sparse_attn_ratio4, kSparseAttn, 4);
KVEXACT_SPEED(sparse_attn_ratio128, kSparseAttn, 128);
KVEXACT_SPEED(indexer_fp8_ratio4, kIndexerFp8, 4);
KVEXACT_SPEED(indexer_mxfp4_ratio4, kIndexerMxfp4, 4);
KVEXACT_SPEED(indexer_q_fp8, kIndexerQFp8, 1);
KVEXACT_SPEED(indexer_q_mxfp4, kIndexerQMxfp4, 1);

}  // namespace
}  // namespace kvexact

BENCHMARK_MAIN();
