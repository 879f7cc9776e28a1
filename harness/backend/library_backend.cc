// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/library_backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <system_error>
#include <utility>

#include "harness/backend/abi_launch.h"
#include "harness/backend/crash_text.h"
#include "harness/backend/process/child_process.h"
#include "harness/backend/process/companion.h"
#include "harness/backend/process/shared_arena.h"
#include "harness/backend/worker/arena_layout.h"
#include "harness/backend/worker/packet.h"

namespace kvexact {
namespace {

using std::chrono::steady_clock;
using worker::Message;
using worker::Reader;
using worker::Span;
using worker::Status;
using worker::Writer;

// The worker ended, or was ended.
struct WorkerLost {
  std::string why;
};

// A worker process and the conversation with it.
class Worker {
 public:
  Worker(const std::string& program, const std::string& library, SharedArena& arena, const BackendOptions& options)
      : arena_(arena), options_(options), sockets_(MakeSocketPair()) {
    std::memset(arena_.data(), 0, worker::kPhaseBytes);
    process_.emplace(
        std::vector<std::string>{program, library},
        std::vector<ChildDescriptor>{{sockets_.second.get(), worker::kSocket}, {arena_.descriptor(), worker::kArena}});
    sockets_.second.Close();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    sockets_.first.Close();
    process_->Finish(steady_clock::now() + std::chrono::seconds(2));
  }

  // Throws WorkerLost.
  void Send(const Writer& writer) {
    process_->ForgetErrors();
    if (!process_->Write(sockets_.first.get(), writer.Bytes(), DeadlineFor(options_))) Lose();
  }

  // The next message, which is none of the worker's last words. Throws WorkerLost.
  std::pair<Message, Reader> Receive() {
    const Deadline deadline = DeadlineFor(options_);
    std::uint32_t length = 0;
    ReadFully(&length, sizeof length, deadline);
    if (length == 0 || length > kMostBytes) throw WorkerLost{"the worker process sent no message, but garbage"};
    std::vector<char> body(length);
    ReadFully(body.data(), body.size(), deadline);
    Reader reader(std::move(body));
    const auto message = reader.Get<Message>();
    if (message != Message::kFault) return {message, std::move(reader)};
    fault_ = reader.GetText();
    Lose();
  }

 private:
  static constexpr std::uint32_t kMostBytes = 1 << 24;

  void ReadFully(void* to, std::size_t size, Deadline deadline) {
    auto* at = static_cast<char*>(to);
    while (size > 0) {
      std::size_t count = 0;
      const ChildProcess::Event event = process_->Read(sockets_.first.get(), {at, size}, count, deadline);
      if (event == ChildProcess::Event::kEnd) Lose();
      if (event == ChildProcess::Event::kTimeout) {
        const std::string text = "gave no answer within " + SecondsText(options_) + During() + " and was ended";
        process_->Finish(steady_clock::now());
        throw WorkerLost{WithErrors("the worker process " + text)};
      }
      at += count;
      size -= count;
    }
  }

  [[noreturn]] void Lose() {
    const std::optional<std::string> end = process_->Finish(steady_clock::now() + std::chrono::seconds(5));
    std::string text = "the worker process " + end.value_or("closed its channel and went on") + During();
    if (!fault_.empty()) text += ": " + fault_;
    throw WorkerLost{WithErrors(text)};
  }

  // What the library was doing.
  std::string During() const {
    char phase[worker::kPhaseBytes];
    std::memcpy(phase, arena_.data(), sizeof phase);
    phase[sizeof phase - 1] = '\0';
    return phase[0] == '\0' ? "" : std::string(" in ") + phase;
  }

  std::string WithErrors(const std::string& text) { return WithErrorTail(text, *process_); }

  SharedArena& arena_;
  BackendOptions options_;
  DescriptorPair sockets_;
  std::optional<ChildProcess> process_;
  std::string fault_;
};

class LibraryBackend final : public Backend {
 public:
  LibraryBackend(std::string path, BackendOptions options)
      : path_(std::move(path)), source_("lib:" + path_), options_(options), program_(WorkerProgram(source_)) {
    try {
      info_ = Open();
    } catch (const WorkerLost& lost) {
      throw InputError(source_, "worker", lost.why);
    } catch (const std::system_error& e) {
      throw InputError(source_, "worker", e.what());
    }
  }

  const BackendInfo& info() const override { return info_; }

  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    try {
      if (!worker_) Open();
      return Launch(c, outputs);
    } catch (const WorkerLost& lost) {
      worker_.reset();
      return {RunStatus::kCrashed, lost.why};
    } catch (const InputError& e) {
      worker_.reset();
      return {RunStatus::kCrashed, std::string("a fresh worker cannot be had: ") + e.what()};
    }
  }

