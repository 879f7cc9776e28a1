// SPDX-License-Identifier: Apache-2.0
// C interface of an implementation under test: a shared library that exports one symbol,
// kvexact_backend_get_api. Plain C11, valid C++; nothing here throws. Guide: docs/backends.md.
//
// Compatibility. Every struct starts with struct_size: whoever fills a struct sets it to the size that it was
// compiled with, whoever reads one reads no field behind it. Later minor revisions only append fields and
// enumerators; anything else raises KVEXACT_ABI_VERSION. Arrays hold pointers, so that elements may grow.
//
// Lifetime. get_api and describe may be called at any time. One handle is used by one thread at a time. Everything
// a function receives is valid until it returns, but what a run enqueued may use `data` until the harness has
// synchronised the stream. Strings that a backend returns are its own and are not freed by the harness.
//
// NOLINTBEGIN(modernize-*): C.
#ifndef KVEXACT_BACKEND_H_
#define KVEXACT_BACKEND_H_

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVEXACT_ABI_VERSION 1u
#define KVEXACT_MAX_RANK 4

#if defined(_WIN32)
#define KVEXACT_EXPORT __declspec(dllexport)
#else
#define KVEXACT_EXPORT __attribute__((visibility("default")))
#endif

// What every call returns, as int32_t. Any other value is an error of the backend.
enum kvexact_status {
  KVEXACT_OK = 0,
  KVEXACT_UNSUPPORTED = 1,  // this configuration is not implemented; last_error says why
  KVEXACT_ERROR = 2         // last_error says what happened
};

enum kvexact_dtype { KVEXACT_U8 = 0, KVEXACT_BF16 = 1, KVEXACT_F32 = 2, KVEXACT_I32 = 3, KVEXACT_I64 = 4 };

// Where `data` pointers point. KVEXACT_MEMORY_CUDA is global memory of the device given to create.
enum kvexact_memory { KVEXACT_MEMORY_HOST = 0, KVEXACT_MEMORY_CUDA = 1 };

enum kvexact_operation {
  KVEXACT_SPARSE_ATTN = 0,
  KVEXACT_INDEXER_FP8 = 1,
  KVEXACT_INDEXER_MXFP4 = 2,
  KVEXACT_TWO_STAGE = 3,
  KVEXACT_GATHER_SPLIT = 4,
  KVEXACT_FINALIZE = 5,
  KVEXACT_INDEXER_Q_FP8 = 6,
  KVEXACT_INDEXER_Q_MXFP4 = 7
};

enum kvexact_code_type { KVEXACT_E4M3FN = 0, KVEXACT_E4M3FNUZ = 1, KVEXACT_E2M1 = 2 };
enum kvexact_scale_type { KVEXACT_SCALE_UE8M0 = 0, KVEXACT_SCALE_F32 = 1 };

// A strided view. Element (i, j, ...) lies at data + (i * strides[0] + j * strides[1] + ...) * element size.
typedef struct kvexact_tensor {
  uint32_t struct_size;
  int32_t dtype;   // enum kvexact_dtype
  int32_t memory;  // enum kvexact_memory
  int32_t rank;    // <= KVEXACT_MAX_RANK
  const char* name;
  int64_t shape[KVEXACT_MAX_RANK];
  int64_t strides[KVEXACT_MAX_RANK];  // in elements
  void* data;                         // null in `supports`
  uint64_t size_bytes;                // bytes from data on that belong to the tensor
  int32_t is_output;                  // 0: must not be written
  int32_t reserved;
} kvexact_tensor;

// Scalars of a launch. Those that the operation does not use are 0. Strides in elements.
typedef struct kvexact_params {
  uint32_t struct_size;
  int32_t operation;  // enum kvexact_operation
  int64_t head_dim;
  int64_t rope_head_dim;
  int64_t num_actual;         // tokens at and behind it are inert
  int64_t compress_ratio;     // from here on: compression
  int64_t block_size;         // positions a state block
  int64_t state_width;        // KV in [0, state_width) of a state row, score in [state_width, 2 * state_width)
  int64_t state_row_stride;   // from position to position within a state block
  int64_t num_decode_tokens;  // two_stage
  int64_t num_splits;         // gather_split
  int32_t overlap;            // the window has 2 * compress_ratio rows
  float rms_norm_eps;
  float softmax_scale;  // indexer Q
  float head_scale;     // indexer Q
  int32_t q_code_type;  // indexer Q: enum kvexact_code_type
  int32_t reserved;
} kvexact_params;

