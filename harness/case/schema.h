// SPDX-License-Identifier: Apache-2.0
// The schema "kvexact-case/1" as rows of data: which parameters and tensors an operation has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "harness/case/case.h"

namespace kvexact::schema {

inline constexpr char kVersion[] = "kvexact-case/1";

// A set of operations, or of tensor types, as bits.
using Bits = std::uint32_t;

constexpr Bits Bit(spec::Operation op) { return Bits{1} << static_cast<unsigned>(op); }
constexpr Bits Bit(DType type) { return Bits{1} << static_cast<unsigned>(type); }

// Where a parameter lives in Params.
using ParamField = std::variant<std::int64_t Params::*, double Params::*, bool Params::*, std::string Params::*>;

struct ParamRow {
  const char* name;
  ParamField field;
  Bits operations;  // that have the parameter
  bool required;    // in a file; otherwise absent means the default of Params
};
std::span<const ParamRow> ParamRows();

enum class Role : std::uint8_t { kInput, kOutput };

struct TensorRow {
  const char* name;  // an output X is X_before and X_after in a file
  Role role;
  Bits operations;  // that have the tensor
  Bits types;       // that it may have
  std::size_t rank;
};
std::span<const TensorRow> TensorRows();

inline bool Has(const ParamRow& row, spec::Operation op) { return (row.operations & Bit(op)) != 0; }
inline bool Has(const TensorRow& row, spec::Operation op) { return (row.operations & Bit(op)) != 0; }

// "F32 or BF16"
std::string TypeNames(Bits types);

// The operation of that name, or nothing.
std::optional<spec::Operation> OperationNamed(std::string_view name);
// The layout row of that name; null if there is none.
const spec::Layout* LayoutNamed(std::string_view name);
// True if a cache in `layout` can hold what `op` stores: same codes, block, scale type and RoPE values.
bool Fits(const spec::Layout& layout, spec::Operation op);

}  // namespace kvexact::schema
