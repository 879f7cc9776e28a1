// SPDX-License-Identifier: Apache-2.0
// kvexact: is what a kernel stored right, element by element.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "harness/backend/process/interruption.h"
#include "harness/case/input_error.h"
#include "harness/cli/command.h"
#include "harness/cli/run_once.h"
#include "harness/report/build_info.h"

namespace kvexact::cli {
namespace {

void Complain(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::fprintf(stderr, "kvexact: %s\n", Printable(text, 4000).c_str());
}

// An empty value, as of a variable that is not set, is a mistake and not an option left out.
void RefuseEmptyValues(CLI::App& command) {
  const auto error = [](const std::string& value) { return std::string(value.empty() ? "is empty" : ""); };
  for (CLI::Option* option : command.get_options()) option->check(error);
  for (CLI::App* inner : command.get_subcommands({})) RefuseEmptyValues(*inner);
}

// Every case takes the same large buffers again. By default glibc hands them back to the kernel after each, which then
// zeroes them page by page.
void KeepLargeBuffers() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

std::string VersionText() {
  const BuildInfo& build = ThisBuild();
  return std::string("kvexact ") + build.version + " (revision " + build.git_revision + ", " + build.compiler + ", " +
         build.build_type + ")";
}

int Run(int argc, char** argv) {
  CLI::App program{"Judges KV-cache compression and indexer-Q kernels against a bit-exact model, element by element."};
  program.name("kvexact");
  program.require_subcommand(0, 1);
  program.set_version_flag("--version", VersionText());
  program.footer(
      "Exit status: 0 right; 1 the subject is at fault; 2 bad usage or unreadable input; 3 nothing was judged, or\n"
      "--require-all unmet; 4 the harness failed; bench: 5 slower, 6 ambiguous. The last line of verify, replay and "
      "selftest is for scripts.");
  const Command commands[] = {AddList(program),     AddGen(program),     AddVerify(program), AddReplay(program),
                              AddSelftest(program), AddExplain(program), AddFaults(program), AddDiagnose(program),
                              AddReport(program),   AddBench(program)};
  RefuseEmptyValues(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return program.exit(request);
  } catch (const CLI::ParseError& error) {
    Complain(error.what());
    return kBadInput;
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  Complain("a command is needed; kvexact --help lists them");
  return kBadInput;
}

// Output that cannot be delivered is a failure of the run, not a right verdict.
int Flush(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  Complain("standard output cannot be written");
  return kHarnessFailed;
}

}  // namespace
}  // namespace kvexact::cli

int main(int argc, char** argv) {
  using kvexact::cli::Complain;
  kvexact::interruption::CleanUpFirst();
  kvexact::cli::KeepLargeBuffers();
  try {
    return kvexact::cli::Flush(kvexact::cli::Run(argc, argv));
  } catch (const kvexact::InputError& e) {
    Complain(e.what());
    return kvexact::cli::kBadInput;
  } catch (const kvexact::cli::SubjectError& e) {
    Complain(e.what());
    return kvexact::cli::kSubjectAtFault;
  } catch (const std::bad_alloc&) {
    Complain("out of memory");
  } catch (const std::exception& e) {
    Complain(std::string("unexpected: ") + e.what());
  } catch (...) {
    Complain("unexpected exception");
  }
  return kvexact::cli::kHarnessFailed;
}
