// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/case_spec.h"

#include "harness/case/checked_math.h"

namespace kvexact {

using spec::Operation;

CaseSpec DefaultSpec(Operation op) {
  CaseSpec s;
  s.config.op = op;
  switch (op) {
    case Operation::kSparseAttn:
    case Operation::kIndexerFp8:
    case Operation::kIndexerMxfp4:
      s.config.overlap = true;
      break;
    case Operation::kTwoStage:
    case Operation::kGatherSplit:
    case Operation::kFinalize:
      s.config.ratio = 128;
      s.config.page = 2;
      s.config.block = 8;
      s.requests = {{120, 8, 1}};
      break;
    case Operation::kIndexerQFp8:
    case Operation::kIndexerQMxfp4:
      s.weights = generate::ValueKind::kNormal;
      break;
  }
  return s;
}

std::int64_t TokensOf(const CaseSpec& spec) {
  std::int64_t tokens = 0;
  for (const RequestRun& run : spec.requests) tokens += run.length * run.count;
  return tokens;
}

std::int64_t RequestsOf(const CaseSpec& spec) {
  std::int64_t requests = 0;
  for (const RequestRun& run : spec.requests) requests += run.count;
  return requests;
}

}  // namespace kvexact
