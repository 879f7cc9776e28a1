// SPDX-License-Identifier: Apache-2.0
// The pipeline evaluated in real arithmetic (320 bits), one token at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "property_tests/oracle/stored.h"
#include "property_tests/oracle/token_inputs.h"
#include "property_tests/oracle/wide.h"

namespace kvexact::oracle {

// What real arithmetic on the token's inputs amounts to. A value whose magnitude reaches
// kOverflow = 2^128 - 2^103, the least that rounds to an infinite fp32, is infinite from the stage
// that produces it on, and infinities then follow IEEE rules (inf * 0 and inf - inf are NaN).
enum class TokenClass : std::uint8_t {
  kFinite,          // every column is finite and the sum of squares is below kOverflow
  kZeroByOverflow,  // finite columns, sum of squares at or above kOverflow: rrms = 0, every value is a zero
  kInfiniteKv,      // some column is infinite: rrms = 0, finite columns give zeros, infinite ones NaN
  kNan,             // a NaN, a +inf score, a column of -inf scores, or inf KV that meets inf or weight 0: all NaN
  kUnspecified,     // an infinite KV whose weight is below 2^-114: an implementation may lose the weight (kNan) or
                    // keep it (kInfiniteKv); the values are those of kInfiniteKv
};

// x, or an infinity of its sign where |x| reaches kOverflow.
Wide Saturated(const Wide& x);

struct WideToken {
  TokenClass cls = TokenClass::kFinite;
  std::vector<Wide> columns;   // softmax-weighted means, [head_dim]
  std::vector<Wide> absolute;  // the same means of |KV|: the scale of a column's rounding errors
  // From here on absent for gather_split.
  Wide sum_squares;           // not saturated
  Wide mean_square;           // sum_squares / head_dim, eps not added
  Wide rrms;                  // 0 where the sum of squares overflows
  std::vector<Wide> normed;   // column * rrms * weight
  std::vector<Wide> rotated;  // after RoPE; where nothing rotates, as normed
};

WideToken EvaluateWide(const CompressToken& token);

// What storing the wide values, each rounded once, gives. Not for gather_split.
StoredToken StoreIdeal(const CompressToken& token, const WideToken& wide);

struct WideQ {
  std::vector<Wide> rotated;          // [head_dim], before rounding; the first dims as they are
  std::vector<std::uint16_t> values;  // bf16 that are quantised
  StoredQ stored;
  Wide weight;                    // folded, before rounding
  float weight_fp32 = 0;          // rounded once
  std::uint16_t weight_bf16 = 0;  // fp32 first, then bf16, as the contract says
};

WideQ EvaluateWide(const QHead& head);

}  // namespace kvexact::oracle
