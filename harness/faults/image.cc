// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/image.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/faults/run_variant.h"
#include "harness/run/element_sites.h"

namespace kvexact {

// One value for each enclosed one.
class EnclosureEnd : public Enclosure {
 public:
  enum class End { kLow, kHigh, kInward, kOutward, kOther };
  EnclosureEnd(const Budget& budget, End end, EnclosedMeans::Stage mean, EnclosedMeans& means)
      : Enclosure(budget), end_(end), mean_(mean), means_(means) {}
  End end() const { return end_; }
  // The stage of the variant, whose means are remembered.
  static void Mean(const Enclosure& a, const Window& window, Row& row) {
    const auto& own = static_cast<const EnclosureEnd&>(a);
    own.means_.Get(own.mean_, a, window, row);
  }

 private:
  End end_;
  EnclosedMeans::Stage mean_;
  EnclosedMeans& means_;
};

namespace {

using End = EnclosureEnd::End;

float NonFiniteOf(std::uint8_t classes) {
  if ((classes & kNan) != 0) return std::numeric_limits<float>::quiet_NaN();
  if ((classes & kPosInf) != 0) return std::numeric_limits<float>::infinity();
  if ((classes & kNegInf) != 0) return -std::numeric_limits<float>::infinity();
  return 0;
}

float Choose(End end, float lo, float hi, std::uint8_t classes) {
  if ((classes & kFinite) == 0) return NonFiniteOf(classes);
  const bool contains_zero = lo <= 0 && hi >= 0;
  switch (end) {
    case End::kLow:
      return lo;
    case End::kHigh:
      return hi;
    case End::kInward:
      return contains_zero ? 0 : lo > 0 ? lo : hi;
    case End::kOutward:
      return -lo > hi ? lo : hi;
    case End::kOther:
      return classes == kFinite ? lo : NonFiniteOf(static_cast<std::uint8_t>(classes & ~kFinite));
  }
  return lo;
}

}  // namespace

const float* ValuesOf(const EnclosureEnd& a, const Enclosure::Row& row, float* buffer) {
  float hi[kMaxHeadDim];
  a.ToFp32(row, 0, row.columns, buffer, hi);
  for (int i = 0; i < row.columns; ++i) buffer[i] = Choose(a.end(), buffer[i], hi[i], row.classes[i]);
  return buffer;
}

namespace {

// ---- tags: what a byte of the cache holds ----------------------------------------------------

enum : std::uint8_t { kCodeTag = 0x01, kNibblesTag = 0x11, kScaleTag = 0x02, kRopeLowTag = 0x03, kRopeHighTag = 0x04 };

struct TagStages : Stages {
  const Stages* inner;
};

void StoreTags(const Stages& stages, const StoredToken&, const spec::PagedCache& cache, std::int64_t slot,
               std::uint8_t* bytes) {
  const Stages& inner = *static_cast<const TagStages&>(stages).inner;
  StoredToken token;
  std::fill(std::begin(token.codes), std::end(token.codes), kCodeTag);
  std::fill(std::begin(token.scales), std::end(token.scales), 0x02020202U);
  std::fill(std::begin(token.rope), std::end(token.rope), std::uint16_t{kRopeHighTag << 8 | kRopeLowTag});
  inner.store(inner, token, cache, slot, bytes);
}

void StoreHeadTags(const Stages& stages, const IndexerQInputs& in, const StoredQHead&, std::int64_t token,
                   std::int64_t head, const IndexerQOutputs& out) {
  const Stages& inner = *static_cast<const TagStages&>(stages).inner;
  StoredQHead stored{};
  std::fill(std::begin(stored.codes), std::end(stored.codes), kCodeTag);
  std::fill(std::begin(stored.scales), std::end(stored.scales), std::uint8_t{kScaleTag});
  inner.store_q_head(inner, in, stored, token, head, out);
}

void NoMean(const Strict&, const Window& window, Strict::Row& row) { row.columns = window.columns; }
void NoNorm(const Strict&, Strict::Row&, std::span<const float>, float) {}
void NoRope(const Strict&, Strict::Row&, const RopeAngles&) {}

// Runs a variant's stages that say where, none that say what.
TensorMap TagsOf(const Variant& variant, const Case& c) {
  TagStages stages;
  static_cast<Stages&>(stages) = variant.stages;
  stages.inner = &variant.stages;
  stages.strict = {&NoMean, &NoNorm, &NoRope};
  stages.quantise = [](const Stages&, const QuantiseTask&, QuantisedValues& out) { out = {}; };
  stages.round_rope = [](std::span<const float>, std::uint16_t*) {};
  stages.round_q_head = [](const Stages&, const Policy&, const IndexerQInputs&, const QHeadValues&, StoredQHead& out) {
    out = {};
  };
  stages.store = &StoreTags;
  stages.store_q_head = &StoreHeadTags;
  TensorMap tags = c.outputs_before;
  for (auto& [name, tensor] : tags) std::memset(tensor.bytes(), 0, static_cast<std::size_t>(tensor.size_bytes()));
  if (c.row().family == spec::Family::kIndexerQ) {
    const IndexerQBinding binding(c);
    RunIndexerQ(stages, variant.policy, Strict(), binding.inputs(), BindIndexerQOutputs(c, tags));
  } else if (c.op != spec::Operation::kGatherSplit) {
    const CompressBinding binding(c);
    RunCompress(stages, variant.policy, Strict(), binding.inputs(), BindCompressOutputs(c, tags));
  }
  return tags;
}

// ---- folded weights a few roundings off --------------------------------------------------------

struct NudgedStages : Stages {
  const Stages* inner;
  float factor;
};

void StoreNudged(const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored, std::int64_t token,
                 std::int64_t head, const IndexerQOutputs& out) {
  const auto& nudged = static_cast<const NudgedStages&>(stages);
  StoredQHead changed = stored;
  // Four products in any order: at most two ulp from any other order; nothing left of a subnormal one under flush.
  const float weight = stored.weight * nudged.factor;
  changed.weight = nudged.factor < 1 && std::fabs(stored.weight) < 0x1p-124F ? std::copysign(0.0F, weight) : weight;
  nudged.inner->store_q_head(*nudged.inner, in, changed, token, head, out);
}

TensorMap EndImage(const Variant& variant, const Budget& budget, End end, const Case& c, const TensorMap& before,
                   EnclosedMeans& means) {
  TensorMap outputs = before;
  const EnclosureEnd a(budget, end, variant.stages.enclosure.weighted_mean, means);
  if (c.row().family == spec::Family::kIndexerQ) {
    NudgedStages stages;
    static_cast<Stages&>(stages) = variant.stages;
    stages.inner = &variant.stages;
    stages.factor = end == End::kLow ? 1 - 0x1p-22F : end == End::kHigh ? 1 + 0x1p-22F : 1;
    stages.store_q_head = &StoreNudged;
    const IndexerQBinding binding(c);
    RunIndexerQ(stages, variant.policy, a, binding.inputs(), BindIndexerQOutputs(c, outputs));
  } else {
    Variant remembering = variant;
    remembering.stages.enclosure.weighted_mean = &EnclosureEnd::Mean;
    RunVariant(remembering, a, c, outputs);
  }
  return outputs;
}

// ---- comparison ------------------------------------------------------------------------------

// A sign-magnitude number of `bits` bits as an integer that grows with its value; -0 is -1.
std::int64_t Key(std::uint32_t code, int bits) {
  const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
  const auto magnitude = static_cast<std::int64_t>(code & (sign - 1));
  return (code & sign) != 0 ? -1 - magnitude : magnitude;
}

std::uint32_t Load(const Tensor& tensor, std::int64_t offset, int bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, tensor.bytes() + offset, static_cast<std::size_t>(bytes));
  return value;
}

struct Buffers {
  const std::string* name;
  const Tensor* observed;
  const Tensor* strict;
  std::vector<const Tensor*> images;  // strict and the ends
};

bool Between(const Buffers& b, std::int64_t offset, int bytes, int shift, int bits) {
  const std::uint32_t mask = bits == 32 ? ~0U : (1U << bits) - 1;
  const std::int64_t key = Key(Load(*b.observed, offset, bytes) >> shift & mask, bits);
  std::int64_t lo = std::numeric_limits<std::int64_t>::max();
  std::int64_t hi = std::numeric_limits<std::int64_t>::min();
  for (const Tensor* image : b.images) {
    const std::int64_t k = Key(Load(*image, offset, bytes) >> shift & mask, bits);
    lo = std::min(lo, k);
    hi = std::max(hi, k);
  }
  return key >= lo && key <= hi;
}

bool AnyImage(const Buffers& b, std::int64_t offset) {
  const std::uint8_t observed = b.observed->bytes()[offset];
  return std::any_of(b.images.begin(), b.images.end(),
                     [&](const Tensor* image) { return image->bytes()[offset] == observed; });
}

bool IsNan(std::uint32_t bits, int size) {
  return size == 4 ? (bits & 0x7FFFFFFFU) > 0x7F800000U : (bits & 0x7FFFU) > 0x7F80U;
}

// A number of `bytes` bytes; NaN payloads have no meaning.
bool NumberFits(const Buffers& b, std::int64_t offset, int bytes) {
  const std::uint32_t observed = Load(*b.observed, offset, bytes);
  if (!IsNan(observed, bytes)) return Between(b, offset, bytes, 0, 8 * bytes);
  return std::any_of(b.images.begin(), b.images.end(),
                     [&](const Tensor* image) { return IsNan(Load(*image, offset, bytes), bytes); });
}

// Elements so far from the strict image that no rounding explains them.
bool FarOff(std::uint8_t tag, std::uint8_t observed, std::uint8_t strict) {
  switch (tag) {
    case kCodeTag:
      return std::abs(Key(observed, 8) - Key(strict, 8)) > 3;
    case kNibblesTag:
      return std::abs(Key(observed & 0xF, 4) - Key(strict & 0xF, 4)) > 2 ||
             std::abs(Key(observed >> 4, 4) - Key(strict >> 4, 4)) > 2;
    case kScaleTag:
    case kRopeHighTag:
      return std::abs(observed - strict) > 1;
    default:
      return false;
  }
}

bool Holds(const ByteMask& open, const std::string& name, std::int64_t offset) {
  const auto it = open.find(name);
  return it != open.end() && it->second[static_cast<std::size_t>(offset)] != 0;
}

bool IsNumberBuffer(const std::string& name) { return name == "scratch" || name == "weights_out"; }

// Whether the strict image rules the variant out by itself.
bool RuledOut(const Buffers& b, const Tensor& tags, const ByteMask& open, std::int64_t& inexact) {
  const std::int64_t size = b.strict->size_bytes();
  std::int64_t far = 0;
  std::int64_t written = 0;
  const bool numbers = IsNumberBuffer(*b.name);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::uint8_t tag = tags.bytes()[i];
    written += tag != 0 ? 1 : 0;
    if (b.observed->bytes()[i] == b.strict->bytes()[i] || Holds(open, *b.name, i)) continue;
    ++inexact;
    if (numbers) continue;
    if (tag == 0) return true;
    far += FarOff(tag, b.observed->bytes()[i], b.strict->bytes()[i]) ? 1 : 0;
  }
  return far > written / 4;
}

