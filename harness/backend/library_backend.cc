// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/library_backend.h"

#include <cstddef>
#include <exception>
#include <utility>

#include "harness/abi/kvexact_backend.h"
#include "harness/backend/abi_launch.h"
#include "harness/backend/shared_library.h"

namespace kvexact {
namespace {

std::string TextOr(const char* text, const char* otherwise) {
  return text != nullptr && *text != '\0' ? text : otherwise;
}

std::string LastError(const kvexact_backend_api& api, const kvexact_backend* handle) {
  return TextOr(api.last_error(handle), "no reason given");
}

// The library's table, all of whose functions are there.
const kvexact_backend_api& ApiOf(const SharedLibrary& library, const std::string& source) {
  const auto get_api = reinterpret_cast<kvexact_backend_get_api_fn>(library.Find(KVEXACT_BACKEND_SYMBOL));
  if (get_api == nullptr) throw InputError(source, KVEXACT_BACKEND_SYMBOL, "the library does not export this symbol");
  const std::string version = std::to_string(KVEXACT_ABI_VERSION);
  const kvexact_backend_api* api = get_api(KVEXACT_ABI_VERSION);
  if (api == nullptr) throw InputError(source, "abi_version", "the library does not speak version " + version);
  if (api->struct_size < sizeof(kvexact_backend_api)) {
    throw InputError(source, "struct_size",
                     "the function table has " + std::to_string(api->struct_size) + " bytes, version " + version +
                         " needs " + std::to_string(sizeof(kvexact_backend_api)));
  }
  if (api->abi_version != KVEXACT_ABI_VERSION) {
    throw InputError(source, "abi_version",
                     "the function table has version " + std::to_string(api->abi_version) + ", asked for " + version);
  }
  const std::pair<const char*, bool> functions[] = {
      {"describe", api->describe != nullptr},     {"create", api->create != nullptr},
      {"supports", api->supports != nullptr},     {"run", api->run != nullptr},
      {"last_error", api->last_error != nullptr}, {"destroy", api->destroy != nullptr},
  };
  for (const auto& [name, present] : functions) {
    if (!present) throw InputError(source, name, "the function table has a null pointer");
  }
  return *api;
}

BackendInfo InfoOf(const kvexact_backend_api& api, const std::string& source) {
  kvexact_backend_info info{};
  info.struct_size = sizeof info;
  const std::int32_t status = api.describe(&info);
  if (status != KVEXACT_OK) throw InputError(source, "describe", LastError(api, nullptr));
  if (info.memory == KVEXACT_MEMORY_CUDA) {
    throw InputError(source, "memory", "the backend asks for CUDA memory; a library in this process gets host memory");
  }
  if (info.memory != KVEXACT_MEMORY_HOST) {
    throw InputError(source, "memory", std::to_string(info.memory) + " is no kvexact_memory");
  }
  const std::string name = TextOr(info.name, "");
  if (name.empty()) throw InputError(source, "name", "describe left it empty");
  return {name,
          TextOr(info.version, ""),
          TextOr(info.device, ""),
          TextOr(info.policy, "poisoned"),
          info.bit_exact != 0,
          TextOr(info.budget, "")};
}

std::vector<std::string> Differing(const TensorMap& before, const TensorMap& after) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : before) {
    if (!(after.find(name)->second == tensor)) names.push_back(name);
  }
  return names;
}

class LibraryBackend final : public Backend {
 public:
  LibraryBackend(const std::string& path, const std::string& source)
      : library_(path, source), api_(ApiOf(library_, source)), info_(InfoOf(api_, source)), handle_(nullptr) {
    kvexact_create_args args{};
    args.struct_size = sizeof args;
    if (api_.create(&args, &handle_) != KVEXACT_OK) throw InputError(source, "create", LastError(api_, nullptr));
    if (handle_ == nullptr) throw InputError(source, "create", "returned success without a handle");
  }
  ~LibraryBackend() override { api_.destroy(handle_); }
  LibraryBackend(const LibraryBackend&) = delete;
  LibraryBackend& operator=(const LibraryBackend&) = delete;

  const BackendInfo& info() const override { return info_; }

  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    const AbiLaunch configuration(c);
    RunOutcome outcome = Call("supports", [&] { return api_.supports(handle_, configuration.get()); });
    if (outcome.status != RunStatus::kOk) return outcome;
    TensorMap inputs = c.inputs;
    const AbiLaunch launch(c, inputs, outputs);
    outcome = Call("run", [&] { return api_.run(handle_, launch.get(), nullptr); });
    outcome.written_inputs = Differing(c.inputs, inputs);
    return outcome;
  }

 private:
  template <class Function>
  RunOutcome Call(const std::string& name, const Function& function) const {
    try {
      return OutcomeOf(name, function());
    } catch (const std::exception& e) {
      return {RunStatus::kError, name + ": an exception crossed the C interface: " + e.what()};
    } catch (...) {
      return {RunStatus::kError, name + ": an exception crossed the C interface"};
    }
  }

  RunOutcome OutcomeOf(const std::string& function, std::int32_t status) const {
    switch (status) {
      case KVEXACT_OK:
        return {};
      case KVEXACT_UNSUPPORTED:
        return {RunStatus::kUnsupported, LastError(api_, handle_)};
      case KVEXACT_ERROR:
        return {RunStatus::kError, function + ": " + LastError(api_, handle_)};
      default:
        return {RunStatus::kError, function + " returned " + std::to_string(status) + ", which is no kvexact_status"};
    }
  }

  SharedLibrary library_;
  const kvexact_backend_api& api_;
  BackendInfo info_;
  kvexact_backend* handle_;
};

}  // namespace

std::unique_ptr<Backend> OpenLibraryBackend(const std::string& path) {
  return std::make_unique<LibraryBackend>(path, "lib:" + path);
}

}  // namespace kvexact
