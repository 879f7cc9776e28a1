// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/draw.h"

#include <algorithm>

#include "harness/generate/counter_hash.h"
#include "harness/generate/draw_configuration.h"
#include "harness/generate/draw_data.h"

namespace kvexact {
namespace {

enum : std::uint64_t { kConfigurationStream = 101, kTurnStream, kDataStream, kShiftStream };

// Which configuration case `index` has: a new permutation of all of them every max_configs cases.
std::size_t ConfigurationOf(const DrawSettings& settings, std::uint64_t index) {
  const auto count = static_cast<std::uint64_t>(settings.max_configs);
  std::vector<std::size_t> turn(count);
  for (std::size_t i = 0; i < turn.size(); ++i) turn[i] = i;
  generate::Stream stream(generate::StreamKey(settings.seed, {kTurnStream, index / count}));
  stream.Shuffle(turn);
  return turn[index % count];
}

// Every configuration has a large launch and a crowd once in so many rounds of all of them.
constexpr std::uint64_t kLaunchRounds = 24;

generate::Launch LaunchOf(std::uint64_t round, std::size_t configuration) {
  const std::uint64_t turn = (round + configuration) % kLaunchRounds;
  return turn == 0                   ? generate::Launch::kLarge
         : turn == kLaunchRounds / 2 ? generate::Launch::kCrowd
                                     : generate::Launch::kUsual;
}

// Wild configurations of the same family before number `number`; each operation has one production configuration, and
// every run begins somewhere else.
std::int64_t WildTurn(const DrawSettings& settings, std::size_t number) {
  const auto& operations = settings.operations;
  const auto family = [](spec::Operation op) { return spec::row(op).family; };
  const std::size_t place = number % operations.size();
  const auto same = [&](spec::Operation op) { return family(op) == family(operations[place]); };
  const auto all = std::count_if(operations.begin(), operations.end(), same);
  const auto before = std::count_if(operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(place), same);
  const auto rank = static_cast<std::int64_t>(number / operations.size());
  const std::int64_t shift = generate::Stream(generate::StreamKey(settings.seed, {kShiftStream})).Below(3);
  return (rank - 1) * all + before + shift;
}

Configuration ConfigurationNumber(const DrawSettings& settings, std::size_t number) {
  const std::size_t operations = settings.operations.size();
  const spec::Operation op = settings.operations[number % operations];
  generate::Stream stream(generate::StreamKey(settings.seed, {kConfigurationStream, number}));
  const std::size_t rank = number / operations;
  const bool production = rank == 0 || (rank > 2 && stream.OneIn(8));
  if (production) return generate::ProductionConfiguration(op, stream);
  return generate::WildConfiguration(op, {static_cast<std::int64_t>(rank), WildTurn(settings, number)}, stream);
}

}  // namespace

std::vector<Configuration> Configurations(const DrawSettings& settings) {
  std::vector<Configuration> configurations;
  for (std::int64_t i = 0; i < settings.max_configs; ++i) {
    configurations.push_back(ConfigurationNumber(settings, static_cast<std::size_t>(i)));
  }
  return configurations;
}

CaseSpec Draw(const DrawSettings& settings, std::uint64_t index) {
  const std::size_t number = ConfigurationOf(settings, index);
  const Configuration config = ConfigurationNumber(settings, number);
  CaseSpec spec = DefaultSpec(config.op);
  spec.config = config;
  generate::Stream stream(generate::StreamKey(settings.seed, {kDataStream, index}));
  const std::uint64_t round = index / static_cast<std::uint64_t>(settings.max_configs);
  generate::DrawData(settings.size, LaunchOf(round, number), stream, spec);
  return spec;
}

}  // namespace kvexact
