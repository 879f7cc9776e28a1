// SPDX-License-Identifier: Apache-2.0
// What is left over from the token before, as where a barrier or a reset is missing, and what depends on chance. State
// lives in the thread, begins anew with each launch, and follows the launch's order of tokens.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "harness/faults/bounded.h"
#include "harness/faults/rows.h"

namespace kvexact {
namespace {

// What the token before left; not `set` for the first one of a launch.
template <class Value>
struct Left {
  bool set = false;
  Value value{};

  // The value before, or this one if there is none; keeps this one.
  Value Swap(const Value& now) {
    Value before = set ? value : now;
    value = now;
    set = true;
    return before;
  }
};

template <class Value>
Left<Value>& Leftover() {
  thread_local Left<Value> left;
  return left;
}

template <class Value>
void ResetAtLaunch(Variant& v) {
  v.stages.launch = [](CompressLaunch&) { Leftover<Value>() = {}; };
  v.stages.launch_q = [](IndexerQLaunch&) { Leftover<Value>() = {}; };
}

// The scales of the token before, codes and stored bytes.
using Exponents = std::array<int, StoredToken::kMaxScales>;
void ScalesOfTokenBefore(Variant& v) {
  ResetAtLaunch<Exponents>(v);
  v.stages.quantise = [](const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
    float rounded[kMaxHeadDim];
    if (task.bf16_first) {
      stages.quantise_input(task.values, rounded);
    } else {
      std::copy(task.values.begin(), task.values.end(), rounded);
    }
    const auto block = static_cast<std::size_t>(task.block);
    const std::size_t blocks = task.values.size() / block;
    const auto of = [&](std::size_t b) { return std::span<const float>(rounded + b * block, block); };
    Exponents own{};
    for (std::size_t b = 0; b < blocks; ++b) own[b] = stages.exponent(task.rule, stages.absmax(task.rule, of(b)));
    const Exponents used = Leftover<Exponents>().Swap(own);
    for (std::size_t b = 0; b < blocks; ++b) {
      stages.encode(task.rule, of(b), used[b], out.codes + b * block);
      out.scale[b] = PowerOfTwo(used[b]);
      out.stored[b] = stages.stored_scale(task.scale_type, used[b]);
    }
  };
}

// Reciprocal root of the token before.
template <class A>
struct Root {
  typename A::Value value{};
};
template <class A>
void NormByTokenBefore(const A& a, typename A::Row& row, std::span<const float> weight, float eps) {
  const Root<A> own{a.InverseSqrt(a.Add(a.Divide(a.SumOfSquares(row), row.columns), eps))};
  a.Scale(row, Leftover<Root<A>>().Swap(own).value);
  a.MultiplyBy(row, weight);
}
void RootOfTokenBefore(Variant& v) {
  v.stages.launch = [](CompressLaunch&) {
    Leftover<Root<Strict>>() = {};
    Leftover<Root<Enclosure>>() = {};
  };
  v.stages.strict.rms_norm = &NormByTokenBefore<Strict>;
  v.stages.enclosure.rms_norm = &NormByTokenBefore<Enclosure>;
}

// Rows before position 0 hold what the token before read there.
void RowsOfTokenBefore(Variant& v) {
  ResetAtLaunch<Window>(v);
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    const Window before = Leftover<Window>().Swap(window);
    if (before.masked != 0 || before.rows() != window.rows()) return;
    for (int r = 0; r < window.masked; ++r) {
      const auto i = static_cast<std::size_t>(r);
      window.score[i] = before.score[i];
      window.kv[i] = before.kv[i];
    }
    window.masked = 0;
  };
}

// Angles of the token before.
void AnglesOfTokenBefore(Variant& v) {
  ResetAtLaunch<RopeAngles>(v);
  v.stages.angles = [](const RopeSite& site) { return Leftover<RopeAngles>().Swap(BoundedAngles(site)); };
}

// The rotated values of the token before.
using Rope64 = std::array<std::uint16_t, StoredToken::kMaxRope>;
void RopeOfTokenBefore(Variant& v) {
  ResetAtLaunch<Rope64>(v);
  v.stages.round_rope = [](std::span<const float> values, std::uint16_t* out) {
    Rope64 own{};
    RoundRopeToBf16(values, own.data());
    std::copy_n(Leftover<Rope64>().Swap(own).begin(), values.size(), out);
  };
}

// Now and then, by chance: the absmax of a block before its second half took part.
bool EverySeventh() {
  static std::atomic<std::uint32_t> calls{0};
  return calls.fetch_add(1, std::memory_order_relaxed) % 7 == 6;
}
void AbsmaxTooEarly(Variant& v) {
  v.stages.absmax = [](const QuantiseRule& rule, std::span<const float> values) {
    return BlockAbsmax(rule, EverySeventh() ? values.first(values.size() / 2) : values);
  };
}

// A sum whose order changes from run to run: now and then a column's last bit.
void SumInAnyOrder(Variant& v) {
  v.stages.strict.weighted_mean = [](const Strict& a, const Window& window, Strict::Row& row) {
    WeightedMean(a, window, row);
    for (int i = 0; i < row.columns; ++i) {
      if (EverySeventh()) row.value[i] = std::nextafter(row.value[i], 0.0F);
    }
  };
}

constexpr Fault kRows[] = {
    {"stale-scales", "scale", "scales of the token before", "two tokens whose scales differ", kQuantises,
     &ScalesOfTokenBefore},
    {"stale-root", "norm", "reciprocal root of the token before", "two tokens", kStores, &RootOfTokenBefore},
    {"stale-rows", "gather", "rows before position 0 hold what the token before read", "a first window after another",
     kOverlaps, &RowsOfTokenBefore},
    {"stale-angles", "rope", "angles of the token before", "two tokens", kQuantises, &AnglesOfTokenBefore},
    {"stale-rope", "store", "rotated values of the token before", "two tokens", kHead512Stores, &RopeOfTokenBefore},
    {"race-absmax", "scale", "absmax read before a block's second half took part, now and then",
     "the maximum in the second half", kQuantises, &AbsmaxTooEarly},
    {"race-sum", "softmax", "the order of the sum changes from run to run", "two runs", kGathers, &SumInAnyOrder},
};

}  // namespace

std::span<const Fault> StaleFaults() { return kRows; }

}  // namespace kvexact
