// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/diagnose.h"

#include <cstdio>
#include <memory>

#include "harness/case/case_file.h"
#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/cli/name_faults.h"
#include "harness/generate/generate.h"
#include "harness/run/run_case.h"

namespace kvexact::cli {
namespace {

struct DiagnoseArguments {
  std::string what;  // a file, or a spec
  bool recorded = false;
  std::string backend;
  JudgeArguments judge;
  ReportFiles files;
};

// The one case as a report, with the suspects of its diagnosis.
Report ReportOf(const DiagnoseArguments& a, const BackendInfo& subject, const JudgeOptions& options,
                const CaseResult& result, const Diagnosis& diagnosis) {
  const auto repeat = [&](const std::string&) {
    const std::string by = a.recorded ? " --recorded" : " --backend " + ShellWord(a.backend);
    return "kvexact diagnose " + ShellWord(a.what) + by + a.judge.Text();
  };
  Report report(Describe("diagnose", subject, options), repeat);
  report.Add(result, options);
  if (!report.failures().empty()) SetSuspects(diagnosis.suspects, diagnosis.tied, 0, report);
  report.Finish();
  return report;
}

int Conclude(const DiagnoseArguments& a, const Case& c, const Diagnosis& diagnosis, const Report& report) {
  a.files.Write(report);
  std::printf("%s\n%s", Printable(c.name, 2000).c_str(), kvexact::Text(diagnosis).c_str());
  const int status = report.exit_status();
  return status == kRight && !diagnosis.right ? kSubjectAtFault : status;
}

int DiagnoseRecorded(const DiagnoseArguments& a, const Case& c) {
  if (!c.outputs_after) throw InputError(a.what, "--recorded", "the file holds no recorded outputs");
  DiagnoseOptions options;
  options.judge = a.judge.OptionsFor(RecordedSubject());
  const Diagnosis diagnosis = kvexact::Diagnose(c, c.outputs_before, *c.outputs_after, options);
  return Conclude(a, c, diagnosis,
                  ReportOf(a, RecordedSubject(), options.judge, JudgeRecorded(c, options.judge), diagnosis));
}

int DiagnoseBackend(const DiagnoseArguments& a, const Case& c) {
  const std::unique_ptr<Backend> backend = OpenBackend(a.backend);
  DiagnoseOptions options;
  options.judge = a.judge.OptionsFor(backend->info());
  const Diagnosis diagnosis = kvexact::Diagnose(*backend, c, options);
  return Conclude(a, c, diagnosis,
                  ReportOf(a, backend->info(), options.judge, RunCase(*backend, c, options.judge), diagnosis));
}

int Diagnose(const DiagnoseArguments& a) {
  if (a.recorded == !a.backend.empty()) {
    throw InputError("diagnose", "subject", "needs either --recorded or --backend B");
  }
  const Case c = a.what.starts_with("op=") ? Generate(ParseSpec(a.what)) : ReadCaseFile(a.what);
  return a.recorded ? DiagnoseRecorded(a, c) : DiagnoseBackend(a, c);
}

}  // namespace

Command AddDiagnose(CLI::App& program) {
  const auto a = std::make_shared<DiagnoseArguments>();
  CLI::App* command = program.add_subcommand("diagnose", "which known fault explains what was stored");
  command->add_option("case", a->what, "a case file, or a spec as a report prints it")
      ->type_name("FILE|SPEC")
      ->required();
  command->add_flag("--recorded", a->recorded, "explain the outputs in the file");
  command->add_option("--backend", a->backend, "run this backend on the case, and on others that tell faults apart")
      ->type_name("B");
  a->judge.AddTo(*command);
  a->files.AddTo(*command);
  return {command, [a] { return Diagnose(*a); }};
}

}  // namespace kvexact::cli
