// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/program_backend.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/backend/crash_text.h"
#include "harness/backend/process/child_process.h"
#include "harness/backend/process/scratch_directory.h"
#include "harness/backend/program_greeting.h"
#include "harness/backend/program_result.h"
#include "harness/case/case_file.h"

namespace kvexact {
namespace {

using std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

// The program ended, or was ended.
struct ProgramLost {
  std::string why;
};

class Program {
 public:
  Program(const std::string& command, const BackendOptions& options) : options_(options) {
    DescriptorPair to = MakePipe();
    DescriptorPair from = MakePipe();
    process_.emplace(std::vector<std::string>{"/bin/sh", "-c", command},
                     std::vector<ChildDescriptor>{{to.first.get(), 0}, {from.second.get(), 1}});
    requests_ = std::move(to.second);
    answers_ = std::move(from.first);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    requests_.Close();
    process_->Finish(steady_clock::now() + std::chrono::seconds(2));
  }

  // Both throw ProgramLost.
  void WriteLine(const std::string& line) {
    process_->ForgetErrors();
    if (!process_->Write(requests_.get(), line + "\n", DeadlineFor(options_))) Lose();
  }
  std::string ReadLine() {
    const Deadline deadline = DeadlineFor(options_);
    std::size_t end = 0;
    while ((end = buffer_.find('\n')) == std::string::npos) {
      if (buffer_.size() > kLongestLine)
        throw ProgramLost{"the program wrote a line of more than 1 MiB to standard output"};
      char bytes[4096];
      std::size_t count = 0;
      const ChildProcess::Event event = process_->Read(answers_.get(), bytes, count, deadline);
      if (event == ChildProcess::Event::kEnd) Lose();
      if (event == ChildProcess::Event::kTimeout) {
        process_->Finish(steady_clock::now());
        throw ProgramLost{WithErrors("the program gave no answer within " + SecondsText(options_) + " and was ended")};
      }
      buffer_.append(bytes, count);
    }
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return line;
  }

  std::string WithErrors(const std::string& text) { return WithErrorTail(text, *process_); }

 private:
  static constexpr std::size_t kLongestLine = 1 << 20;

  [[noreturn]] void Lose() {
    const std::optional<std::string> end = process_->Finish(steady_clock::now() + std::chrono::seconds(5));
    std::string text =
        "the program " + end.value_or("closed its standard input or output and went on") + " without an answer";
    if (!buffer_.empty()) text += ", after \"" + Printable(buffer_, 200) + "\"";
    throw ProgramLost{WithErrors(text)};
  }

  BackendOptions options_;
  std::optional<ChildProcess> process_;
  Descriptor requests_;
  Descriptor answers_;
  std::string buffer_;  // read and not yet a line
};

class ProgramBackend final : public Backend {
 public:
  ProgramBackend(std::string command, const BackendOptions& options)
      : command_(std::move(command)), source_("exec:" + command_), options_(options) {
    try {
      Open();
    } catch (const ProgramLost& lost) {
      throw InputError(source_, "program", lost.why);
    } catch (const std::system_error& e) {
      throw InputError(source_, "program", e.what());
    }
  }

  const BackendInfo& info() const override { return greeting_.info; }

  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    if (const std::optional<std::string> why = greeting_.Refusal(c)) return {RunStatus::kUnsupported, *why};
    try {
      if (!program_) Open();
      return Ask(c, outputs);
    } catch (const ProgramLost& lost) {
      program_.reset();
      return {RunStatus::kCrashed, lost.why};
    } catch (const InputError& e) {
      program_.reset();
      return {RunStatus::kCrashed, std::string("the program cannot be started again: ") + e.what()};
    }
  }

 private:
  void Open() {
    program_.emplace(command_, options_);
    greeting_ = ParseGreeting(program_->ReadLine(), source_);
  }

  RunOutcome Ask(const Case& c, TensorMap& outputs) {
    const ScratchDirectory scratch;  // one for each request: what the program does to it ends with the answer
    const std::string case_file = scratch.path() + "/case.safetensors";
    const std::string result_file = scratch.path() + "/result.safetensors";
    WriteRequest(c, outputs, case_file);
    const std::string id = std::to_string(++last_id_);
    program_->WriteLine(Json{{"id", id}, {"op", c.row().name}, {"case", case_file}, {"result", result_file}}.dump());
    const std::string line = program_->ReadLine();
    const std::optional<Json> message = ParseMessage(line);
    if (!message)
      return Garbled("standard output must hold answers in JSON alone, and held \"" + Printable(line, 200) + "\"");
    const Json& reply = *message;
    if (reply.value("id", Json()) != Json(id)) {
      return Garbled("the answer to request \"" + id + "\" has the id " + reply.value("id", Json()).dump());
    }
    return Outcome(reply, result_file, outputs);
  }

  // The case, with the fill of this run as what its outputs held before.
  static void WriteRequest(const Case& c, const TensorMap& outputs, const std::string& path) {
    Case request;
    request.name = c.name;
    request.op = c.op;
    request.params = c.params;
    request.inputs = c.inputs;
    request.outputs_before = outputs;
    request.notes = c.notes;
    WriteCaseFile(path, request);
  }

  RunOutcome Outcome(const Json& reply, const std::string& result_file, TensorMap& outputs) {
    const Json status = reply.value("status", Json());
    const Json given = reply.value("message", Json(""));
    const std::string message =
        given.is_string() && !given.get<std::string>().empty() ? given.get<std::string>() : "no reason given";
    if (status == "unsupported") return {RunStatus::kUnsupported, message};
    if (status == "error") return {RunStatus::kError, program_->WithErrors(message)};
    if (status != "ok")
      return Garbled("the answer has the status " + status.dump() + ", which is none of ok, unsupported, error");
    std::string wrong = ReadResult(result_file, outputs);
    if (!wrong.empty()) return {RunStatus::kError, program_->WithErrors(wrong)};
    RunOutcome outcome;
    for (const auto& [key, list] :
         {std::pair("written_inputs", &outcome.written_inputs), {"damaged_guards", &outcome.damaged_guards}}) {
      const Json names = reply.value(key, Json::array());
      if (!names.is_array()) return Garbled(std::string(key) + " of the answer is no list");
      for (const Json& name : names)
        list->push_back(Printable(name.is_string() ? name.get<std::string>() : name.dump(), 200));
    }
    return outcome;
  }

  // Who does not keep to the protocol once cannot be told apart from its next answer.
  RunOutcome Garbled(const std::string& what) {
    RunOutcome outcome{RunStatus::kError, program_->WithErrors(what)};
    program_.reset();
    return outcome;
  }

  std::string command_;
  std::string source_;
  BackendOptions options_;
  ProgramGreeting greeting_;
  std::optional<Program> program_;
  std::uint64_t last_id_ = 0;
};

}  // namespace

std::unique_ptr<Backend> OpenProgramBackend(const std::string& command, const BackendOptions& options) {
  return std::make_unique<ProgramBackend>(command, options);
}

}  // namespace kvexact
