// SPDX-License-Identifier: Apache-2.0
#include "property_tests/ports/port_backend.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "harness/faults/variant_backend.h"
#include "property_tests/ports/port_arithmetic.h"

namespace kvexact::ports {
namespace {

const PortArithmetic& PortOf(const Strict& a) { return static_cast<const PortArithmetic&>(a); }

// One column of a window.
struct Column {
  std::vector<float> score;
  std::vector<float> kv;
};

float Online(const PortArithmetic& a, const Column& c) {
  float max = -std::numeric_limits<float>::infinity();
  float sum = 0;
  float weighted = 0;
  for (std::size_t r = 0; r < c.score.size(); ++r) {
    const float s = c.score[r];
    const float next = s > max || s != s ? s : max;
    // Nothing weighs anything yet.
    if (next == -std::numeric_limits<float>::infinity()) continue;
    const float rescale = sum == 0 ? 0 : a.Exp(max, next);
    const float weight = a.Exp(s, next);
    sum = a.MultiplyAdd(sum, rescale, weight);
    weighted = a.MultiplyAdd(weight, c.kv[r], a.Multiply(weighted, rescale));
    max = next;
  }
  return a.Quotient(weighted, sum);
}

float MeanOf(const PortArithmetic& a, const Column& c) {
  const PortOptions& o = a.options();
  if (o.normalise == Normalise::kOnline) return Online(a, c);
  float max = -std::numeric_limits<float>::infinity();
  for (const float s : c.score) max = s > max ? s : max;
  std::vector<float> weight(c.score.size());
  for (std::size_t r = 0; r < weight.size(); ++r) weight[r] = a.Exp(c.score[r], max);
  const float sum = a.Sum(weight, o.rows);
  if (o.normalise == Normalise::kAfter) return a.Quotient(a.Dot(weight, c.kv, o.rows), sum);
  for (float& w : weight) w = a.Quotient(w, sum);
  return a.Dot(weight, c.kv, o.rows);
}

void Mean(const Strict& strict, const Window& window, Strict::Row& row) {
  row.columns = window.columns;
  Column column;
  for (int c = 0; c < window.columns; ++c) {
    column.score.clear();
    column.kv.clear();
    for (int r = window.masked; r < window.rows(); ++r) {
      column.score.push_back(window.score[static_cast<std::size_t>(r)][c]);
      column.kv.push_back(window.kv[static_cast<std::size_t>(r)][c]);
    }
    row.value[c] = MeanOf(PortOf(strict), column);
  }
}

void Norm(const Strict& strict, Strict::Row& row, std::span<const float> weight, float eps) {
  const PortArithmetic& a = PortOf(strict);
  const std::span<float> x(row.value, static_cast<std::size_t>(row.columns));
  // The head is a power of two: its reciprocal is exact.
  const float mean = a.Multiply(a.Dot(x, x, a.options().head), 1.0F / static_cast<float>(row.columns));
  const float root = a.InverseRoot(a.Add(mean, eps));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = a.Multiply(a.Multiply(x[i], root), weight[i]);
}

void RotateAll(const Strict& strict, Strict::Row& row, const RopeAngles& angles) {
  const PortArithmetic& a = PortOf(strict);
  const auto rotate = [&](int column, float cos, float sin) {
    const float even = row.value[column];
    const float odd = row.value[column + 1];
    row.value[column] = a.MultiplyAdd(even, cos, -a.Multiply(odd, sin));
    row.value[column + 1] = a.MultiplyAdd(odd, cos, a.Multiply(even, sin));
  };
  for (int column = angles.identity_from; column < angles.first_column; column += 2) rotate(column, 1, 0);
  for (int i = 0; i < angles.pairs; ++i) rotate(angles.first_column + 2 * i, angles.cos[i], angles.sin[i]);
}

Variant HonestVariant(const PortOptions& options) {
  Variant v = BoundedVariant();
  v.stages.strict = {&Mean, &Norm, &RotateAll};
  if (options.fold != nullptr) v.stages.fold_weight = options.fold;
  return v;
}

std::unique_ptr<Backend> MakeBackend(std::string name, const PortOptions& options, const Variant& variant) {
  BackendInfo info{.name = std::move(name),
                   .version = "1",
                   .device = "CPU",
                   .policy = "seed",
                   .bit_exact = false,
                   .budget = options.budget,
                   .concurrent = true};
  return std::make_unique<VariantBackend<PortArithmetic>>(std::move(info), variant, PortArithmetic(options));
}

}  // namespace

std::unique_ptr<Backend> MakePort(const PortOptions& options) {
  return MakeBackend(options.name, options, HonestVariant(options));
}

std::unique_ptr<Backend> MakeFaultyPort(const PortOptions& options, const Fault& fault) {
  Variant variant = HonestVariant(options);
  fault.apply(variant);
  return MakeBackend(std::string(options.name) + "+" + fault.name, options, variant);
}

}  // namespace kvexact::ports