// Placement of tokens in the paged KV cache, in bytes. Slot s is token t = s % page_tokens of page s / page_tokens,
// which starts at base_offset + page * page_stride. From the page's first byte, the token's
//   codes   are at t * token_stride + codes_offset
//   RoPE    is at  t * token_stride + rope_offset, bf16   (rope_values of them)
//   scales  are at page_tokens * token_stride + t * scale_stride + scales_offset
//           (t * token_stride + scales_offset where scales_behind_page is 0), followed by pad_scales zero bytes.
typedef struct kvexact_kv_layout {
  uint32_t struct_size;
  int32_t code_type;   // enum kvexact_code_type
  int32_t scale_type;  // enum kvexact_scale_type
  int32_t scales_behind_page;
  int64_t code_values;  // quantised elements a token
  int64_t quant_block;  // elements that share a scale
  int64_t token_stride;
  int64_t codes_offset;
  int64_t rope_values;
  int64_t rope_offset;
  int64_t scale_stride;
  int64_t scales_offset;
  int64_t pad_scales;
  int64_t page_tokens;
  int64_t page_stride;
  int64_t base_offset;
  int64_t pages;
} kvexact_kv_layout;

// One launch. Tensor names are those of the case schema: state_cache, token_to_req_indices, positions,
// slot_mapping, kv_slot_mapping, block_table, rms_norm_weight, cos_sin_cache, index_q, index_weights, and the
// outputs kv_cache, scratch (gather_split; an input of finalize), q_fp8, q_packed, q_scale, weights_out.
typedef struct kvexact_launch {
  uint32_t struct_size;
  uint32_t num_tensors;
  const kvexact_tensor* const* tensors;
  const kvexact_params* params;
  const kvexact_kv_layout* kv_layout;  // null where no paged cache is written
} kvexact_launch;

// What a backend says about itself. The harness hands it over zeroed, with struct_size set.
typedef struct kvexact_backend_info {
  uint32_t struct_size;
  int32_t memory;     // enum kvexact_memory: where tensors must lie
  int32_t bit_exact;  // 1: claims to equal the strict model byte for byte
  int32_t reserved;
  const char* name;     // required
  const char* version;  // may be null
  const char* device;   // may be null
  const char* policy;   // for NaN and infinities; null: "poisoned"
  const char* budget;   // a looser error budget that the backend asks for; null: none
} kvexact_backend_info;

typedef struct kvexact_create_args {
  uint32_t struct_size;
  int32_t device;  // CUDA ordinal; 0 for host memory
} kvexact_create_args;

// Defined by the backend.
typedef struct kvexact_backend kvexact_backend;

// No function may let a C++ exception escape or call exit().
typedef struct kvexact_backend_api {
  uint32_t struct_size;
  uint32_t abi_version;  // KVEXACT_ABI_VERSION

  // Fills *info.
  int32_t (*describe)(kvexact_backend_info* info);

  // Sets *backend to a new handle, to be given to destroy once.
  int32_t (*create)(const kvexact_create_args* args, kvexact_backend** backend);

  // Whether `run` would serve this configuration: parameters, shapes, strides and types are set, data is null.
  int32_t (*supports)(kvexact_backend* backend, const kvexact_launch* launch);

  // Runs the launch. With CUDA memory it only enqueues on `stream` (a cudaStream_t) and neither synchronises nor
  // uses another stream without ordering it; with host memory `stream` is null and the work is done on return.
  // Writes nothing but what the operation stores.
  int32_t (*run)(kvexact_backend* backend, const kvexact_launch* launch, void* stream);

  // Why the last call on this handle did not return KVEXACT_OK; valid until the next call. With a null handle:
  // why describe or create failed. Null or empty if there is nothing to say.
  const char* (*last_error)(const kvexact_backend* backend);

  void (*destroy)(kvexact_backend* backend);
} kvexact_backend_api;

// The exported symbol. Returns a table that lives as long as the library, or null if the library does not speak
// `abi_version`.
KVEXACT_EXPORT const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version);
typedef const kvexact_backend_api* (*kvexact_backend_get_api_fn)(uint32_t abi_version);
#define KVEXACT_BACKEND_SYMBOL "kvexact_backend_get_api"

// The tensor of that name; null if the launch has none.
static inline const kvexact_tensor* kvexact_find_tensor(const kvexact_launch* launch, const char* name) {
  for (uint32_t i = 0; i < launch->num_tensors; ++i) {
    if (strcmp(launch->tensors[i]->name, name) == 0) return launch->tensors[i];
  }
  return NULL;
}

#ifdef __cplusplus
}
#endif

#endif  // KVEXACT_BACKEND_H_
// NOLINTEND(modernize-*)
