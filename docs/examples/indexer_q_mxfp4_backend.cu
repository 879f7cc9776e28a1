// SPDX-License-Identifier: Apache-2.0
// A complete backend in CUDA: the indexer's Q to MXFP4, one thread for a block of 32 elements. Copy it, keep the second
// half, and put your kernel in place of quantise.
#include <cuda_bf16.h>

#include <cstdint>
#include <cstdlib>

#include "kvexact_backend.h"

// ---- the implementation under test --------------------------------------------------------------

struct Arguments {
  const int64_t* positions;
  const __nv_bfloat16* q;
  const float* cos_sin;
  int64_t cos_sin_stride;
  const void* weights;
  bool weights_bf16;
  uint8_t* packed;
  uint8_t* scales;
  void* weights_out;
  bool weights_out_bf16;
  int heads, head_dim, rope;
  float softmax_scale, head_scale;
};

// Nearest even, saturating at 6; NaN is 7.
__device__ uint8_t to_e2m1(float x) {
  const float a = fabsf(x);
  if (isnan(x)) return 7;
  const int code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) + (a >= 3.5f) + (a > 5.0f);
  return static_cast<uint8_t>(code | (signbit(x) ? 8 : 0));
}

// Smallest e in [-127, 127] with amax <= 6 * 2^e; amax > 0.
__device__ int scale_exponent(float amax) {
  int e;
  if (isinf(amax)) return 127;
  const float fraction = frexpf(amax / 6.0f, &e);  // in [0.5, 1)
  return fraction == 0.5f ? e - 1 : e;
}

// Grid: tokens * heads blocks of head_dim / 32 threads.
__global__ void quantise(Arguments a) {
  const int64_t row = blockIdx.x;
  const int64_t token = row / a.heads;
  const int block = threadIdx.x;
  const float* table = a.cos_sin + a.positions[token] * a.cos_sin_stride;
  float x[32];
  float amax = 6.0f * 0x1p-126f;
  for (int i = 0; i < 32; i += 2) {
    const int column = block * 32 + i;
    x[i] = __bfloat162float(a.q[row * a.head_dim + column]);
    x[i + 1] = __bfloat162float(a.q[row * a.head_dim + column + 1]);
    const int pair = (column - (a.head_dim - a.rope)) / 2;
    if (column >= a.head_dim - a.rope) {
      const float cosine = table[pair], sine = table[a.rope / 2 + pair];
      const float even = x[i], odd = x[i + 1];
      x[i] = __bfloat162float(__float2bfloat16_rn(even * cosine - odd * sine));
      x[i + 1] = __bfloat162float(__float2bfloat16_rn(odd * cosine + even * sine));
    }
    amax = fmaxf(amax, fmaxf(fabsf(x[i]), fabsf(x[i + 1])));
  }
  const int e = scale_exponent(amax);
  a.scales[row * (a.head_dim / 32) + block] = static_cast<uint8_t>(e + 127);
  for (int i = 0; i < 32; i += 2) {
    a.packed[row * (a.head_dim / 2) + block * 16 + i / 2] =
        static_cast<uint8_t>(to_e2m1(ldexpf(x[i], -e)) | to_e2m1(ldexpf(x[i + 1], -e)) << 4);
  }
  if (block != 0) return;
  float weight = a.weights_bf16 ? __bfloat162float(static_cast<const __nv_bfloat16*>(a.weights)[row])
                                : static_cast<const float*>(a.weights)[row];
  weight = weight * a.softmax_scale * a.head_scale;
  if (a.weights_out_bf16) {
    static_cast<__nv_bfloat16*>(a.weights_out)[row] = __float2bfloat16_rn(weight);
  } else {
    static_cast<float*>(a.weights_out)[row] = weight;
  }
}

// ---- the interface ------------------------------------------------------------------------------

struct kvexact_backend {
  const char* error;
};

static kvexact_backend the_backend;

static int32_t describe(kvexact_backend_info* info) {
  info->memory = KVEXACT_MEMORY_CUDA;
  info->name = "cuda-example";
  info->version = "1";
  info->policy = "seed";
  return KVEXACT_OK;
}

static int32_t create(const kvexact_create_args* args, kvexact_backend** backend) {
  const cudaError_t error = cudaSetDevice(args->device);
  the_backend.error = cudaGetErrorString(error);
  *backend = &the_backend;
  return error == cudaSuccess ? KVEXACT_OK : KVEXACT_ERROR;
}

static int32_t supports(kvexact_backend* backend, const kvexact_launch* launch) {
  if (launch->params->operation == KVEXACT_INDEXER_Q_MXFP4 &&
      kvexact_find_tensor(launch, "cos_sin_cache")->dtype == KVEXACT_F32) {
    return KVEXACT_OK;
  }
  backend->error = "only indexer_q_mxfp4 with an fp32 cos/sin table";
  return KVEXACT_UNSUPPORTED;
}

// Only enqueues: the harness waits for the stream.
static int32_t run(kvexact_backend* backend, const kvexact_launch* launch, void* stream) {
  const kvexact_params* p = launch->params;
  const kvexact_tensor* q = kvexact_find_tensor(launch, "index_q");
  const kvexact_tensor* table = kvexact_find_tensor(launch, "cos_sin_cache");
  const kvexact_tensor* weights = kvexact_find_tensor(launch, "index_weights");
  const kvexact_tensor* weights_out = kvexact_find_tensor(launch, "weights_out");
  const int64_t rows = p->num_actual * q->shape[1];
  if (rows == 0) return KVEXACT_OK;
  const Arguments arguments{static_cast<const int64_t*>(kvexact_find_tensor(launch, "positions")->data),
                            static_cast<const __nv_bfloat16*>(q->data),
                            static_cast<const float*>(table->data),
                            table->strides[0],
                            weights->data,
                            weights->dtype == KVEXACT_BF16,
                            static_cast<uint8_t*>(kvexact_find_tensor(launch, "q_packed")->data),
                            static_cast<uint8_t*>(kvexact_find_tensor(launch, "q_scale")->data),
                            weights_out->data,
                            weights_out->dtype == KVEXACT_BF16,
                            static_cast<int>(q->shape[1]),
                            static_cast<int>(p->head_dim),
                            static_cast<int>(p->rope_head_dim),
                            p->softmax_scale,
                            p->head_scale};
  quantise<<<static_cast<unsigned>(rows), static_cast<unsigned>(p->head_dim / 32), 0,
             static_cast<cudaStream_t>(stream)>>>(arguments);
  const cudaError_t error = cudaGetLastError();
  backend->error = cudaGetErrorString(error);
  return error == cudaSuccess ? KVEXACT_OK : KVEXACT_ERROR;
}

static const char* last_error(const kvexact_backend* backend) {
  return backend != nullptr ? backend->error : the_backend.error;
}

static void destroy(kvexact_backend*) {}

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static const kvexact_backend_api api = {
      sizeof(kvexact_backend_api), KVEXACT_ABI_VERSION, describe, create, supports, run, last_error, destroy};
  return abi_version == KVEXACT_ABI_VERSION ? &api : nullptr;
}