bool Explained(const Buffers& b, const Tensor& tags, const ByteMask& open) {
  const std::int64_t size = b.strict->size_bytes();
  if (IsNumberBuffer(*b.name)) {
    const auto bytes = static_cast<int>(SizeOf(b.strict->dtype()));
    for (std::int64_t i = 0; i < size; i += bytes) {
      if (!Holds(open, *b.name, i) && !NumberFits(b, i, bytes)) return false;
    }
    return true;
  }
  for (std::int64_t i = 0; i < size; ++i) {
    if (b.observed->bytes()[i] == b.strict->bytes()[i] || Holds(open, *b.name, i)) continue;
    const std::uint8_t tag = tags.bytes()[i];
    bool fits = AnyImage(b, i);
    if (tag == kCodeTag) fits = fits || Between(b, i, 1, 0, 8);
    if (tag == kNibblesTag) fits = Between(b, i, 1, 0, 4) && Between(b, i, 1, 4, 4);
    if (tag == kRopeLowTag && i + 1 < size && tags.bytes()[i + 1] == kRopeHighTag) fits = NumberFits(b, i, 2);
    if (tag == kRopeHighTag && i > 0 && tags.bytes()[i - 1] == kRopeLowTag) fits = NumberFits(b, i - 1, 2);
    if (!fits) return false;
  }
  return true;
}

}  // namespace

