// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/cli/name_faults.h"
#include "harness/cli/progress.h"
#include "harness/run/case_files.h"
#include "harness/run/run_cases.h"

namespace kvexact::cli {
namespace {

struct ReplayArguments {
  std::vector<std::string> paths;
  bool recorded = false;
  std::string backend;
  bool require_all = false;
  BackendArguments foreign;
  JudgeArguments judge;
  OutputArguments output;

  std::string SubjectText() const {
    return recorded ? " --recorded" : " --backend " + ShellWord(backend) + foreign.Text();
  }
};

// A directory without a case is no error, and is named.
std::vector<std::string> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const std::vector<std::string> found = CaseFilesOf({path});
    if (found.empty()) {
      std::fprintf(stderr, "kvexact: %s: directory: holds no *.safetensors\n", Printable(path, 4000).c_str());
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

int Replay(const ReplayArguments& a) {
  if (a.recorded == !a.backend.empty()) {
    throw InputError("replay", "subject", "needs either --recorded or --backend B");
  }
  const std::unique_ptr<Backend> backend = a.recorded ? nullptr : OpenBackend(a.backend, a.foreign.options);
  const BackendInfo subject = backend ? backend->info() : RecordedSubject();
  const JudgeOptions options = a.judge.OptionsFor(subject);
  RunDescription description = Describe("replay", subject, options);
  description.require_all = a.require_all;
  const CaseSource source = FileCases(FilesOf(a.paths));
  const RunLimits limits{.threads = a.output.threads, .deadline = {}, .evidence = Report::kMaxStudied};

  const auto repeat = [&](const std::string& name) {
    return "kvexact replay " + ShellWord(name) + a.SubjectText() + a.judge.Text();
  };
  Report report(description, repeat);
  {
    Progress progress(source.count, {}, a.output.quiet);
    const auto consume = [&](const CaseResult& result) {
      report.Add(result, options);
      if (result.status == CaseStatus::kUnreadable) progress.Complain(result.message);
      progress.Advance(!result.right());
    };
    if (backend) {
      RunCases(*backend, source, options, limits, consume);
    } else {
      JudgeRecordings(source, options, limits, consume);
    }
  }
  NameKnownFaults(options, report);
  report.Finish();
  return Conclude(report, a.output.files);
}

}  // namespace

Command AddReplay(CLI::App& program) {
  const auto a = std::make_shared<ReplayArguments>();
  CLI::App* command =
      program.add_subcommand("replay", "judge case files: the outputs recorded in them, or those of a backend");
  command->add_option("path", a->paths, "case files, and directories with *.safetensors")
      ->type_name("FILE|DIR")
      ->required();
  command->add_flag("--recorded", a->recorded, "judge the outputs in the files");
  command->add_option("--backend", a->backend, "run this backend on the files' inputs")->type_name("B");
  command->add_flag("--require-all", a->require_all, "exit 3 unless every case was judged");
  a->foreign.AddTo(*command);
  a->judge.AddTo(*command);
  a->output.AddTo(*command);
  return {command, [a] { return Replay(*a); }};
}

}  // namespace kvexact::cli