  RunOutcome Close() override {
    if (!worker_) return {};
    RunOutcome outcome;
    try {
      worker_->Send(Writer(Message::kClose));
      worker_->Receive();
    } catch (const WorkerLost& lost) {
      outcome = {RunStatus::kCrashed, lost.why};
    }
    worker_.reset();
    return outcome;
  }

 private:
  BackendInfo Open() {
    worker_.emplace(program_, path_, arena_, options_);
    auto [message, reader] = worker_->Receive();
    if (reader.Get<std::uint32_t>() != worker::kProtocol) {
      throw InputError(source_, "kvexact-worker", "is of another build than this program");
    }
    if (message == Message::kOpenFailed) {
      const std::string field = reader.GetText();
      throw InputError(source_, field, reader.GetText());
    }
    reader.Get<std::int32_t>();  // memory
    BackendInfo info{};
    info.bit_exact = reader.Get<bool>();
    for (std::string* text : {&info.name, &info.version, &info.device, &info.policy, &info.budget}) {
      *text = reader.GetText();
    }
    return info;
  }

  RunOutcome Launch(const Case& c, TensorMap& outputs) {
    const std::vector<std::pair<const Tensor*, Span>> placed = Place(c, outputs);
    worker_->Send(LaunchMessage(c, placed));
    auto [message, reader] = worker_->Receive();
    RunOutcome outcome;
    const auto status = reader.Get<Status>();
    outcome.message = reader.GetText();
    outcome.written_inputs = reader.GetTexts();
    outcome.damaged_guards = reader.GetTexts();
    if (status == Status::kUnusable) throw WorkerLost{outcome.message};
    outcome.status = status == Status::kOk            ? RunStatus::kOk
                     : status == Status::kUnsupported ? RunStatus::kUnsupported
                                                      : RunStatus::kError;
    std::size_t i = c.inputs.size();
    for (auto& [name, tensor] : outputs) FetchOutput(name, tensor, placed[i++].second, outcome);
    return outcome;
  }

  // Copies the tensors into the arena, inputs first, in the order of AbiLaunch.
  std::vector<std::pair<const Tensor*, Span>> Place(const Case& c, const TensorMap& outputs) {
    std::vector<std::pair<const Tensor*, Span>> placed;
    std::int64_t end = worker::PageSize();  // the first page holds the phase
    for (const TensorMap* tensors : {&c.inputs, &outputs}) {
      for (const auto& [name, tensor] : *tensors) {
        placed.emplace_back(&tensor, worker::SpanAt(end, tensor.size_bytes()));
        end += placed.back().second.pages_size;
      }
    }
    std::uint8_t* arena = arena_.Reserve(end);
    for (const auto& [tensor, span] : placed) {
      std::uint8_t* pages = arena + span.pages_begin;
      std::fill(pages, pages + span.data_offset, worker::kCanary);
      std::copy_n(tensor->bytes(), span.size, pages + span.data_offset);
      std::fill(pages + span.end_offset(), pages + span.pages_size, worker::kCanary);
    }
    return placed;
  }

  static Writer LaunchMessage(const Case& c, const std::vector<std::pair<const Tensor*, Span>>& placed) {
    const AbiLaunch launch(c);
    const kvexact_launch& view = *launch.get();
    Writer writer(Message::kLaunch);
    writer.Put(*view.params);
    writer.Put(view.kv_layout != nullptr);
    if (view.kv_layout != nullptr) writer.Put(*view.kv_layout);
    writer.Put(view.num_tensors);
    for (std::uint32_t i = 0; i < view.num_tensors; ++i) {
      writer.Put(std::string(view.tensors[i]->name));
      writer.Put(*view.tensors[i]);
      writer.Put(placed[i].second);
    }
    return writer;
  }

  void FetchOutput(const std::string& name, Tensor& tensor, const Span& span, RunOutcome& outcome) {
    const std::uint8_t* pages = arena_.data() + span.pages_begin;
    std::copy_n(pages + span.data_offset, span.size, tensor.bytes());
    const auto damage = [&](std::int64_t begin, std::int64_t end, const char* where) {
      const auto count = std::count_if(pages + begin, pages + end, [](auto b) { return b != worker::kCanary; });
      if (count > 0) {
        outcome.damaged_guards.push_back(name + " (" + std::to_string(count) + " bytes " + where + ")");
      }
    };
    damage(0, span.data_offset, "before its start");
    damage(span.end_offset(), span.pages_size, "behind its end");
  }

  std::string path_;
  std::string source_;
  BackendOptions options_;
  std::string program_;
  SharedArena arena_;
  std::optional<Worker> worker_;
  BackendInfo info_{};
};

}  // namespace

std::unique_ptr<Backend> OpenLibraryBackend(const std::string& path, const BackendOptions& options) {
  return std::make_unique<LibraryBackend>(path, options);
}

}  // namespace kvexact