ByteMask OpenBytes(const Case& c, const std::vector<std::pair<std::int64_t, std::int64_t>>& token_heads) {
  ByteMask open;
  if (token_heads.empty()) return open;
  for (const auto& [name, tensor] : c.outputs_before) open[name].resize(static_cast<std::size_t>(tensor.size_bytes()));
  ForEachElement(c, SeedStages(), [&](const ElementSite& site) {
    for (const auto& [token, head] : token_heads) {
      if (site.token != token || (head >= 0 && site.head != head)) continue;
      auto& mask = open.find(site.buffer)->second;
      for (int i = 0; i < site.bytes; ++i) mask[static_cast<std::size_t>(site.byte_offset + i)] = 1;
    }
  });
  return open;
}

VariantImage::VariantImage(const Variant& variant, const Case& c, const TensorMap& before)
    : variant_(variant), case_(c), before_(before), strict_(before) {
  RunVariant(variant, Strict(), c, strict_);
}

void VariantImage::MakeTags() {
  if (!tags_.empty()) return;
  tags_ = TagsOf(variant_, case_);
  // What a stage stores besides the elements of a token is held to be a scale: equal to an image.
  for (auto& [name, tags] : tags_) {
    const Tensor& strict = strict_.find(name)->second;
    const Tensor& before = before_.find(name)->second;
    for (std::int64_t i = 0; i < tags.size_bytes(); ++i) {
      if (tags.bytes()[i] == 0 && strict.bytes()[i] != before.bytes()[i]) tags.bytes()[i] = kScaleTag;
    }
  }
}

