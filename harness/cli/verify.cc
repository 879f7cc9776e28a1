// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/cli/progress.h"
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
  bool require_all = false;
  BackendArguments foreign;
  JudgeArguments judge;
  OutputArguments output;
  const CLI::Option* cases_option = nullptr;

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
  if (!a.shard.empty()) description.shard = a.shard;
  return DrawnCases(settings, a.Cases(), a.shard.empty() ? Shard{} : ShardOfText(a.shard));
}

int Verify(const VerifyArguments& a) {
  const std::unique_ptr<Backend> backend = OpenBackend(a.backend, a.foreign.options);
  const JudgeOptions options = a.judge.OptionsFor(backend->info());
  RunDescription description = Describe("verify", backend->info(), options);
  description.operations = a.operations;
  description.require_all = a.require_all;
  const CaseSource source = SourceOf(a, description);
  RunLimits limits{.threads = a.output.threads, .deadline = {}};
  if (!a.time.empty()) limits.deadline = std::chrono::steady_clock::now() + DurationOfText(a.time);

  Report report(description, [&](const std::string& name) {
    return "kvexact verify --backend " + ShellWord(a.backend) + a.foreign.Text() + a.judge.Text() + " --spec " +
           ShellWord(name);
  });
  {
    Progress progress(source.count, limits.deadline, a.output.quiet);
    RunCases(*backend, source, options, limits, [&](const CaseResult& result) {
      report.Add(result, options);
      progress.Advance(!result.right());
    });
  }
  return Conclude(report, a.output);
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
      command->add_option("--shard", a->shard, "run part I (0 to N - 1) of N, disjoint parts of the whole")
          ->type_name("I/N");
  CLI::Option* specs = command->add_option("--spec", a->specs, "run this case, as a report prints it; may be repeated")
                           ->type_name("SPEC");
  for (CLI::Option* drawn : {op, cases, time, seed, configs, shard}) specs->excludes(drawn);
  command->add_flag("--require-all", a->require_all, "exit 3 unless every case, and every --op, was judged");
  a->foreign.AddTo(*command);
  a->judge.AddTo(*command);
  a->output.AddTo(*command);
  return {command, [a] { return Verify(*a); }};
}

}  // namespace kvexact::cli
