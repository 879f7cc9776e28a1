// SPDX-License-Identifier: Apache-2.0
// What a variant of the model stores for a case, and what any fp32 evaluation of that variant may store.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/case/case.h"
#include "harness/faults/enclosed_means.h"
#include "harness/faults/fault.h"
#include "reference/numerics/budget.h"

namespace kvexact {

// How what was observed fits a variant.
struct Fit {
  bool explained = false;    // every byte: equal to an image, or (code, bf16, fp32) between the images' values
  std::int64_t inexact = 0;  // bytes unlike the strict image; of what is not explained, those counted so far
};

// Bytes that a comparison leaves out, by buffer: 1 where the policy leaves an element open.
using ByteMask = std::map<std::string, std::vector<std::uint8_t>, std::less<>>;
ByteMask OpenBytes(const Case& c, const std::vector<std::pair<std::int64_t, std::int64_t>>& token_heads);

class VariantImage {
 public:
  // Runs the variant over the strict arithmetic from the fill `before`. All three must outlive the image.
  VariantImage(const Variant& variant, const Case& c, const TensorMap& before);

  const TensorMap& strict() const { return strict_; }

  // Whether an fp32 evaluation of the variant within the budget may have left `after`. Where it differs from the
  // strict image, images are made of the two ends of every value before rounding, of the least and the largest
  // magnitudes, and of what else a value may be. `means` may serve many images under one budget.
  Fit Compare(const TensorMap& after, const Budget& budget, const ByteMask& open, EnclosedMeans& means);

 private:
  void MakeTags();
  void MakeEnds(const Budget& budget, EnclosedMeans& means);

  const Variant& variant_;
  const Case& case_;
  const TensorMap& before_;
  TensorMap strict_;
  TensorMap tags_;               // which bytes hold which kind of element
  std::vector<TensorMap> ends_;  // made when first needed
};

}  // namespace kvexact