void VariantImage::MakeEnds(const Budget& budget, EnclosedMeans& means) {
  if (!ends_.empty()) return;
  for (const End end : {End::kLow, End::kHigh, End::kInward, End::kOutward, End::kOther}) {
    ends_.push_back(EndImage(variant_, budget, end, case_, before_, means));
  }
}

Fit VariantImage::Compare(const TensorMap& after, const Budget& budget, const ByteMask& open, EnclosedMeans& means) {
  Fit fit;
  std::vector<Buffers> buffers;
  for (const auto& [name, strict] : strict_) buffers.push_back({&name, &after.find(name)->second, &strict, {&strict}});
  const bool equal = std::all_of(buffers.begin(), buffers.end(), [](const Buffers& b) {
    return std::memcmp(b.observed->bytes(), b.strict->bytes(), static_cast<std::size_t>(b.strict->size_bytes())) == 0;
  });
  if (equal) {
    fit.explained = true;
    return fit;
  }
  MakeTags();
  for (const Buffers& b : buffers) {
    if (RuledOut(b, tags_.find(*b.name)->second, open, fit.inexact)) return fit;
  }
  MakeEnds(budget, means);
  for (Buffers& b : buffers) {
    for (const TensorMap& end : ends_) b.images.push_back(&end.find(*b.name)->second);
    if (!Explained(b, tags_.find(*b.name)->second, open)) return fit;
  }
  fit.explained = true;
  return fit;
}

}  // namespace kvexact
