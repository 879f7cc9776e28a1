// SPDX-License-Identifier: Apache-2.0
// A serving run as a state machine: requests are admitted, prefilled in chunks beside others that decode, and freed;
// their blocks and slots are reused. Every launch must store what each window stores when it is run alone, and nothing
// else.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <map>

#include "property_tests/properties/outcome.h"
#include "property_tests/properties/server.h"

namespace kvexact::properties {
namespace {

// What decides which commands are possible.
struct Requests {
  std::map<int, std::int64_t> length;
  int next = 0;
  std::int64_t capacity = 0;
};

using Command = rc::state::Command<Requests, Server>;
using Tokens = std::vector<std::pair<int, std::int64_t>>;

struct Admit : Command {
  void checkPreconditions(const Requests& r) const override {
    RC_PRE(static_cast<std::int64_t>(r.length.size()) < kRequestRows);
  }
  void apply(Requests& r) const override { r.length[r.next++] = 0; }
  void run(const Requests& r, Server& server) const override { server.Admit(r.next); }
  void show(std::ostream& out) const override { out << "Admit"; }
};

// Some tokens of some requests: decoding and chunks of prefill in one launch.
struct Step : Command {
  explicit Step(const Requests& r) {
    for (const auto& [request, length] : r.length) {
      const auto count = *rc::gen::oneOf(rc::gen::element<std::int64_t>(0, 1), rc::gen::inRange<std::int64_t>(1, 14));
      if (count > 0) tokens.emplace_back(request, count);
    }
  }
  void checkPreconditions(const Requests& r) const override {
    RC_PRE(!tokens.empty());
    for (const auto& [request, count] : tokens) {
      const auto found = r.length.find(request);
      RC_PRE(found != r.length.end());
      RC_PRE(found->second + count <= r.capacity);
    }
  }
  void apply(Requests& r) const override {
    for (const auto& [request, count] : tokens) r.length[request] += count;
  }
  void run(const Requests&, Server& server) const override { server.Step(tokens); }
  void show(std::ostream& out) const override {
    out << "Step";
    for (const auto& [request, count] : tokens) out << ' ' << request << '+' << count;
  }
  Tokens tokens;
};

struct Free : Command {
  explicit Free(const Requests& r) {
    RC_PRE(!r.length.empty());
    std::vector<int> ids;
    for (const auto& [id, length] : r.length) ids.push_back(id);
    request = *rc::gen::elementOf(ids);
  }
  void checkPreconditions(const Requests& r) const override { RC_PRE(r.length.contains(request)); }
  void apply(Requests& r) const override { r.length.erase(request); }
  void run(const Requests&, Server& server) const override { server.Free(request); }
  void show(std::ostream& out) const override { out << "Free " << request; }
  int request = 0;
};

// Blocks and slots are enough for every request at its full length, so that no command waits for another.
Configuration DrawnConfiguration() {
  const auto op =
      *rc::gen::element(spec::Operation::kIndexerFp8, spec::Operation::kIndexerMxfp4, spec::Operation::kSparseAttn);
  Configuration config = DefaultSpec(op).config;
  config.overlap = *rc::gen::arbitrary<bool>();
  config.ratio = *rc::gen::element<std::int64_t>(1, 2, 3, 4);
  config.block = *rc::gen::element<std::int64_t>(2, 3, 4);
  config.page = *rc::gen::element<std::int64_t>(32, 33);
  return config;
}

class Serving : public testing::TestWithParam<std::string> {};

TEST_P(Serving, EveryWindowIsStoredAsWhenItIsAlone) {
  const std::unique_ptr<Backend> backend = OpenBackend(GetParam());
  EXPECT_TRUE(rc::check([&] {
    const Configuration config = DrawnConfiguration();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    Server server(*backend, config, seed);
    RC_LOG() << ToText(config) << ", seed " << seed << '\n';
    rc::state::check(Requests{{}, 0, server.capacity()}, server,
                     rc::state::gen::execOneOfWithArgs<Admit, Step, Step, Free>());
  }));
}

INSTANTIATE_TEST_SUITE_P(On, Serving, testing::ValuesIn(BackendsPresent()), BackendName);

}  // namespace
}  // namespace kvexact::properties
