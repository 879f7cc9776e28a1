// SPDX-License-Identifier: Apache-2.0
#include "harness/run/in_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>

namespace kvexact {
namespace {

bool Always() { return true; }

class InOrderTest : public testing::TestWithParam<int> {};

TEST_P(InOrderTest, ConsumesEveryResultInOrder) {
  std::vector<std::int64_t> seen;
  InOrder<std::int64_t>(
      200, GetParam(),
      [](std::int64_t i) {
        if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        return i * i;
      },
      [&](std::int64_t i, std::int64_t square) {
        EXPECT_EQ(square, i * i);
        seen.push_back(i);
      },
      Always);
  std::vector<std::int64_t> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(seen, expected);
}

TEST_P(InOrderTest, NothingToDoConsumesNothing) {
  InOrder<int>(
      0, GetParam(), [](std::int64_t) { return 0; }, [](std::int64_t, int) { FAIL(); }, Always);
}

TEST_P(InOrderTest, StopsWithoutAHole) {
  std::atomic<int> begun = 0;
  std::vector<std::int64_t> seen;
  InOrder<std::int64_t>(
      1000, GetParam(),
      [&](std::int64_t i) {
        ++begun;
        return i;
      },
      [&](std::int64_t i, std::int64_t) { seen.push_back(i); }, [&] { return begun < 50; });
  EXPECT_GE(seen.size(), 50U);
  EXPECT_LT(seen.size(), 50U + static_cast<std::size_t>(GetParam()));
  EXPECT_EQ(static_cast<int>(seen.size()), begun);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<std::int64_t>(i));
}

TEST_P(InOrderTest, ExceptionOfWorkIsThrownOnTheCallingThread) {
  const auto run = [&] {
    InOrder<int>(
        100, GetParam(),
        [](std::int64_t i) {
          if (i == 30) throw std::runtime_error("thirty");
          return 0;
        },
        [](std::int64_t i, int) { EXPECT_LT(i, 30); }, Always);
  };
  EXPECT_THROW(run(), std::runtime_error);
}

TEST_P(InOrderTest, ExceptionOfConsumeEndsTheRun) {
  int consumed = 0;
  const auto run = [&] {
    InOrder<int>(
        100000, GetParam(), [](std::int64_t) { return 0; },
        [&](std::int64_t i, int) {
          ++consumed;
          if (i == 5) throw std::runtime_error("five");
        },
        Always);
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(consumed, 6);
}

TEST_P(InOrderTest, FewResultsWait) {
  std::atomic<std::int64_t> begun = 0;
  InOrder<int>(
      300, GetParam(),
      [&](std::int64_t) {
        ++begun;
        return 0;
      },
      [&](std::int64_t i, int) { EXPECT_LE(begun - i, 17 * GetParam() + 1); }, Always);
}

INSTANTIATE_TEST_SUITE_P(Threads, InOrderTest, testing::Values(1, 2, 5));

}  // namespace
}  // namespace kvexact
