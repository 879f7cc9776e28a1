// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/abi/kvexact_backend.h"
#include "reference/spec/layout.h"

namespace kvexact {

// The layout's own fields, in bytes as there; the pages (page_tokens, page_stride, base_offset, pages) are the
// caller's.
inline kvexact_kv_layout AbiLayout(const spec::Layout& layout) {
  kvexact_kv_layout out{};
  out.struct_size = sizeof out;
  out.code_type = layout.code_type == spec::CodeType::kE2M1Nibble ? KVEXACT_E2M1 : KVEXACT_E4M3FN;
  out.scale_type = layout.scale_type == spec::ScaleType::kFp32Word ? KVEXACT_SCALE_F32 : KVEXACT_SCALE_UE8M0;
  out.scales_behind_page = layout.scales_behind_page ? 1 : 0;
  out.code_values = layout.code_values;
  out.quant_block = layout.quant_block;
  out.token_stride = layout.token_stride;
  out.codes_offset = layout.codes_offset;
  out.rope_values = layout.rope_values;
  out.rope_offset = layout.rope_offset;
  out.scale_stride = layout.scale_stride;
  out.scales_offset = layout.scales_offset;
  out.pad_scales = layout.pad_scales;
  return out;
}

}  // namespace kvexact
