// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/cli/progress.h"
#include "harness/cli/recorded_cases.h"
#include "harness/run/case_files.h"
#include "harness/run/run_cases.h"

namespace kvexact::cli {
namespace {

struct SelftestArguments {
  std::string golden;
  std::int64_t cases = 100;
  std::string seed = "1";
  OutputArguments output;
};

// Counts of one part, and the command that repeats one of its cases.
struct Part {
  std::string name;
  std::string what;
  std::string repeat;  // before the name of the case
  std::string subject;
  std::int64_t cases = 0;
  std::int64_t failing = 0;
};

std::string PartText(const Part& part) {
  const std::string outcome = part.failing == 0 ? "right" : fmt::format("{} failing", part.failing);
  return fmt::format("{:<10} {} {}: {}\n", part.name, part.cases, part.what, outcome);
}

int Selftest(const SelftestArguments& a) {
  const std::string directory = RecordedCasesDirectory(a.golden);
  const CaseSource files = FileCases(CaseFilesOf({directory}));
  if (files.count == 0) throw InputError(directory, "--golden", "holds no case file");
  DrawSettings settings;
  settings.operations = OperationsNamed({});
  settings.seed = SeedOfText(a.seed);
  const CaseSource drawn = DrawnCases(settings, a.cases, Shard{});
  const std::string from_seed = fmt::format("cases from seed {}", settings.seed);
  const RunLimits limits{.threads = a.output.threads, .deadline = {}, .evidence = Report::kMaxStudied};

  const JudgeOptions options;
  RunDescription description = Describe("selftest", {"the harness", "", "", SeedPolicy().name, false}, options);
  description.seed = settings.seed;
  std::vector<Part> parts;
  Report report(description,
                [&](const std::string& name) { return parts.back().repeat + ShellWord(name) + parts.back().subject; });
  {
    Progress progress(2 * drawn.count + files.count, {}, a.output.quiet);
    const auto consume = [&](const CaseResult& result) {
      report.Add(result, options);
      ++parts.back().cases;
      const bool fine = result.right() && result.status != CaseStatus::kUnreadable;
      if (!fine) ++parts.back().failing;
      progress.Advance(!fine);
    };
    for (const char* name : {"reference", "host"}) {
      const std::unique_ptr<Backend> backend = OpenBackend(name);
      parts.push_back({name, from_seed, fmt::format("kvexact verify --backend {} --spec ", name), ""});
      RunCases(*backend, drawn, options, limits, consume);
    }
    parts.push_back({"recorded", "files of " + directory, "kvexact replay ", " --recorded"});
    JudgeRecordings(files, options, limits, consume);
  }

  for (const Part& part : parts) std::printf("%s", PartText(part).c_str());
  report.Finish();
  return Conclude(report, a.output.files);
}

}  // namespace

Command AddSelftest(CLI::App& program) {
  const auto a = std::make_shared<SelftestArguments>();
  CLI::App* command = program.add_subcommand(
      "selftest", "does this build work: the built-in backends on generated cases, and the cases recorded on a GPU");
  command
      ->add_option("--golden", a->golden, "directory of recorded cases; default: $KVEXACT_GOLDEN, or what came along")
      ->type_name("DIR");
  command->add_option("--cases", a->cases, "generated cases a backend")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  command->add_option("--seed", a->seed, "a number, or random")->type_name("N")->capture_default_str();
  a->output.AddTo(*command);
  return {command, [a] { return Selftest(*a); }};
}

}  // namespace kvexact::cli
