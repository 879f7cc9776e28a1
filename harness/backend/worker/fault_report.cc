// SPDX-License-Identifier: Apache-2.0
// Everything that the handler calls is async-signal-safe.
#include "harness/backend/worker/fault_report.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "harness/backend/worker/arena_layout.h"
#include "harness/backend/worker/packet.h"

namespace kvexact::worker {
namespace {

constexpr std::size_t kMaxBuffers = 32;
GuardedBuffer buffers[kMaxBuffers];
volatile std::size_t buffer_count = 0;

// A message of the channel: length, kFault, length of the text, text.
class FaultMessage {
 public:
  void Add(const char* text) {
    while (*text != '\0' && size_ < sizeof bytes_) bytes_[size_++] = *text++;
  }
  void AddDecimal(std::uint64_t n) {
    char digits[21];
    char* at = digits + sizeof digits;
    *--at = '\0';
    do {
      *--at = static_cast<char>('0' + n % 10);
      n /= 10;
    } while (n != 0);
    Add(at);
  }
  void AddHexadecimal(std::uint64_t n) {
    char digits[19] = "0x0000000000000000";
    for (int i = 17; i > 1; --i, n >>= 4) digits[i] = "0123456789abcdef"[n & 15];
    Add(digits);
  }
  void Send() {
    const auto text = static_cast<std::uint32_t>(size_ - kHead);
    const std::uint32_t body = 1 + sizeof text + text;
    std::memcpy(bytes_, &body, sizeof body);
    bytes_[sizeof body] = static_cast<char>(Message::kFault);
    std::memcpy(bytes_ + sizeof body + 1, &text, sizeof text);
    // A message that cannot be sent has nobody to read it.
    [[maybe_unused]] const ssize_t sent = ::write(kSocket, bytes_, size_);
  }

 private:
  static constexpr std::size_t kHead = 9;
  char bytes_[256] = {};
  std::size_t size_ = kHead;
};

void Describe(const char* address, FaultMessage& message) {
  for (std::size_t i = 0; i < buffer_count; ++i) {
    const GuardedBuffer& buffer = buffers[i];
    if (address < buffer.pages - kGuard || address >= buffer.pages + buffer.pages_size + kGuard) continue;
    message.Add("accessed ");
    message.Add(buffer.name);
    message.Add(" ");
    if (address < buffer.begin) {
      message.AddDecimal(static_cast<std::uint64_t>(buffer.begin - address));
      message.Add(" bytes before its start");
    } else {
      message.AddDecimal(static_cast<std::uint64_t>(address - buffer.end));
      message.Add(" bytes behind its end");
    }
    return;
  }
  message.Add("accessed the address ");
  message.AddHexadecimal(reinterpret_cast<std::uintptr_t>(address));
}

// A write to an input: lets it happen, to a private copy, and remembers it.
bool AdmitWrite(const char* address) {
  for (std::size_t i = 0; i < buffer_count; ++i) {
    GuardedBuffer& buffer = buffers[i];
    if (!buffer.read_only || buffer.written) continue;
    if (address < buffer.pages || address >= buffer.pages + buffer.pages_size) continue;
    buffer.written = true;
    return ::mprotect(buffer.pages, buffer.pages_size, PROT_READ | PROT_WRITE) == 0;
  }
  return false;
}

void OnFault(int number, siginfo_t* info, void*) {
  const auto* address = static_cast<const char*>(info->si_addr);
  if (info->si_code == SEGV_ACCERR && AdmitWrite(address)) return;
  if (!IsForked()) {
    FaultMessage message;
    Describe(address, message);
    message.Send();
  }
  ::signal(number, SIG_DFL);  // the instruction is repeated and ends the process
}

const pid_t worker_process = ::getpid();

}  // namespace

bool IsForked() { return ::getpid() != worker_process; }

void ReportFaults() {
  static char stack[64 << 10];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  struct sigaction action {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (::sigaltstack(&alternate, nullptr) != 0 || ::sigaction(SIGSEGV, &action, nullptr) != 0 ||
      ::sigaction(SIGBUS, &action, nullptr) != 0) {
    throw std::runtime_error("cannot handle memory faults");
  }
}

void ForgetGuardedBuffers() { buffer_count = 0; }

void NoteGuardedBuffer(const GuardedBuffer& buffer) {
  if (buffer_count == kMaxBuffers) throw std::runtime_error("a launch of too many tensors");
  buffers[buffer_count] = buffer;
  buffer_count = buffer_count + 1;
}

std::vector<std::string> WrittenInputs() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < buffer_count; ++i) {
    if (buffers[i].written) names.emplace_back(buffers[i].name);
  }
  return names;
}

}  // namespace kvexact::worker
