// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/cli/devices.h"
#include "harness/cli/name_faults.h"
#include "harness/cli/progress.h"
#include "harness/cli/shard.h"
#include "harness/cli/shrink_failures.h"
#include "harness/run/run_cases.h"

namespace kvexact::cli {
namespace {

constexpr std::int64_t kDefaultCases = 2000;

struct VerifyArguments {
  std::string backend;
  std::vector<std::string> operations;
  std::vector<std::string> specs;
  std::int64_t cases = kDefaultCases;
  std::string time;
  std::string seed = "1";
  std::int64_t max_configs = 24;
  std::string shard;
  std::string devices;
  std::string shrink_time = "20s";
  bool require_all = false;
  BackendArguments foreign;
  JudgeArguments judge;
  OutputArguments output;
  const CLI::Option* cases_option = nullptr;

  std::chrono::steady_clock::duration ShrinkTime() const {
    // A case that was asked for is left as it is.
    if (!specs.empty() || shrink_time == "0") return {};
    return DurationOfText("--shrink-time", shrink_time);
  }

  Shard Part() const { return shard.empty() ? Shard{} : ShardOfText(shard); }

  // Without --cases, --time alone ends the run.
  std::int64_t Cases() const {
    return !time.empty() && cases_option->count() == 0 ? std::numeric_limits<std::int64_t>::max() / 2 : cases;
  }
};

CaseSource SourceOf(const VerifyArguments& a, RunDescription& description) {
  if (!a.specs.empty()) return SpecCases(a.specs);
  DrawSettings settings;
  settings.operations = OperationsNamed(a.operations);
  settings.seed = SeedOfText(a.seed);
  settings.max_configs = a.max_configs;
  description.seed = settings.seed;
  description.max_configs = settings.max_configs;
  if (a.time.empty() || a.cases_option->count() > 0) description.cases = a.cases;
  const Shard shard = a.Part();
  if (!a.shard.empty()) description.shard = shard;
  return DrawnCases(settings, a.Cases(), shard);
}

// The same run as a command's words, but for its part, its seed, which is drawn once, and what it writes.
std::vector<std::string> WordsOf(const VerifyArguments& a, std::uint64_t seed) {
  std::vector<std::string> words = {"verify", "--backend", a.backend};
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  for (const std::string& op : a.operations) add("--op", op);
  if (a.time.empty() || a.cases_option->count() > 0) add("--cases", std::to_string(a.cases));
  if (!a.time.empty()) add("--time", a.time);
  add("--seed", std::to_string(seed));
  add("--max-configs", std::to_string(a.max_configs));
  add("--shrink-time", a.shrink_time);
  add("--timeout", fmt::format("{}", a.foreign.options.timeout_seconds));
  if (!a.judge.policy.empty()) add("--policy", a.judge.policy);
  if (!a.judge.budget.empty()) add("--budget", a.judge.budget);
  if (a.judge.accept_declared_budget) words.emplace_back("--accept-declared-budget");
  if (a.require_all) words.emplace_back("--require-all");
  if (a.output.threads > 0) add("--threads", std::to_string(a.output.threads));
  return words;
}

int VerifyOnDevices(const VerifyArguments& a) {
  const std::vector<std::string> devices = DevicesOfText(a.devices);
  return Conclude(RunOnDevices(devices, WordsOf(a, SeedOfText(a.seed)), a.Part()), a.output.files);
}

int Verify(const VerifyArguments& a) {
  if (!a.devices.empty()) return VerifyOnDevices(a);
  const std::unique_ptr<Backend> backend = OpenBackend(a.backend, a.foreign.options);
  const JudgeOptions options = a.judge.OptionsFor(backend->info());
  const auto shrink_time = a.ShrinkTime();
  RunDescription description = Describe("verify", backend->info(), options);
  description.operations = a.operations;
  description.require_all = a.require_all;
  const CaseSource source = SourceOf(a, description);
  RunLimits limits{.threads = a.output.threads, .deadline = {}, .evidence = Report::kMaxStudied};
  if (!a.time.empty()) limits.deadline = std::chrono::steady_clock::now() + DurationOfText("--time", a.time);

  const auto repeat = [&](const std::string& name) {
    return "kvexact verify --backend " + ShellWord(a.backend) + a.foreign.Text() + a.judge.Text() + " --spec " +
           ShellWord(name);
  };
  Report report(description, repeat);
  {
    Progress progress(source.count, limits.deadline, a.output.quiet);
    RunCases(*backend, source, options, limits, [&](const CaseResult& result) {
      report.Add(result, options);
      progress.Advance(!result.right());
    });
  }
  ShrinkFailures(*backend, options, shrink_time, a.output.quiet, report);
  NameKnownFaults(options, report);
  report.Finish();
  return Conclude(report, a.output.files);
}

}  // namespace

Command AddVerify(CLI::App& program) {
  const auto a = std::make_shared<VerifyArguments>();
  CLI::App* command = program.add_subcommand("verify", "run a backend on generated cases and judge what it stores");
  command->add_option("--backend", a->backend, "reference, host, cuda, lib:PATH or exec:CMD (kvexact list backends)")
      ->type_name("B")
      ->required();
  CLI::Option* op = command->add_option("--op", a->operations, "only this operation; may be repeated")->type_name("OP");
  CLI::Option* cases = command->add_option("--cases", a->cases, "number of cases")
                           ->type_name("N")
                           ->capture_default_str()
                           ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  a->cases_option = cases;
  CLI::Option* time =
      command->add_option("--time", a->time, "stop after this time, such as 60s or 15m")->type_name("T");
  CLI::Option* seed =
      command->add_option("--seed", a->seed, "a number, or random")->type_name("N")->capture_default_str();
  CLI::Option* configs =
      command->add_option("--max-configs", a->max_configs, "configurations that a kernel is compiled for")
          ->type_name("K")
          ->capture_default_str()
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  CLI::Option* shard =
      command
          ->add_option(
              "--shard", a->shard,
              "run part I (0 to N - 1) of N, disjoint parts of the whole; auto: the part that the environment names, "
              "such as a Slurm array's (docs/ci.md)")
          ->type_name("I/N");
  CLI::Option* devices = command
                             ->add_option("--devices", a->devices,
                                          "one process a GPU of this machine, each with its own CUDA_VISIBLE_DEVICES "
                                          "and part of the cases, such as 0,1,2,3")
                             ->type_name("LIST");
  CLI::Option* specs = command->add_option("--spec", a->specs, "run this case, as a report prints it; may be repeated")
                           ->type_name("SPEC");
  CLI::Option* shrink = command
                            ->add_option("--shrink-time", a->shrink_time,
                                         "time at most, in all, to look for smaller cases that fail alike; 0: none")
                            ->type_name("T")
                            ->capture_default_str();
  for (CLI::Option* drawn : {op, cases, time, seed, configs, shard, devices, shrink}) specs->excludes(drawn);
  command->add_flag("--require-all", a->require_all, "exit 3 unless every case, and every --op, was judged");
  a->foreign.AddTo(*command);
  a->judge.AddTo(*command);
  a->output.AddTo(*command);
  return {command, [a] { return Verify(*a); }};
}

}  // namespace kvexact::cli
