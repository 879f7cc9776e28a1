// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "harness/backend/backend.h"
#include "harness/case/case_file.h"
#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/cli/run_once.h"
#include "harness/run/case_source.h"

namespace kvexact::cli {
namespace {

struct GenArguments {
  std::vector<std::string> operations;
  std::string seed = "1";
  std::int64_t cases = 10;
  std::int64_t max_configs = 24;
  std::string out;
  std::string record;
};

void Record(Backend& backend, Case& c) {
  c.outputs_after = RunOnce(backend, c);
  c.notes["recorded_on"] = backend.info().name;
}

int Gen(const GenArguments& a) {
  const std::unique_ptr<Backend> backend = a.record.empty() ? nullptr : OpenBackend(a.record);
  DrawSettings settings;
  settings.operations = OperationsNamed(a.operations);
  settings.seed = SeedOfText(a.seed);
  settings.max_configs = a.max_configs;
  const CaseSource source = DrawnCases(settings, a.cases, Shard{});
  std::error_code error;
  std::filesystem::create_directories(a.out, error);
  if (error) throw InputError(a.out, "--out", error.message());
  for (std::int64_t i = 0; i < source.count; ++i) {
    Case c = source.load(i);
    if (backend) Record(*backend, c);
    const std::string file = fmt::format("{}/{}_{}_{:06}.safetensors", a.out, c.row().name, settings.seed, i);
    WriteCaseFile(file, c);
    std::printf("%s  %s\n", file.c_str(), c.name.c_str());
  }
  return kRight;
}

}  // namespace

Command AddGen(CLI::App& program) {
  const auto a = std::make_shared<GenArguments>();
  CLI::App* command = program.add_subcommand("gen", "write generated cases to files");
  command->add_option("--op", a->operations, "only this operation; may be repeated")->type_name("OP");
  command->add_option("--seed", a->seed, "a number, or random")->type_name("N")->capture_default_str();
  command->add_option("--cases", a->cases, "number of cases")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  command->add_option("--max-configs", a->max_configs, "configurations that the cases use")
      ->type_name("K")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  command->add_option("--out", a->out, "directory for the files; made if it is not there")
      ->type_name("DIR")
      ->required();
  command->add_option("--record", a->record, "run this backend and keep its outputs in the files")->type_name("B");
  return {command, [a] { return Gen(*a); }};
}

}  // namespace kvexact::cli
