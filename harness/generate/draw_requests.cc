// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/draw_requests.h"

#include <algorithm>
#include <bit>

#include "harness/generate/shape.h"

namespace kvexact::generate {
namespace {

constexpr std::int64_t kWindowElements = 1 << 16;  // that all windows of a case hold, at size 1
constexpr std::int64_t kMostWindows = 20;          // of a case, at size 1
constexpr std::int64_t kMostQTokens = 128;
constexpr std::int64_t kQElements = 1 << 14;
// The same of a large launch, most often and now and then, and of rows of Q, at any size.
constexpr std::int64_t kLargeElements = 1 << 18;
constexpr std::int64_t kLargestElements = 1 << 20;
constexpr std::int64_t kLargeWindows = 300;
constexpr std::int64_t kMostQRows = 66000;
constexpr std::int64_t kCrowdWindows = 4;
// Of the table that grows with the position: most often, and now and then.
constexpr std::int64_t kFarElements = 1 << 18;
constexpr std::int64_t kFarthestElements = 1 << 22;
// Of what grows with the tokens of a crowd.
constexpr std::int64_t kCrowdElements = 1 << 21;

// Collects runs until their windows use up the budget.
class RequestList {
 public:
  RequestList(std::int64_t ratio, std::int64_t windows, Stream& stream)
      : ratio_(ratio), windows_(windows), stream_(stream) {}

  std::int64_t period() const { return ratio_; }

  // From `start` to the end of the n-th window from there, then a few positions of the next.
  void AddThroughWindow(std::int64_t start, std::int64_t n) {
    n = std::min(n, windows_);
    const std::int64_t rest = ratio_ > 1 ? stream_.Below(std::min<std::int64_t>(ratio_, 12)) : 0;
    const std::int64_t end = (start / ratio_ + n) * ratio_;
    if (end <= start && rest == 0) return;
    const std::int64_t length = std::max(end, start) + rest - start;
    windows_ -= n;
    runs_.push_back({start, length, 1});
  }

  // `count` single tokens at one position.
  void AddSingles(std::int64_t position, std::int64_t count) {
    if ((position + 1) % ratio_ == 0) count = std::min(count, windows_);
    if (count <= 0) return;
    if ((position + 1) % ratio_ == 0) windows_ -= count;
    runs_.push_back({position, 1, count});
  }

  // A position that ends a window, two times of three.
  std::int64_t DecodePosition(std::int64_t most_windows) {
    const std::int64_t window = stream_.Below(most_windows);
    return window * ratio_ + (stream_.Below(3) < 2 ? ratio_ - 1 : stream_.Below(ratio_));
  }

  std::vector<RequestRun> Take() { return std::move(runs_); }

