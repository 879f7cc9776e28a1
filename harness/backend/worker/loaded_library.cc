// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/worker/loaded_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

namespace kvexact::worker {
namespace {

std::string TextOr(const char* text, const char* otherwise) {
  return text != nullptr && *text != '\0' ? text : otherwise;
}

std::string LastError(const kvexact_backend_api& api, const kvexact_backend* handle) {
  return TextOr(api.last_error(handle), "no reason given");
}

// The path is never searched for in library directories. The library stays until the process ends.
kvexact_backend_get_api_fn Load(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw OpenFailure{"path", "no such file"};
  void* library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw OpenFailure{"path", TextOr(dlerror(), "cannot be loaded")};
  void* symbol = dlsym(library, KVEXACT_BACKEND_SYMBOL);
  if (symbol == nullptr) throw OpenFailure{KVEXACT_BACKEND_SYMBOL, "the library does not export this symbol"};
  return reinterpret_cast<kvexact_backend_get_api_fn>(symbol);
}

// The library's table, all of whose functions are there.
const kvexact_backend_api& TableOf(kvexact_backend_get_api_fn get_api) {
  const std::string version = std::to_string(KVEXACT_ABI_VERSION);
  const kvexact_backend_api* api = get_api(KVEXACT_ABI_VERSION);
  if (api == nullptr) throw OpenFailure{"abi_version", "the library does not speak version " + version};
  if (api->struct_size < sizeof(kvexact_backend_api)) {
    throw OpenFailure{"struct_size", "the function table has " + std::to_string(api->struct_size) + " bytes, version " +
                                         version + " needs " + std::to_string(sizeof(kvexact_backend_api))};
  }
  if (api->abi_version != KVEXACT_ABI_VERSION) {
    throw OpenFailure{"abi_version",
                      "the function table has version " + std::to_string(api->abi_version) + ", asked for " + version};
  }
  const std::pair<const char*, bool> functions[] = {
      {"describe", api->describe != nullptr},     {"create", api->create != nullptr},
      {"supports", api->supports != nullptr},     {"run", api->run != nullptr},
      {"last_error", api->last_error != nullptr}, {"destroy", api->destroy != nullptr},
  };
  for (const auto& [name, present] : functions) {
    if (!present) throw OpenFailure{name, "the function table has a null pointer"};
  }
  return *api;
}

constexpr char kException[] = "an exception crossed the C interface";

// What `function`, which the library names `name`, returns.
template <class Function>
auto Opening(const char* name, const Function& function) {
  try {
    return function();
  } catch (const OpenFailure&) {
    throw;
  } catch (const std::exception& e) {
    throw OpenFailure{name, std::string(kException) + ": " + e.what()};
  } catch (...) {
    throw OpenFailure{name, kException};
  }
}

// Zeros lie behind the struct, in case the library takes it for a larger one.
Description DescriptionOf(const kvexact_backend_api& api) {
  struct {
    kvexact_backend_info info;
    std::array<unsigned char, 256> behind;
  } memory{};
  kvexact_backend_info& info = memory.info;
  info.struct_size = sizeof info;
  if (api.describe(&info) != KVEXACT_OK) throw OpenFailure{"describe", LastError(api, nullptr)};
  if (std::ranges::any_of(memory.behind, [](unsigned char byte) { return byte != 0; })) {
    throw OpenFailure{
        "describe", "wrote behind the struct_size of kvexact_backend_info, " + std::to_string(sizeof info) + " bytes"};
  }
  if (info.memory != KVEXACT_MEMORY_HOST && info.memory != KVEXACT_MEMORY_CUDA) {
    throw OpenFailure{"memory", std::to_string(info.memory) + " is no kvexact_memory"};
  }
  const std::string name = TextOr(info.name, "");
  if (name.empty()) throw OpenFailure{"name", "describe left it empty"};
  return {info.memory,
          info.bit_exact != 0,
          name,
          TextOr(info.version, ""),
          TextOr(info.device, ""),
          TextOr(info.policy, "poisoned"),
          TextOr(info.budget, "")};
}

}  // namespace

LoadedLibrary::LoadedLibrary(const std::string& path)
    : api_(Opening(KVEXACT_BACKEND_SYMBOL, [&] { return &TableOf(Load(path)); })) {}

void LoadedLibrary::Describe() {
  description_ = Opening("describe", [&] { return DescriptionOf(*api_); });
}

void LoadedLibrary::Destroy() { api_->destroy(std::exchange(handle_, nullptr)); }

void LoadedLibrary::Create(int device) {
  kvexact_create_args args{};
  args.struct_size = sizeof args;
  args.device = device;
  const std::int32_t status = Opening("create", [&] { return api_->create(&args, &handle_); });
  if (status != KVEXACT_OK) throw OpenFailure{"create", LastError(*api_, nullptr)};
  if (handle_ == nullptr) throw OpenFailure{"create", "returned success without a handle"};
}

template <class Function>
Answer LoadedLibrary::Call(const std::string& name, const Function& function) const {
  std::int32_t status = KVEXACT_ERROR;
  try {
    status = function();
  } catch (const std::exception& e) {
    return {KVEXACT_ERROR, name + ": " + kException + ": " + e.what()};
  } catch (...) {
    return {KVEXACT_ERROR, name + ": " + kException};
  }
  switch (status) {
    case KVEXACT_OK:
      return {};
    case KVEXACT_UNSUPPORTED:
      return {KVEXACT_UNSUPPORTED, LastError(*api_, handle_)};
    case KVEXACT_ERROR:
      return {KVEXACT_ERROR, name + ": " + LastError(*api_, handle_)};
    default:
      return {KVEXACT_ERROR, name + " returned " + std::to_string(status) + ", which is no kvexact_status"};
  }
}

Answer LoadedLibrary::Supports(const kvexact_launch& launch) const {
  return Call("supports", [&] { return api_->supports(handle_, &launch); });
}

Answer LoadedLibrary::Run(const kvexact_launch& launch, void* stream) const {
  return Call("run", [&] { return api_->run(handle_, &launch, stream); });
}

}  // namespace kvexact::worker
