// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/sum_order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace kvexact::oracle {
namespace {

class Builder {
 public:
  explicit Builder(int terms) : is_term_(static_cast<std::size_t>(terms), true) { tree_.terms = terms; }

  void Add(int into, int from) {
    const auto i = static_cast<std::size_t>(into);
    const auto f = static_cast<std::size_t>(from);
    tree_.merges.push_back({into, from, is_term_[i], is_term_[f]});
    is_term_[i] = is_term_[f] = false;
  }

  // Folds by halves: the upper half of `nodes` onto the lower, until one is left.
  void Fold(std::vector<int> nodes) {
    while (nodes.size() > 1) {
      const std::size_t half = (nodes.size() + 1) / 2;
      for (std::size_t j = half; j < nodes.size(); ++j) Add(nodes[j - half], nodes[j]);
      nodes.resize(half);
    }
    tree_.root = nodes[0];
  }

  SumTree Take(int root) {
    tree_.root = root;
    return std::move(tree_);
  }
  SumTree Take() { return std::move(tree_); }

 private:
  SumTree tree_;
  std::vector<bool> is_term_;
};

std::vector<int> Ascending(int n) {
  std::vector<int> perm(static_cast<std::size_t>(n));
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

void Shuffle(std::vector<int>& perm, Random& random) {
  for (std::size_t i = perm.size(); i > 1; --i) {
    std::swap(perm[i - 1], perm[static_cast<std::size_t>(random.Below(static_cast<int>(i)))]);
  }
}

// Additions of a chain of ceil(n / partials) terms and the fold of the chains.
int ChainHeight(int n, int partials) {
  return (n + partials - 1) / partials - 1 + static_cast<int>(std::bit_width(static_cast<unsigned>(partials - 1)));
}

// Reduces perm[first, first + n) within `height` additions; returns the node that holds the sum.
int Split(Builder& builder, const std::vector<int>& perm, int first, int n, int height, bool lopsided, Random& random) {
  if (n == 1) return perm[static_cast<std::size_t>(first)];
  const int capacity = height > 20 ? 1 << 20 : 1 << (height - 1);
  const int low = std::max(1, n - capacity);
  const int high = std::min(n - 1, capacity);
  int left = random.Between(low, high);
  if (lopsided) left = random.Coin() ? std::min(high, low + random.Below(2)) : std::max(low, high - random.Below(2));
  int into = Split(builder, perm, first, left, height - 1, lopsided, random);
  int from = Split(builder, perm, first + left, n - left, height - 1, lopsided, random);
  if (random.Coin()) std::swap(into, from);
  builder.Add(into, from);
  return into;
}

}  // namespace

int HeightOf(const SumTree& tree) {
  std::vector<int> height(static_cast<std::size_t>(tree.terms), 0);
  for (const Merge& m : tree.merges) {
    int& into = height[static_cast<std::size_t>(m.into)];
    into = std::max(into, height[static_cast<std::size_t>(m.from)]) + 1;
  }
  return height[static_cast<std::size_t>(tree.root)];
}

int PartialsWithin(int n, int height) {
  if (height == 0) return 1;
  for (int partials = 1; partials <= n; ++partials) {
    if (ChainHeight(n, partials) <= height) return partials;
  }
  throw std::invalid_argument("no tree of that height holds so many terms");
}

SumTree ChainTree(const std::vector<int>& perm, int partials) {
  const auto step = static_cast<std::size_t>(partials);
  Builder builder(static_cast<int>(perm.size()));
  for (std::size_t i = step; i < perm.size(); ++i) builder.Add(perm[i % step], perm[i]);
  builder.Fold(std::vector<int>(perm.begin(), perm.begin() + partials));
  return builder.Take();
}

SumTree MakeSumTree(SumOrder order, int n, int height, Random& random) {
  std::vector<int> perm = Ascending(n);
  switch (order) {
    case SumOrder::kForward:
      break;
    case SumOrder::kReverse:
      std::reverse(perm.begin(), perm.end());
      break;
    case SumOrder::kPairwise: {
      Builder builder(n);
      for (int step = 1; step < n; step *= 2) {
        for (int i = 0; i + step < n; i += 2 * step) builder.Add(i, i + step);
      }
      return builder.Take(0);
    }
    case SumOrder::kHalves: {
      Builder builder(n);
      builder.Fold(perm);
      return builder.Take();
    }
    case SumOrder::kStrided: {
      if (random.Coin()) Shuffle(perm, random);
      int partials = random.Between(PartialsWithin(n, height), n);
      while (height != 0 && ChainHeight(n, partials) > height) ++partials;
      return ChainTree(perm, partials);
    }
    case SumOrder::kRandomTree:
    case SumOrder::kLopsided: {
      if (random.Coin()) Shuffle(perm, random);
      Builder builder(n);
      const int root = Split(builder, perm, 0, n, height == 0 ? n : height, order == SumOrder::kLopsided, random);
      return builder.Take(root);
    }
    default:
      Shuffle(perm, random);
      break;
  }
  return ChainTree(perm, PartialsWithin(n, height));
}

}  // namespace kvexact::oracle
