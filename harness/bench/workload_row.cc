// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/workload_row.h"

#include <algorithm>
#include <regex>

#include "harness/case/input_error.h"
#include "reference/spec/layout.h"

namespace kvexact::bench {
namespace {

std::vector<WorkloadRow> MakeWorkloads() {
  std::vector<WorkloadRow> rows;
  struct Kernel {
    const char* name;
    spec::Operation op;
    std::int64_t ratio;
  };
  for (const Kernel& kernel :
       {Kernel{"sparse_c4", spec::Operation::kSparseAttn, 4}, Kernel{"sparse_c128", spec::Operation::kSparseAttn, 128},
        Kernel{"indexer_fp8_c4", spec::Operation::kIndexerFp8, 4},
        Kernel{"indexer_mxfp4_c4", spec::Operation::kIndexerMxfp4, 4}}) {
    for (const std::int64_t tokens : {1, 64, 512})
      rows.push_back({kernel.name, "decode", kernel.op, kernel.ratio, tokens});
    for (const std::int64_t tokens : {2048, 8192, 65536}) {
      rows.push_back({kernel.name, "prefill", kernel.op, kernel.ratio, tokens});
    }
  }
  for (const std::int64_t tokens : {1, 64, 512, 8192}) {
    rows.push_back({"indexer_q_fp8", "heads64", spec::Operation::kIndexerQFp8, 0, tokens});
    rows.push_back({"indexer_q_mxfp4", "heads64", spec::Operation::kIndexerQMxfp4, 0, tokens});
  }
  return rows;
}

std::int64_t QBytes(const WorkloadRow& row) {
  constexpr std::int64_t kDim = 128;
  const bool mxfp4 = row.op == spec::Operation::kIndexerQMxfp4;
  const std::int64_t q = kDim * 2;
  const std::int64_t stored = mxfp4 ? kDim / 2 + 4 : kDim;
  const std::int64_t weights = 2 + 4;
  const std::int64_t position_and_table_row = 8 + 64 * 4;
  return row.tokens * (kQHeads * (q + stored + weights) + position_and_table_row);
}

}  // namespace

std::int64_t WorkloadRow::Requests() const {
  return Prefill() ? std::max<std::int64_t>(1, tokens / kPrefillLength) : tokens;
}

std::int64_t WorkloadRow::Compressed() const { return Prefill() ? tokens / ratio : tokens; }

std::int64_t WorkloadRow::Bytes() const {
  if (ratio == 0) return QBytes(*this);
  const spec::OperationRow& operation = spec::row(op);
  const std::int64_t window = (Overlap() ? 2 : 1) * ratio * 2 * operation.head_dim * 4;
  const std::int64_t stored = operation.layout->token_stride + operation.layout->scale_stride;
  const std::int64_t metadata = 20;  // position, slot, request
  return Compressed() * (window + stored) + tokens * metadata;
}

const std::vector<WorkloadRow>& Workloads() {
  static const std::vector<WorkloadRow> rows = MakeWorkloads();
  return rows;
}

std::vector<WorkloadRow> WorkloadsMatching(const std::string& filter) {
  std::vector<WorkloadRow> matching;
  try {
    const std::regex expression(filter);
    std::copy_if(Workloads().begin(), Workloads().end(), std::back_inserter(matching),
                 [&](const WorkloadRow& row) { return std::regex_search(row.Name(), expression); });
  } catch (const std::regex_error&) {
    throw InputError("--filter", filter, "is no regular expression");
  }
  if (matching.empty()) {
    throw InputError("--filter", filter, "matches no workload; kvexact bench --list prints them");
  }
  return matching;
}

}  // namespace kvexact::bench
