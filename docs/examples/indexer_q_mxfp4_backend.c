// SPDX-License-Identifier: Apache-2.0
// A complete backend in C: the indexer's Q to MXFP4, one element after another. Copy it, keep the second half, and
// put your kernel in place of quantise_head.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kvexact_backend.h"

// ---- the implementation under test --------------------------------------------------------------

static float from_bf16(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float x;
  memcpy(&x, &wide, sizeof x);
  return x;
}

static uint16_t to_bf16(float x) {
  uint32_t bits;
  if (isnan(x)) return 0x7FFF;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// Nearest even, saturating at 6; NaN is 7.
static uint8_t to_e2m1(float x) {
  const float a = fabsf(x);
  if (isnan(x)) return 7;
  const int code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) + (a >= 3.5f) + (a > 5.0f);
  return (uint8_t)(code | (signbit(x) ? 8 : 0));
}

// Smallest e in [-127, 127] with amax <= 6 * 2^e; amax > 0.
static int scale_exponent(float amax) {
  int e;
  if (isinf(amax)) return 127;
  const float fraction = frexpf(amax / 6.0f, &e);  // in [0.5, 1)
  return fraction == 0.5f ? e - 1 : e;
}

// cos_sin: rope / 2 cosines, then as many sines. 32 elements share a scale.
static void quantise_head(const uint16_t* q, int64_t head_dim, int64_t rope, const float* cos_sin, uint8_t* packed,
                          uint8_t* scales) {
  for (int64_t block = 0; block < head_dim; block += 32) {
    float x[32];
    float amax = 6.0f * 0x1p-126f;
    for (int64_t i = 0; i < 32; i += 2) {
      const int64_t pair = (block + i - (head_dim - rope)) / 2;
      x[i] = from_bf16(q[block + i]);
      x[i + 1] = from_bf16(q[block + i + 1]);
      if (block + i >= head_dim - rope) {
        const float cosine = cos_sin[pair], sine = cos_sin[rope / 2 + pair];
        const float even = x[i], odd = x[i + 1];
        x[i] = from_bf16(to_bf16(even * cosine - odd * sine));
        x[i + 1] = from_bf16(to_bf16(odd * cosine + even * sine));
      }
      amax = fmaxf(amax, fmaxf(fabsf(x[i]), fabsf(x[i + 1])));
    }
    const int e = scale_exponent(amax);
    *scales++ = (uint8_t)(e + 127);
    for (int i = 0; i < 32; i += 2) {
      *packed++ = (uint8_t)(to_e2m1(ldexpf(x[i], -e)) | to_e2m1(ldexpf(x[i + 1], -e)) << 4);
    }
  }
}

// ---- the interface ------------------------------------------------------------------------------

struct kvexact_backend {
  const char* error;
};

static int32_t describe(kvexact_backend_info* info) {
  info->memory = KVEXACT_MEMORY_HOST;
  info->name = "c-example";
  info->version = "1";
  info->device = "CPU";
  info->policy = "seed";
  return KVEXACT_OK;
}

static int32_t create(const kvexact_create_args* args, kvexact_backend** backend) {
  (void)args;
  *backend = calloc(1, sizeof **backend);
  return *backend != NULL ? KVEXACT_OK : KVEXACT_ERROR;
}

static int32_t supports(kvexact_backend* backend, const kvexact_launch* launch) {
  if (launch->params->operation == KVEXACT_INDEXER_Q_MXFP4 &&
      kvexact_find_tensor(launch, "cos_sin_cache")->dtype == KVEXACT_F32) {
    return KVEXACT_OK;
  }
  backend->error = "only indexer_q_mxfp4 with an fp32 cos/sin table";
  return KVEXACT_UNSUPPORTED;
}

// Row-major tensors whose innermost stride is 1, as the harness gives them.
static int32_t run(kvexact_backend* backend, const kvexact_launch* launch, void* stream) {
  const kvexact_params* p = launch->params;
  const int64_t* positions = kvexact_find_tensor(launch, "positions")->data;
  const kvexact_tensor* q = kvexact_find_tensor(launch, "index_q");
  const kvexact_tensor* table = kvexact_find_tensor(launch, "cos_sin_cache");
  const kvexact_tensor* weights = kvexact_find_tensor(launch, "index_weights");
  const kvexact_tensor* packed = kvexact_find_tensor(launch, "q_packed");
  const kvexact_tensor* scales = kvexact_find_tensor(launch, "q_scale");
  const kvexact_tensor* weights_out = kvexact_find_tensor(launch, "weights_out");
  (void)backend;
  (void)stream;
  for (int64_t t = 0; t < p->num_actual; ++t) {
    for (int64_t h = 0; h < q->shape[1]; ++h) {
      const int64_t w = t * weights->strides[0] + h * weights->strides[1];
      const int64_t out = t * weights_out->strides[0] + h * weights_out->strides[1];
      float weight = weights->dtype == KVEXACT_BF16 ? from_bf16(((const uint16_t*)weights->data)[w])
                                                    : ((const float*)weights->data)[w];
      weight = weight * p->softmax_scale * p->head_scale;
      if (weights_out->dtype == KVEXACT_BF16) {
        ((uint16_t*)weights_out->data)[out] = to_bf16(weight);
      } else {
        ((float*)weights_out->data)[out] = weight;
      }
      quantise_head((const uint16_t*)q->data + t * q->strides[0] + h * q->strides[1], p->head_dim, p->rope_head_dim,
                    (const float*)table->data + positions[t] * table->strides[0],
                    (uint8_t*)packed->data + t * packed->strides[0] + h * packed->strides[1],
                    (uint8_t*)scales->data + t * scales->strides[0] + h * scales->strides[1]);
    }
  }
  return KVEXACT_OK;
}

static const char* last_error(const kvexact_backend* backend) { return backend != NULL ? backend->error : "no memory"; }

static void destroy(kvexact_backend* backend) { free(backend); }

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static const kvexact_backend_api api = {
      sizeof(kvexact_backend_api), KVEXACT_ABI_VERSION, describe, create, supports, run, last_error, destroy};
  return abi_version == KVEXACT_ABI_VERSION ? &api : NULL;
}
