// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "harness/backend/backend.h"
#include "harness/cli/command.h"
#include "harness/faults/fault.h"
#include "reference/formats/properties.h"
#include "reference/numerics/budget.h"
#include "reference/numerics/policy.h"
#include "reference/spec/format.h"
#include "reference/spec/layout.h"
#include "reference/spec/operation.h"

namespace kvexact::cli {
namespace {

std::string Operations() {
  std::string text;
  for (const spec::OperationRow& row : spec::kOperations) text += fmt::format("{:<16} {}\n", row.name, row.summary);
  return text;
}

std::string Formats() {
  std::string text;
  for (const spec::Format* f : spec::kFormats) {
    text += fmt::format("{:<10} {:>2} bits: {} sign, {} exponent (bias {}), {} mantissa; {}, {}\n", f->name, f->bits,
                        f->is_signed ? 1 : 0, f->exponent_bits, f->bias, f->mantissa_bits,
                        f->has_infinity ? "infinities" : "no infinity",
                        f->nan == spec::NanCode::kNone ? "no NaN" : fmt::format("NaN 0x{:X}", f->canonical_nan));
  }
  return text;
}

std::string Layouts() {
  std::string text;
  for (const spec::Layout* l : spec::kLayouts) {
    text += fmt::format("{:<16} {} {} codes in blocks of {}, {} {} scales, {} bf16 values; {} + {} bytes a token\n",
                        l->name, l->code_values, l->code_type == spec::CodeType::kE4M3Byte ? "E4M3" : "E2M1",
                        l->quant_block, l->scales(), l->scale_type == spec::ScaleType::kFp32Word ? "fp32" : "UE8M0",
                        l->rope_values, l->token_stride, l->scale_stride);
  }
  return text;
}

template <class Rows>
std::string NamesAndSummaries(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) text += fmt::format("{:<16} {}\n", row.name, row.summary);
  return text;
}

std::string Backends() {
  std::string text;
  for (const char* name : {"reference", "host", "cuda"}) {
    try {
      const std::unique_ptr<Backend> backend = OpenBackend(name);
      const BackendInfo& info = backend->info();
      text += fmt::format("{:<16} {}; policy {}{}\n", name, info.device, info.policy,
                          info.bit_exact ? "; equals the model byte for byte" : "");
    } catch (const InputError&) {
      // Not on this machine, or not in this build.
    }
  }
  text += fmt::format("{:<16} {}\n", "fault:NAME", "the model with one known fault (kvexact list faults)");
  text += fmt::format("{:<16} {}\n", "lib:PATH", "a shared library with the C interface (docs/backends.md)");
  return text + fmt::format("{:<16} {}\n", "exec:CMD", "a program that reads case files (docs/backends.md)");
}

std::string FaultRows() {
  std::string text;
  for (const Fault& fault : Faults()) {
    text += fmt::format("{:<24} {:<10} {}{}\n", fault.name, fault.stage, fault.summary,
                        fault.fault_class == FaultClass::kEquivalent ? " (equivalent)" : "");
  }
  return text;
}

struct Section {
  std::string_view name;
  std::string (*text)();
};

constexpr Section kSections[] = {
    {"ops", Operations},
    {"formats", Formats},
    {"layouts", Layouts},
    {"policies", [] { return NamesAndSummaries(Policies()); }},
    {"budgets", [] { return NamesAndSummaries(Budgets()); }},
    {"backends", Backends},
    {"faults", FaultRows},
};

int List(const std::string& what) {
  for (const Section& section : kSections) {
    if (what.empty()) {
      const std::string name(section.name);
      std::printf("%s%s:\n%s", &section == kSections ? "" : "\n", name.c_str(), section.text().c_str());
    } else if (what == section.name) {
      std::printf("%s", section.text().c_str());
    }
  }
  return kRight;
}

}  // namespace

Command AddList(CLI::App& program) {
  const auto what = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Section& section : kSections) names.emplace_back(section.name);
  CLI::App* command = program.add_subcommand("list", "the names that options take, each with a line about it");
  command->add_option("what", *what, "which names; default: all")->check(CLI::IsMember(names));
  return {command, [what] { return List(*what); }};
}

}  // namespace kvexact::cli
