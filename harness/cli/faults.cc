// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/cli/progress.h"
#include "harness/faults/fault_backend.h"
#include "harness/faults/kill_table.h"

namespace kvexact::cli {
namespace {

struct FaultsArguments {
  std::vector<std::string> names;  // empty: all
  std::int64_t cases = 2000;
  std::string seconds = "60";
  std::string seed = "1";
  std::int64_t max_configs = 24;
  bool quiet = false;
  int threads = 0;
};

std::vector<const Fault*> FaultsNamed(const std::vector<std::string>& names) {
  std::vector<const Fault*> faults;
  if (names.empty()) {
    for (const Fault& fault : Faults()) faults.push_back(&fault);
  }
  for (const std::string& name : names) {
    const Fault* fault = FindFault(name);
    if (fault == nullptr) throw InputError("faults", name, "is no fault; kvexact list faults");
    faults.push_back(fault);
  }
  return faults;
}

int FaultTable(const FaultsArguments& a) {
  KillSettings settings;
  settings.draw.operations = OperationsNamed({});
  settings.draw.seed = SeedOfText(a.seed);
  settings.draw.max_configs = a.max_configs;
  settings.cases = a.cases;
  settings.seconds = std::chrono::duration<double>(DurationOfText("--seconds", a.seconds)).count();
  settings.threads = a.threads;
  const std::vector<const Fault*> faults = FaultsNamed(a.names);

  std::vector<std::int64_t> kills;
  std::int64_t wrong = 0;
  std::int64_t false_alarms = 0;
  std::printf("%-27s %-10s %-10s %6s %8s  %s\n", "fault", "stage", "class", "case", "seconds", "what showed it");
  {
    Progress progress(static_cast<std::int64_t>(faults.size()), {}, a.quiet);
    for (const Fault* fault : faults) {
      const std::unique_ptr<Backend> backend = OpenFaultBackend(std::string("fault:") + fault->name);
      const Kill kill = FindKill(*backend, settings);
      const bool must_die = fault->fault_class == FaultClass::kWrong;
      wrong += must_die ? 1 : 0;
      if (kill.killed && must_die) kills.push_back(kill.cases);
      if (kill.killed && !must_die) ++false_alarms;
      const std::string shown = kill.killed ? kill.verdict : fmt::format("nothing in {} cases", kill.cases);
      std::printf("%-27s %-10s %-10s %6s %8.2f  %s\n", fault->name, fault->stage, NameOf(fault->fault_class),
                  kill.killed ? std::to_string(kill.cases).c_str() : "-", kill.seconds, shown.c_str());
      std::fflush(stdout);
      progress.Advance(kill.killed != must_die);
    }
  }
  std::sort(kills.begin(), kills.end());
  const auto within_50 = std::upper_bound(kills.begin(), kills.end(), 50) - kills.begin();
  const bool right = static_cast<std::int64_t>(kills.size()) == wrong && false_alarms == 0;
  std::printf("verdict=%s faults=%lld killed=%zu within50=%lld median=%lld latest=%lld equivalent_killed=%lld\n",
              right ? "right" : "wrong", static_cast<long long>(wrong), kills.size(), static_cast<long long>(within_50),
              static_cast<long long>(kills.empty() ? 0 : kills[kills.size() / 2]),
              static_cast<long long>(kills.empty() ? 0 : kills.back()), static_cast<long long>(false_alarms));
  return right ? kRight : kSubjectAtFault;
}

}  // namespace

Command AddFaults(CLI::App& program) {
  const auto a = std::make_shared<FaultsArguments>();
  CLI::App* command =
      program.add_subcommand("faults", "how soon verify finds each known fault: the first case that fails");
  command->add_option("name", a->names, "faults; default: all (kvexact list faults)")->type_name("NAME");
  command->add_option("--cases", a->cases, "number of cases at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  command->add_option("--seconds", a->seconds, "time for one fault at most")->type_name("T")->capture_default_str();
  command->add_option("--seed", a->seed, "a number, or random")->type_name("N")->capture_default_str();
  command->add_option("--max-configs", a->max_configs, "configurations, as verify draws them")
      ->type_name("K")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  command->add_option("--threads", a->threads, "threads; default: one a core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--quiet", a->quiet, "no progress");
  return {command, [a] { return FaultTable(*a); }};
}

}  // namespace kvexact::cli
