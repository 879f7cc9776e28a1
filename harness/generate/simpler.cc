// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/simpler.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "harness/generate/spec_fields.h"

namespace kvexact {
namespace {

using Runs = std::vector<RequestRun>;

constexpr std::size_t kMostRunsOneByOne = 24;
constexpr std::int64_t kFewTokens = 4;
constexpr std::uint64_t kSeedsOfOneRequest = 6;

// Collects candidates that can be used and differ from the spec.
class Candidates {
 public:
  explicit Candidates(const CaseSpec& spec) : spec_(spec) {}

  void Add(CaseSpec candidate) {
    if (candidate == spec_) return;
    try {
      Check(candidate);
    } catch (const InputError&) {
      return;
    }
    found_.push_back(std::move(candidate));
  }

  void AddRequests(Runs runs, std::uint64_t seeds = 0) {
    if (runs.empty()) return;
    CaseSpec candidate = spec_;
    candidate.requests = std::move(runs);
    Add(candidate);
    for (candidate.seed = 1; candidate.seed <= seeds; ++candidate.seed) Add(candidate);
  }

  std::vector<CaseSpec> Take() { return std::move(found_); }

 private:
  const CaseSpec& spec_;
  std::vector<CaseSpec> found_;
};

std::int64_t PeriodOf(const CaseSpec& spec) {
  return spec::row(spec.config.op).family == spec::Family::kIndexerQ ? 1 : spec.config.ratio;
}

// The last position of the run that ends a window; its last one if there is none.
std::int64_t LastEnd(const RequestRun& run, std::int64_t period) {
  const std::int64_t end = run.start + run.length;
  const std::int64_t last = end / period * period - 1;
  return last >= run.start ? last : end - 1;
}

// One request with 1 to 4 tokens up to the end of a window: the first windows, then those that the spec has.
void AddOneRequest(const CaseSpec& spec, Candidates& out) {
  const std::int64_t period = PeriodOf(spec);
  const std::int64_t tokens = RequestsOf(spec) > 1 ? kFewTokens + 1 : TokensOf(spec);
  const std::size_t runs = std::min<std::size_t>(spec.requests.size(), 4);
  for (std::int64_t length = 1; length <= kFewTokens && length < tokens; ++length) {
    for (std::size_t i = 0; i < runs; ++i) {
      const std::int64_t last = LastEnd(spec.requests[i], period);
      for (const std::int64_t end : {last % period + period, last % period, last}) {
        if (end + 1 < length) continue;
        out.AddRequests({{end + 1 - length, length, 1}}, i == 0 ? kSeedsOfOneRequest : 1);
      }
    }
  }
}

void AddFewerRuns(const Runs& runs, Candidates& out) {
  if (runs.size() < 2) return;
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  const std::size_t each = std::min(runs.size(), kMostRunsOneByOne);
  for (std::size_t i = 0; i < each; ++i) {
    RequestRun alone = runs[i];
    alone.count = 1;
    out.AddRequests({alone}, i < 2 ? 1 : 0);
  }
  out.AddRequests(Runs(runs.begin(), middle));
  out.AddRequests(Runs(middle, runs.end()));
  for (std::size_t i = 0; i < each; ++i) {
    Runs rest = runs;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    out.AddRequests(std::move(rest));
  }
}

// Shorter or earlier forms of one run.
Runs SmallerRuns(const RequestRun& run, std::int64_t period) {
  Runs smaller;
  const auto add = [&](std::int64_t start, std::int64_t length, std::int64_t count) {
    if (start >= 0 && length > 0 && count > 0) smaller.push_back({start, length, count});
  };
  add(run.start, run.length, 1);
  add(run.start, run.length, run.count / 2);
  add(run.start, run.length, run.count - 1);
  const std::int64_t last = LastEnd(run, period);
  const std::int64_t half = run.length / 2;
  add(last, 1, run.count);
  add(run.start + run.length - 1, 1, run.count);
  add(run.start, 1, run.count);
  add(last - period, period + 1, run.count);
  add(run.start + half, run.length - half, run.count);
  add(run.start, run.length - half, run.count);
  add(run.start + 1, run.length - 1, run.count);
  add(run.start, run.length - 1, run.count);
  add(run.start % period, run.length, run.count);
  add(run.start % period + period, run.length, run.count);
  add(run.start / 2 / period * period + run.start % period, run.length, run.count);
  add(run.start - period, run.length, run.count);
  add(0, run.length, run.count);
  std::erase_if(smaller, [&](const RequestRun& s) {
    return s == run || s.length > run.length || s.count > run.count || s.start + s.length > run.start + run.length;
  });
  return smaller;
}

void AddSmallerRuns(const CaseSpec& spec, Candidates& out) {
  const Runs& runs = spec.requests;
  for (std::size_t i = 0; i < std::min(runs.size(), kMostRunsOneByOne); ++i) {
    for (const RequestRun& smaller : SmallerRuns(runs[i], PeriodOf(spec))) {
      Runs changed = runs;
      changed[i] = smaller;
      out.AddRequests(std::move(changed));
    }
  }
}

// Every setting but the requests at its default; numbers also half way there.
void AddPlainerSettings(const CaseSpec& spec, Candidates& out) {
  const CaseSpec usual = DefaultSpec(spec.config.op);
  CaseSpec all = usual;
  all.requests = spec.requests;
  all.seed = spec.seed;
  out.Add(all);
  all.config = spec.config;
  out.Add(all);
  std::vector<CaseSpec> data;
  std::vector<CaseSpec> configuration;
  CaseSpec changed = spec;
  const auto visit = [&](const char* key, schema::Bits, auto& field, const auto& common) {
    if (std::string_view(key) == "requests" || field == common) return;
    const Configuration before = changed.config;
    const auto value = field;
    const auto try_value = [&](const auto& other) {
      if (field == other) return;
      field = other;
      (changed.config == before ? data : configuration).push_back(changed);
      field = value;
    };
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, std::int64_t>) {
      // A number never grows: a page of one token is simpler than one of 64.
      if (std::abs(value) < std::abs(common)) return;
      try_value(common);
      try_value(common + (value - common) / 2);
    } else {
      try_value(common);
    }
  };
  generate::ForEachSetting(visit, changed, usual);
  for (const std::int64_t ratio : {1, 2, 4}) {
    if (ratio >= spec.config.ratio) break;
    configuration.push_back(spec);
    configuration.back().config.ratio = ratio;
  }
  if (spec.config.heads > 1) {
    configuration.insert(configuration.begin(), spec);
    configuration.front().config.heads = 1;
  }
  for (CaseSpec& candidate : data) out.Add(std::move(candidate));
  for (CaseSpec& candidate : configuration) out.Add(std::move(candidate));
}

}  // namespace

std::vector<CaseSpec> SimplerSpecs(const CaseSpec& spec) {
  Candidates out(spec);
  AddOneRequest(spec, out);
  AddFewerRuns(spec.requests, out);
  AddSmallerRuns(spec, out);
  AddPlainerSettings(spec, out);
  return out.Take();
}

}  // namespace kvexact
