// SPDX-License-Identifier: Apache-2.0
#include "harness/run/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/run/element_sites.h"

namespace kvexact {
namespace {

bool SameWhereWritten(const ByteRanges& written, const TensorMap& a, const TensorMap& b) {
  return std::all_of(written.begin(), written.end(), [&](const auto& buffer) {
    const std::uint8_t* left = a.find(buffer.first)->second.bytes();
    const std::uint8_t* right = b.find(buffer.first)->second.bytes();
    return std::all_of(buffer.second.begin(), buffer.second.end(), [&](const ByteRange& range) {
      return std::memcmp(left + range.begin, right + range.begin, static_cast<std::size_t>(range.end - range.begin)) ==
             0;
    });
  });
}

bool Kept(const ElementSite& site, const RunOutputs& run) { return site.Load(run.before) == site.Load(run.after); }

class Comparison {
 public:
  Comparison(const CaseRuns& runs, CaseResult& result) : runs_(runs), result_(result) {
    for (int k = 0; k < kElementKinds; ++k) judged_unwritten_[k] = result.verdict.tallies[k].unwritten;
  }

  void Visit(const ElementSite& site) {
    const bool open = Open(site);
    if (Kept(site, runs_.first) && Kept(site, runs_.second)) {
      CountUnwritten(site, open);
    } else if (!open) {
      CheckStable(site);
    }
  }

  // Unwritten elements that the judge did not see as such, since their poison is a member.
  void Finish() {
    for (int k = 0; k < kElementKinds; ++k) {
      Tally& tally = result_.verdict.tallies[k];
      const std::int64_t members = std::clamp<std::int64_t>(unwritten_[k] - judged_unwritten_[k], 0, tally.allowed);
      tally.allowed -= members;
      tally.unwritten += members;
    }
  }

 private:
  bool Open(const ElementSite& site) const {
    const std::vector<OpenToken>& open = result_.verdict.open;
    return std::binary_search(open.begin(), open.end(), OpenToken{site.token, site.head});
  }

  void CountUnwritten(const ElementSite& site, bool open) {
    if (open) {
      Tally& tally = result_.verdict.tally(site.kind);
      --tally.unjudged;
      ++tally.unwritten;
    } else {
      ++unwritten_[static_cast<std::size_t>(site.kind)];
    }
    if (Known(site)) return;
    Add(site, Problem::What::kUnwritten, site.Text(site.Load(runs_.first.after)),
        "a value that does not depend on what the buffer held");
  }

  void CheckStable(const ElementSite& site) {
    const std::uint32_t first = site.Load(runs_.first.after);
    const std::uint32_t second = site.Load(runs_.second.after);
    if (!SameValue(site, first, second)) {
      CountUnstable(site, first, second, "in a second run");
      return;
    }
    if (!runs_.reordered) return;
    const std::uint32_t reordered = site.Load(runs_.reordered->after);
    if (!SameValue(site, first, reordered)) {
      CountUnstable(site, first, reordered, "with the tokens in another order and two launches");
    }
  }

  void CountUnstable(const ElementSite& site, std::uint32_t first, std::uint32_t other, const char* when) {
    ++result_.unstable[static_cast<std::size_t>(site.kind)];
    Add(site, Problem::What::kUnstable, fmt::format("{}, {} {}", site.Text(first), when, site.Text(other)),
        "the same value in every run");
  }

  // Whether the judge described this element already.
  bool Known(const ElementSite& site) const {
    return std::any_of(result_.verdict.problems.begin(), result_.verdict.problems.end(), [&](const Problem& p) {
      return p.what == Problem::What::kUnwritten && p.kind == site.kind && p.token == site.token &&
             p.head == site.head && p.element == site.element;
    });
  }

  void Add(const ElementSite& site, Problem::What what, std::string observed, std::string expected) {
    std::vector<Problem>& problems = result_.verdict.problems;
    if (problems.size() >= CaseVerdict::kMaxProblems) return;
    Problem problem = ProblemAt(site, what);
    problem.observed = std::move(observed);
    problem.expected = std::move(expected);
    problems.push_back(std::move(problem));
  }

  const CaseRuns& runs_;
  CaseResult& result_;
  std::array<std::int64_t, kElementKinds> judged_unwritten_{};
  std::array<std::int64_t, kElementKinds> unwritten_{};  // kept their poison in two runs, open ones apart
};

void CountTouched(const ByteRanges& written, const RunOutputs& run, CaseVerdict& verdict) {
  CaseVerdict again;
  CheckUntouched(written, run.before, run.after, again);
  const bool described = verdict.touched > 0;
  verdict.touched = std::max(verdict.touched, again.touched);
  if (described) return;
  for (Problem& problem : again.problems) {
    if (verdict.problems.size() < CaseVerdict::kMaxProblems) verdict.problems.push_back(std::move(problem));
  }
}

}  // namespace

bool MarkWrittenByChance(const Case& c, const Stages& stages, CaseRuns& runs) {
  bool any = false;
  ForEachElement(c, stages, [&](const ElementSite& site) {
    // Another value in the second run would be what differs between runs, not chance.
    if (!Kept(site, runs.first) || site.Load(runs.first.after) != site.Load(runs.second.after)) return;
    site.Invert(runs.first.before);
    any = true;
  });
  return any;
}

void CompareRuns(const Case& c, const Stages& stages, const ByteRanges& written, const CaseRuns& runs,
                 CaseResult& result) {
  CountTouched(written, runs.second, result.verdict);
  if (runs.reordered) CountTouched(written, *runs.reordered, result.verdict);
  const bool same = SameWhereWritten(written, runs.first.after, runs.second.after) &&
                    (!runs.reordered || SameWhereWritten(written, runs.first.after, runs.reordered->after));
  // Elements that kept their poison differ between the runs.
  if (same) return;
  Comparison comparison(runs, result);
  ForEachElement(c, stages, [&](const ElementSite& site) { comparison.Visit(site); });
  comparison.Finish();
}

}  // namespace kvexact
