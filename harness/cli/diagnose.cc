// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/diagnose.h"

#include <cstdio>
#include <memory>

#include "harness/case/case_file.h"
#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/generate/generate.h"

namespace kvexact::cli {
namespace {

struct DiagnoseArguments {
  std::string what;  // a file, or a spec
  bool recorded = false;
  std::string backend;
  JudgeArguments judge;
};

Diagnosis DiagnosisOf(const DiagnoseArguments& a, const Case& c) {
  DiagnoseOptions options;
  if (a.recorded) {
    if (!c.outputs_after) throw InputError(a.what, "--recorded", "the file holds no recorded outputs");
    options.judge = a.judge.OptionsFor(RecordedSubject());
    return kvexact::Diagnose(c, c.outputs_before, *c.outputs_after, options);
  }
  const std::unique_ptr<Backend> backend = OpenBackend(a.backend);
  options.judge = a.judge.OptionsFor(backend->info());
  return kvexact::Diagnose(*backend, c, options);
}

int Diagnose(const DiagnoseArguments& a) {
  if (a.recorded == !a.backend.empty()) {
    throw InputError("diagnose", "subject", "needs either --recorded or --backend B");
  }
  const Case c = a.what.starts_with("op=") ? Generate(ParseSpec(a.what)) : ReadCaseFile(a.what);
  const Diagnosis diagnosis = DiagnosisOf(a, c);
  std::printf("%s\n%s", Printable(c.name, 2000).c_str(), kvexact::Text(diagnosis).c_str());
  if (diagnosis.right) return kRight;
  return diagnosis.cases == 0 ? kNothingJudged : kSubjectAtFault;
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
  return {command, [a] { return Diagnose(*a); }};
}

}  // namespace kvexact::cli