 private:
  std::int64_t ratio_;
  std::int64_t windows_;
  Stream& stream_;
  std::vector<RequestRun> runs_;
};

enum class Theme { kPrefill, kChunks, kDecode, kFirstWindows, kFar, kMany, kLarge, kCrowd, kMixed, kNone };

// Positions that keep cos_sin_cache, or the block table, at so many elements.
std::int64_t FarthestPosition(const CaseSpec& spec, std::int64_t elements) {
  if (spec.config.op == spec::Operation::kGatherSplit) return elements / 8 * spec.config.block;
  return elements / ShapeOf(spec.config).angle_columns;
}

// How many tokens may stand before one at `position`: each has a row of the block table, and of scratch where there is
// any.
std::int64_t LargestCrowd(const CaseSpec& spec, std::int64_t position) {
  const spec::OperationRow& row = spec::row(spec.config.op);
  const bool scratch = row.layout == nullptr || !row.reads_state || spec.config.op == spec::Operation::kTwoStage;
  const std::int64_t columns = row.reads_state ? position / spec.config.block + 1 : 0;
  return kCrowdElements / (columns + (scratch ? ShapeOf(spec.config).scratch_columns : 0));
}

// Many rows (token, head) of Q; more than 16 bits number take seconds, so that few cases do.
void AddQRows(const CaseSpec& spec, Stream& stream, RequestList& list) {
  const std::int64_t rows = stream.PickWeighted<std::int64_t>({{600, 6}, {2400, 5}, {kMostQRows, 1}});
  const std::int64_t tokens = rows / spec.config.heads + 1;
  const std::int64_t few = std::min<std::int64_t>(tokens, stream.Between(1, 3));
  list.AddSingles(stream.Below(64), tokens - few);
  list.AddSingles(stream.Below(64), few);
}

// Many tokens that end no window, one a request, between a few that do: those behind stand a power of two after those
// in front, so that what wraps around at a power of two meets.
void AddCrowd(const CaseSpec& spec, Stream& stream, RequestList& list) {
  const std::int64_t ratio = spec.config.ratio;
  const std::int64_t last = 2 * ratio - 1;
  const std::int64_t wanted = stream.PickWeighted<std::int64_t>({{1 << 8, 3}, {1 << 10, 3}, {1 << 16, 4}});
  const auto largest = static_cast<std::uint64_t>(std::max<std::int64_t>(LargestCrowd(spec, last), 4));
  const std::int64_t distance = std::min(wanted, static_cast<std::int64_t>(std::bit_floor(largest)));
  const std::int64_t front = stream.Between(1, 2);
  list.AddSingles(ratio - 1, front);
  list.AddSingles(stream.Below(ratio - 1), distance - front);
  list.AddSingles(last, stream.Between(1, 2));
  list.AddSingles(ratio - 1, 1);
}

// A start shortly before the end of a window, so that long windows do not make long chunks.
std::int64_t ChunkStart(std::int64_t ratio, std::int64_t most_windows, Stream& stream) {
  const std::int64_t window = stream.Below(most_windows);
  return window * ratio + ratio - 1 - stream.Below(std::min<std::int64_t>(ratio, 10));
}

void AddTheme(Theme theme, const CaseSpec& spec, Stream& stream, RequestList& list) {
  const std::int64_t ratio = spec.config.ratio;
  switch (theme) {
    case Theme::kPrefill:
      for (std::int64_t n = stream.Between(1, 3); n > 0; --n) list.AddThroughWindow(0, stream.Between(1, 6));
      return;
    case Theme::kChunks:
      for (std::int64_t n = stream.Between(1, 3); n > 0; --n) {
        const std::int64_t start = ChunkStart(ratio, 8, stream);
        list.AddThroughWindow(start, stream.Between(1, 4));
      }
      return;
    case Theme::kDecode:
      for (std::int64_t n = stream.Between(1, 16); n > 0; --n) list.AddSingles(list.DecodePosition(12), 1);
      return;
    case Theme::kFirstWindows:
      for (std::int64_t n = stream.Between(1, 4); n > 0; --n) list.AddThroughWindow(0, 1);
      return;
    case Theme::kFar: {
      const std::int64_t farthest = FarthestPosition(spec, stream.OneIn(6) ? kFarthestElements : kFarElements);
      const std::int64_t start = farthest / 2 + stream.Below(farthest / 2);
      list.AddThroughWindow(start / ratio * ratio + ratio - 1, stream.Between(1, 2));
      return;
    }
    case Theme::kMany:
      for (std::int64_t n = stream.Between(2, 5); n > 0; --n) {
        const std::int64_t position = list.DecodePosition(6);
        list.AddSingles(position, stream.Between(1, 60));
      }
      return;
    case Theme::kLarge:
      for (std::int64_t n = stream.Between(2, 5); n > 0; --n) {
        const std::int64_t window = stream.Below(6);
        list.AddSingles(window * ratio + ratio - 1, stream.Between(20, 120));
      }
      return;
    case Theme::kCrowd:
      if (spec::row(spec.config.op).family == spec::Family::kIndexerQ) return AddQRows(spec, stream, list);
      // Where every token ends a window there is no crowd.
      return ratio > 1 && list.period() > 1 ? AddCrowd(spec, stream, list) : AddTheme(Theme::kMany, spec, stream, list);
    case Theme::kMixed:
      AddTheme(Theme::kDecode, spec, stream, list);
      AddTheme(Theme::kPrefill, spec, stream, list);
      return;
    case Theme::kNone:
      return;
  }
}

// The tokens of a crowd go through the scratch two times of three.
void DrawDecode(Theme theme, std::int64_t decode_tokens, Stream& stream, CaseSpec& spec) {
  const std::int64_t tokens = TokensOf(spec);
  if (theme == Theme::kCrowd && !stream.OneIn(3)) decode_tokens = 0;
  spec.decode = stream.Pick<std::int64_t>(
      {0, decode_tokens, decode_tokens, stream.Below(tokens + 1), tokens, tokens + 7, 1000, -3});
}

// Windows, or tokens of Q, that a case may have.
std::int64_t MostWindows(Theme theme, std::int64_t size, Stream& stream, const CaseSpec& spec) {
  const spec::OperationRow& row = spec::row(spec.config.op);
  const Shape shape = ShapeOf(spec.config);
  const bool q = row.family == spec::Family::kIndexerQ;
  if (q && theme == Theme::kCrowd) return kMostQRows + 1;
  const std::int64_t rows = q ? spec.config.heads : row.reads_state ? shape.window_rows : 1;
  const std::int64_t elements = std::max<std::int64_t>(rows * shape.head_dim, 1);
  if (theme == Theme::kLarge) {
    const std::int64_t most = stream.OneIn(3) ? kLargestElements : kLargeElements;
    return std::clamp<std::int64_t>(most / elements, 1, kLargeWindows);
  }
  return std::clamp<std::int64_t>((q ? kQElements : kWindowElements) * size / elements,
                                  theme == Theme::kCrowd ? kCrowdWindows : 1, (q ? kMostQTokens : kMostWindows) * size);
}

Theme ThemeOf(Launch launch, Stream& stream) {
  switch (launch) {
    case Launch::kUsual:
      break;
    case Launch::kLarge:
      return Theme::kLarge;
    case Launch::kCrowd:
      return Theme::kCrowd;
  }
  return stream.PickWeighted<Theme>({{Theme::kPrefill, 8},
                                     {Theme::kChunks, 8},
                                     {Theme::kDecode, 8},
                                     {Theme::kFirstWindows, 4},
                                     {Theme::kMixed, 6},
                                     {Theme::kFar, 2},
                                     {Theme::kMany, 3},
                                     {Theme::kNone, 1}});
}

}  // namespace

void DrawRequests(std::int64_t size, Launch launch, Stream& stream, CaseSpec& spec) {
  const Theme theme = ThemeOf(launch, stream);
  const bool q = spec::row(spec.config.op).family == spec::Family::kIndexerQ;
  // Every token of Q is work, as if each ended a window.
  RequestList list(q ? 1 : spec.config.ratio, MostWindows(theme, size, stream, spec), stream);
  AddTheme(theme, spec, stream, list);
  spec.requests = list.Take();
  if (spec.config.op != spec::Operation::kTwoStage) return;
  std::int64_t decode_tokens = 0;
  for (const RequestRun& run : spec.requests) {
    if (run.length == 1) decode_tokens += run.count;
  }
  DrawDecode(theme, decode_tokens, stream, spec);
}

}  // namespace kvexact::generate
