// SPDX-License-Identifier: Apache-2.0
// kvexact-worker LIBRARY: loads a library with the C interface and runs launches for the harness, which starts this
// program, talks to it over descriptor kSocket and shares the tensors' memory through descriptor kArena.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/backend/worker/fault_report.h"
#include "harness/backend/worker/launch_memory.h"
#include "harness/backend/worker/loaded_library.h"
#include "harness/backend/worker/packet.h"

namespace kvexact::worker {
namespace {

char* phase = nullptr;

void SetPhase(const char* name) {
  if (!IsForked()) std::strncpy(phase, name, kPhaseBytes - 1);
}

void MapPhase() {
  void* page = ::mmap(nullptr, kPhaseBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kArena, 0);
  if (page == MAP_FAILED) throw std::runtime_error("the shared memory cannot be mapped");
  phase = static_cast<char*>(page);
}

// The harness is gone: so is this, soon, whatever the library does.
void WatchHarness() {
  std::thread([] {
    pollfd socket{kSocket, POLLRDHUP, 0};
    while (::poll(&socket, 1, -1) < 0 && errno == EINTR) {
    }
    std::this_thread::sleep_for(std::chrono::seconds(3));
    ::_exit(0);
  }).detach();
}

bool ReadFully(void* to, std::size_t size) {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::read(kSocket, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

void Send(const Writer& writer) {
  if (IsForked()) ::_exit(0);
  const std::string bytes = writer.Bytes();
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::write(kSocket, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) ::_exit(0);
    done += static_cast<std::size_t>(put);
  }
}

// The next message; nothing once the harness has closed its end.
std::optional<Reader> Receive() {
  std::uint32_t length = 0;
  if (!ReadFully(&length, sizeof length)) return std::nullopt;
  std::vector<char> body(length);
  if (!ReadFully(body.data(), body.size())) return std::nullopt;
  return Reader(std::move(body));
}

Writer Opened(const Description& d) {
  Writer writer(Message::kOpened);
  writer.Put(kProtocol);
  writer.Put(d.memory);
  writer.Put(d.bit_exact);
  for (const std::string& text : {d.name, d.version, d.device, d.policy, d.budget}) writer.Put(text);
  return writer;
}

Writer Failed(const OpenFailure& failure) {
  Writer writer(Message::kOpenFailed);
  writer.Put(kProtocol);
  writer.Put(failure.field);
  writer.Put(failure.what);
  return writer;
}

struct Launch {
  kvexact_params params{};
  std::optional<kvexact_kv_layout> layout;
  std::vector<LaunchTensor> tensors;
};

Launch Parse(Reader& reader, std::int32_t memory) {
  Launch launch;
  launch.params = reader.Get<kvexact_params>();
  if (reader.Get<bool>()) launch.layout = reader.Get<kvexact_kv_layout>();
  launch.tensors.resize(reader.Get<std::uint32_t>());
  for (LaunchTensor& tensor : launch.tensors) {
    tensor.name = reader.GetText();
    tensor.view = reader.Get<kvexact_tensor>();
    tensor.view.name = tensor.name.c_str();
    tensor.view.memory = memory;
    tensor.view.data = nullptr;
    tensor.span = reader.Get<Span>();
  }
  return launch;
}

class Service {
 public:
  explicit Service(const std::string& path) {
    SetPhase("loading");
    library_.emplace(path);
    SetPhase("describe");
    library_->Describe();
    memory_kind_ = library_->description().memory;
    memory_ = memory_kind_ == KVEXACT_MEMORY_CUDA ? MakeDeviceMemory(kDevice) : MakeHostMemory();
    SetPhase("create");
    library_->Create(kDevice);
    Send(Opened(library_->description()));
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service() = default;

  void Close() {
    SetPhase("destroy");
    library_->Destroy();
    SetPhase("ending");
    Send(Writer(Message::kClosed));
  }

  // False if this process is of no more use.
  bool Serve(Reader& reader) {
    Launch launch = Parse(reader, memory_kind_);
    std::vector<const kvexact_tensor*> pointers;
    for (const LaunchTensor& tensor : launch.tensors) pointers.push_back(&tensor.view);
    kvexact_launch view{};
    view.struct_size = sizeof view;
    view.num_tensors = static_cast<std::uint32_t>(pointers.size());
    view.tensors = pointers.data();
    view.params = &launch.params;
    view.kv_layout = launch.layout ? &*launch.layout : nullptr;

    SetPhase("supports");
    Answer answer = library_->Supports(view);
    Findings findings;
    if (answer.status == KVEXACT_OK) {
      memory_->Bind(launch.tensors);
      SetPhase("run");
      answer = library_->Run(view, memory_->stream());
      findings = memory_->Collect(launch.tensors);
    }
    SetPhase("waiting");
    Reply(answer, findings);
    return findings.failure.empty();
  }

 private:
  static constexpr int kDevice = 0;

  static void Reply(const Answer& answer, const Findings& findings) {
    const bool usable = findings.failure.empty();
    Writer writer(Message::kDone);
    writer.Put(usable ? static_cast<Status>(answer.status) : Status::kUnusable);
    writer.Put(usable ? answer.text : findings.failure);
    writer.Put(findings.written_inputs);
    writer.Put(findings.damaged_guards);
    Send(writer);
  }

  std::optional<LoadedLibrary> library_;
  std::int32_t memory_kind_ = KVEXACT_MEMORY_HOST;
  std::unique_ptr<LaunchMemory> memory_;
};

int Serve(const std::string& path) {
  MapPhase();
  ReportFaults();
  WatchHarness();
  try {
    Service service(path);
    while (std::optional<Reader> reader = Receive()) {
      if (reader->Get<Message>() == Message::kClose) break;
      if (!service.Serve(*reader)) return 0;
    }
    service.Close();
  } catch (const OpenFailure& failure) {
    Send(Failed(failure));
  }
  return 0;
}

}  // namespace
}  // namespace kvexact::worker

int main(int argc, char** argv) {
  namespace worker = kvexact::worker;
  if (argc != 2 || ::fcntl(worker::kSocket, F_GETFD) < 0 || ::fcntl(worker::kArena, F_GETFD) < 0) {
    std::fprintf(stderr, "kvexact-worker: is started by kvexact, to run a backend lib:PATH\n");
    return 2;
  }
  try {
    return worker::Serve(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kvexact-worker: %s\n", e.what());
    return 4;
  }
}
