// SPDX-License-Identifier: Apache-2.0
// Where the elements that a case stores lie in its output buffers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "harness/case/case.h"
#include "harness/judge/verdict.h"
#include "reference/stages/stages.h"

namespace kvexact {

struct ElementSite {
  ElementKind kind = ElementKind::kCode;
  const char* buffer = "";
  std::int64_t byte_offset = 0;
  int bytes = 1;
  int shift = -1;  // bits of a nibble within its byte: 0 or 4; -1: the element is whole bytes
  std::int64_t token = 0;
  std::int64_t head = -1;    // indexer Q only
  std::int64_t element = 0;  // within the token's (or head's) elements of that kind, as in Problem

  // Bits of the element in its buffer, little-endian.
  std::uint32_t Load(const TensorMap& outputs) const;
  // Inverts all of the element's bits.
  void Invert(TensorMap& outputs) const;
  // Bits in hexadecimal, with the element's number of digits.
  std::string Text(std::uint32_t element_bits) const;
};

// A problem of that element, without its texts.
Problem ProblemAt(const ElementSite& site, Problem::What what);

// Whether both bits are the same value: equal, or both a NaN of a bf16 or fp32 element, whose payload has no meaning.
bool SameValue(const ElementSite& site, std::uint32_t a, std::uint32_t b);

// Visits every element that the case stores, token by token in the order of the launch's arrays. The case must have
// passed Check.
void ForEachElement(const Case& c, const Stages& stages, const std::function<void(const ElementSite&)>& visit);

}  // namespace kvexact
