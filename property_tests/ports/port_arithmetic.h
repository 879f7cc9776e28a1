// SPDX-License-Identifier: Apache-2.0
// The fp32 operations of a port, and its sums.
#pragma once

#include <span>

#include "property_tests/ports/port_options.h"
#include "reference/numerics/strict.h"

namespace kvexact::ports {

// Derived from Strict so that whole operations run over it; the stages of a port (port_backend.cc) use its own
// functions instead of the inherited ones.
class PortArithmetic : public Strict {
 public:
  explicit PortArithmetic(const PortOptions& options) : options_(&options) {}

  const PortOptions& options() const { return *options_; }

  float Add(float a, float b) const { return Flushed(Flushed(a) + Flushed(b)); }
  float Multiply(float a, float b) const { return Flushed(Flushed(a) * Flushed(b)); }
  float MultiplyAdd(float a, float b, float c) const;  // a * b + c
  float Quotient(float a, float b) const;
  float InverseRoot(float x) const;
  float Exp(float score, float max) const;

  float Sum(std::span<const float> terms, SumOrder order) const;
  float Dot(std::span<const float> a, std::span<const float> b, SumOrder order) const;

  float Flushed(float x) const;

 private:
  float Combine(float a, std::span<const float> x, std::span<const float> y, std::size_t i) const;
  float Pairwise(std::span<const float> x, std::span<const float> y) const;
  float Kahan(std::span<const float> x, std::span<const float> y) const;
  // x[i] * y[i], or x[i] where there is no y.
  float Term(std::span<const float> x, std::span<const float> y, std::size_t i) const;
  float SumOf(std::span<const float> x, std::span<const float> y, SumOrder order) const;

  const PortOptions* options_;
};

}  // namespace kvexact::ports
