// SPDX-License-Identifier: Apache-2.0
#include "harness/report/report.h"

#include <memory>

#include "harness/case/file_io.h"
#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/report/bench_page.h"
#include "harness/report/json.h"
#include "harness/report/merge.h"

namespace kvexact::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> files;
  ReportFiles output;
};

std::vector<NamedReport> ReadReports(const std::vector<std::string>& files) {
  std::vector<NamedReport> reports;
  for (const std::string& file : files) {
    const std::vector<std::uint8_t> bytes = ReadFile(file);
    reports.push_back({file, ReadReportJson({bytes.begin(), bytes.end()}, file)});
  }
  return reports;
}

int Bench(const ReportArguments& a) {
  if (a.output.html.empty()) throw InputError("report", "--html", "is needed: there is nothing else to write");
  std::vector<BenchSeries> series;
  for (const std::string& file : a.files) series.push_back({file, bench::ReadPeers(file)});
  ReplaceFile(a.output.html, BenchHtml(series));
  return kRight;
}

int Show(const ReportArguments& a) { return Conclude(ReadReports(a.files).front().report, a.output); }

int Merge(const ReportArguments& a) { return Conclude(MergeReports(ReadReports(a.files)), a.output); }

}  // namespace

Command AddReport(CLI::App& program) {
  const auto a = std::make_shared<ReportArguments>();
  CLI::App* command =
      program.add_subcommand("report", "print JSON reports again, merge those of a run's shards, or draw times");
  command->require_subcommand(1);
  CLI::App* show = command->add_subcommand("show", "print a report, or write it in other formats");
  show->add_option("file", a->files, "a report that --json wrote")->type_name("FILE")->required()->expected(1);
  CLI::App* merge = command->add_subcommand(
      "merge", "one report of a run's shards, which must be parts of one run; exit 3 if some are missing");
  merge->add_option("file", a->files, "reports that --json wrote")->type_name("FILE")->required();
  CLI::App* times = command->add_subcommand("bench", "a page with a roofline and ratios from times of kvexact bench");
  times->add_option("file", a->files, "JSON lines that bench --json wrote, one implementation a file")
      ->type_name("FILE")
      ->required();
  times->add_option("--html", a->output.html, "the page to write")->type_name("FILE");
  a->output.AddTo(*show);
  a->output.AddTo(*merge);
  return {command, [a, merge, times] { return merge->parsed() ? Merge(*a) : times->parsed() ? Bench(*a) : Show(*a); }};
}

}  // namespace kvexact::cli
