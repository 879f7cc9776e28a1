// SPDX-License-Identifier: Apache-2.0
// Writes stored elements where the kernels' contract puts them: addressing and packing written apart
// from reference/stages and harness/case.
#pragma once

#include "harness/case/case.h"
#include "property_tests/oracle/perturbed_evaluator.h"

namespace kvexact::oracle {

// Into outputs["kv_cache"] at the token's slot, as the case's layout row says.
void WriteToken(const Case& c, const CompressToken& token, const StoredToken& stored, TensorMap& outputs);
// Into row `token` of outputs["scratch"].
void WriteScratch(std::int64_t token, const std::vector<float>& columns, TensorMap& outputs);
void WriteQHead(const QHead& q, const PerturbedQ& value, std::int64_t token, std::int64_t head, TensorMap& outputs);

}  // namespace kvexact::oracle
