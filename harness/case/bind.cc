// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "harness/case/case.h"
#include "harness/case/schema.h"

namespace kvexact {
namespace {

std::vector<float> WidenedIfBf16(const Tensor& tensor) {
  std::vector<float> values;
  if (tensor.dtype() != DType::kBf16) return values;
  values.reserve(static_cast<std::size_t>(tensor.elements()));
  const std::uint16_t* bits = tensor.as<std::uint16_t>();
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits[i]) << 16));
  }
  return values;
}

const float* FloatsOf(const Tensor& tensor, const std::vector<float>& widened) {
  return tensor.dtype() == DType::kBf16 ? widened.data() : tensor.as<float>();
}

template <class T>
VectorView<T> Vector(const TensorMap& tensors, const char* name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) return VectorView<T>(nullptr, 0);
  return VectorView<T>(found->second.as<T>(), found->second.elements());
}

template <class T>
MatrixView<T> EmptyMatrix() {
  return MatrixView<T>(nullptr, 0, 0, Eigen::OuterStride<>(0));
}

template <class T>
MatrixView<T> MatrixOver(const T* values, std::int64_t rows, std::int64_t columns) {
  return MatrixView<T>(values, rows, columns, Eigen::OuterStride<>(columns));
}

template <class T>
MatrixView<T> Matrix(const TensorMap& tensors, const char* name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) return EmptyMatrix<T>();
  const Tensor& tensor = found->second;
  return MatrixOver(tensor.as<T>(), tensor.dim(0), tensor.dim(1));
}

VectorView<float> NormWeight(const Case& c, const std::vector<float>& widened) {
  const auto found = c.inputs.find("rms_norm_weight");
  if (found == c.inputs.end()) return VectorView<float>(nullptr, 0);
  return VectorView<float>(FloatsOf(found->second, widened), found->second.elements());
}

std::vector<float> WidenedNormWeight(const Case& c) {
  const auto found = c.inputs.find("rms_norm_weight");
  return found == c.inputs.end() ? std::vector<float>() : WidenedIfBf16(found->second);
}

QCodes CodesOf(const Case& c) {
  if (c.op == spec::Operation::kIndexerQMxfp4) return QCodes::kE2M1;
  return c.params.q_fnuz ? QCodes::kE4M3Fnuz : QCodes::kE4M3Fn;
}

std::uint8_t* BytesOf(TensorMap& outputs, const char* name) {
  const auto found = outputs.find(name);
  return found == outputs.end() ? nullptr : found->second.bytes();
}

}  // namespace

CompressBinding::CompressBinding(const Case& c)
    : norm_weight_(WidenedNormWeight(c)),
      inputs_{
          .op = c.op,
          .head_dim = c.params.head_dim,
          .rope_head_dim = c.params.rope_head_dim,
          .ratio = c.params.compress_ratio,
          .overlap = c.params.overlap,
          .block_size = c.params.block_size,
          .state_width = c.params.state_width,
          .state_row_stride = c.params.state_row_stride,
          .rms_norm_eps = static_cast<float>(c.params.rms_norm_eps),
          .num_actual = c.params.num_actual,
          .num_decode_tokens = c.params.num_decode_tokens,
          .num_splits = c.params.num_splits,
          .state_cache = Matrix<float>(c.inputs, "state_cache"),
          .token_to_req = Vector<std::int32_t>(c.inputs, "token_to_req_indices"),
          .positions = Vector<std::int64_t>(c.inputs, "positions"),
          .slot_mapping = Vector<std::int64_t>(c.inputs, "slot_mapping"),
          .kv_slot_mapping = Vector<std::int64_t>(c.inputs, "kv_slot_mapping"),
          .block_table = Matrix<std::int32_t>(c.inputs, "block_table"),
          .norm_weight = NormWeight(c, norm_weight_),
          .cos_sin = Matrix<float>(c.inputs, "cos_sin_cache"),
          .scratch = Matrix<float>(c.inputs, "scratch"),
      } {}

IndexerQBinding::IndexerQBinding(const Case& c)
    : cos_sin_(WidenedIfBf16(c.inputs.at("cos_sin_cache"))),
      weights_(WidenedIfBf16(c.inputs.at("index_weights"))),
      inputs_{
          .codes = CodesOf(c),
          .tokens = c.inputs.at("index_q").dim(0),
          .heads = c.inputs.at("index_q").dim(1),
          .head_dim = c.params.head_dim,
          .rope_head_dim = c.params.rope_head_dim,
          .num_actual = c.params.num_actual,
          .softmax_scale = static_cast<float>(c.params.softmax_scale),
          .head_scale = static_cast<float>(c.params.head_scale),
          .weights_out_bf16 = c.outputs_before.at("weights_out").dtype() == DType::kBf16,
          .positions = Vector<std::int64_t>(c.inputs, "positions"),
          .q = MatrixOver(c.inputs.at("index_q").as<std::uint16_t>(),
                          c.inputs.at("index_q").dim(0) * c.inputs.at("index_q").dim(1), c.params.head_dim),
          .cos_sin = MatrixOver(FloatsOf(c.inputs.at("cos_sin_cache"), cos_sin_), c.inputs.at("cos_sin_cache").dim(0),
                                c.inputs.at("cos_sin_cache").dim(1)),
          .weights = MatrixOver(FloatsOf(c.inputs.at("index_weights"), weights_), c.inputs.at("index_weights").dim(0),
                                c.inputs.at("index_weights").dim(1)),
      } {}

CompressOutputs BindCompressOutputs(const Case& c, TensorMap& outputs) {
  CompressOutputs bound;
  bound.cache = CacheOf(c);
  bound.cache_bytes = BytesOf(outputs, "kv_cache");
  const auto scratch = outputs.find("scratch");
  if (scratch != outputs.end()) {
    bound.scratch = scratch->second.as<float>();
    bound.scratch_stride = scratch->second.dim(1);
  }
  return bound;
}

IndexerQOutputs BindIndexerQOutputs(const Case& c, TensorMap& outputs) {
  IndexerQOutputs bound;
  bound.codes = BytesOf(outputs, c.op == spec::Operation::kIndexerQFp8 ? "q_fp8" : "q_packed");
  bound.scales = BytesOf(outputs, "q_scale");
  bound.weights = BytesOf(outputs, "weights_out");
  return bound;
}

spec::PagedCache CacheOf(const Case& c) {
  if (c.row().layout == nullptr) return {spec::Layout{}, 1, 0, 0, 0};
  const spec::Layout* named = schema::LayoutNamed(c.params.layout);
  spec::Layout layout = named != nullptr ? *named : *c.row().layout;
  layout.token_stride = static_cast<int>(c.params.token_stride);
  layout.scale_stride = static_cast<int>(c.params.scale_dim);
  const Tensor& cache = c.outputs_before.at("kv_cache");
  return {layout, c.params.kv_cache_block_size, cache.dim(1), c.params.kv_cache_base_offset, cache.dim(0)};
}

}  // namespace kvexact
