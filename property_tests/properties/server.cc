// SPDX-License-Identifier: Apache-2.0
#include "property_tests/properties/server.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "harness/generate/counter_hash.h"
#include "harness/generate/values.h"

namespace kvexact::properties {
namespace {

constexpr std::int32_t kNowhere = 1 << 30;
enum : std::uint64_t { kKv = 1, kScore, kAngle, kWeight };

Tensor Filled(std::vector<std::int64_t> shape, float value) {
  Tensor tensor(DType::kF32, std::move(shape));
  std::fill_n(tensor.as<float>(), tensor.elements(), value);
  return tensor;
}

template <class T>
std::vector<T> Descending(std::int64_t n) {
  std::vector<T> numbers;
  for (std::int64_t i = n; i-- > 0;) numbers.push_back(static_cast<T>(i));
  return numbers;
}

template <class T>
T TakeLast(std::vector<T>& from) {
  const T last = from.back();
  from.pop_back();
  return last;
}

template <class T>
Tensor Array(DType type, const std::vector<T>& values) {
  Tensor tensor(type, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<T>());
  return tensor;
}

}  // namespace

Server::Server(Backend& backend, const Configuration& config, std::uint64_t seed)
    : backend_(backend), config_(config), shape_(generate::ShapeOf(config)), seed_(seed) {
  angles_ = Tensor(DType::kF32, {capacity(), shape_.angle_columns});
  for (std::int64_t p = 0; p < capacity(); ++p) {
    generate::FillAngles(generate::AngleKind::kUnit,
                         generate::StreamKey(seed_, {kAngle, static_cast<std::uint64_t>(p)}), config_.rope,
                         {angles_.as<float>() + p * shape_.angle_columns, static_cast<std::size_t>(config_.rope)});
  }
  weight_ = Tensor(DType::kF32, {shape_.head_dim});
  generate::FillValues(generate::ValueKind::kNearOne, {generate::StreamKey(seed_, {kWeight}), 0}, 64,
                       {weight_.as<float>(), static_cast<std::size_t>(shape_.head_dim)});
  state_ = Filled({kStateBlocks, shape_.block_stride}, std::numeric_limits<float>::quiet_NaN());
  table_ = Tensor(DType::kI32, {kRequestRows, kTableColumns});
  std::fill_n(table_.as<std::int32_t>(), table_.elements(), kNowhere);
  cache_ = Tensor(DType::kU8, {kCachePages, shape_.page_stride});
  for (std::int64_t i = 0; i < cache_.size_bytes(); ++i) {
    cache_.bytes()[i] = static_cast<std::uint8_t>(generate::At(seed_, static_cast<std::uint64_t>(i)));
  }
  expected_ = cache_;
  free_rows_ = Descending<std::int64_t>(kRequestRows);
  free_blocks_ = Descending<std::int32_t>(kStateBlocks);
  free_slots_ = Descending<std::int64_t>(kCachePages * config_.page);
}

void Server::Admit(int request) { requests_[request].row = TakeLast(free_rows_); }

// A row of the state cache: KV and score of every half, the same for the same request and position.
void Server::WriteState(Tensor& state, std::int64_t block, int request, std::int64_t position) const {
  float* row = state.as<float>() + block * shape_.block_stride + position % config_.block * shape_.state_row_stride;
  const auto columns = static_cast<std::size_t>(shape_.head_dim * shape_.halves);
  const auto key = [&](std::uint64_t what) {
    return generate::StreamKey(seed_,
                               {what, static_cast<std::uint64_t>(request), static_cast<std::uint64_t>(position)});
  };
  generate::FillValues(generate::ValueKind::kNormal, {key(kKv), position}, 64, {row, columns});
  generate::FillValues(generate::ValueKind::kNormal, {key(kScore), position}, 64, {row + shape_.state_width, columns});
}

Server::Token Server::Append(int id) {
  Request& request = requests_.at(id);
  const std::int64_t position = request.length++;
  if (position % config_.block == 0) {
    request.blocks.push_back(TakeLast(free_blocks_));
    table_.as<std::int32_t>()[request.row * kTableColumns + position / config_.block] = request.blocks.back();
  }
  WriteState(state_, request.blocks.back(), id, position);
  if ((position + 1) % config_.ratio != 0) return {id, position, -1};
  request.slots.push_back(TakeLast(free_slots_));
  return {id, position, request.slots.back()};
}

Case Server::CaseOf(const std::vector<Token>& tokens, const Tensor& state, const Tensor& table,
                    const Tensor& cache) const {
  Case c;
  c.name = "launch";
  c.op = config_.op;
  Params& p = c.params;
  p.head_dim = shape_.head_dim;
  p.rope_head_dim = config_.rope;
  p.compress_ratio = config_.ratio;
  p.overlap = config_.overlap;
  p.block_size = config_.block;
  p.state_width = shape_.state_width;
  p.state_row_stride = shape_.state_row_stride;
  p.quant_block = shape_.layout.quant_block;
  p.token_stride = shape_.layout.token_stride;
  p.scale_dim = shape_.layout.scale_stride;
  p.kv_cache_block_size = config_.page;
  p.kv_cache_base_offset = config_.base;
  p.num_actual = static_cast<std::int64_t>(tokens.size());
  std::vector<std::int64_t> positions;
  std::vector<std::int64_t> slots;
  std::vector<std::int64_t> kv_slots;
  std::vector<std::int32_t> requests;
  const bool alone = table.dim(0) == 1;
  for (const Token& token : tokens) {
    const std::int64_t row = alone ? 0 : requests_.at(token.request).row;
    const std::int64_t column = token.position / config_.block;
    positions.push_back(token.position);
    requests.push_back(static_cast<std::int32_t>(row));
    slots.push_back(table.as<std::int32_t>()[row * table.dim(1) + column] * config_.block +
                    token.position % config_.block);
    kv_slots.push_back(token.kv_slot);
  }
  c.inputs["positions"] = Array(DType::kI64, positions);
  c.inputs["slot_mapping"] = Array(DType::kI64, slots);
  c.inputs["kv_slot_mapping"] = Array(DType::kI64, kv_slots);
  c.inputs["token_to_req_indices"] = Array(DType::kI32, requests);
  c.inputs["block_table"] = table;
  c.inputs["state_cache"] = state;
  c.inputs["rms_norm_weight"] = weight_;
  c.inputs["cos_sin_cache"] = angles_;
  c.outputs_before["kv_cache"] = cache;
  Check(c);
  return c;
}

void Server::StoreAlone(const Token& token, Tensor& cache) {
  // Only the token's window, at blocks in their logical order.
  const std::int64_t columns = token.position / config_.block + 1;
  Tensor state = Filled({columns, shape_.block_stride}, std::numeric_limits<float>::quiet_NaN());
  Tensor table(DType::kI32, {1, columns});
  for (std::int64_t i = 0; i < columns; ++i) table.as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  const std::int64_t first = std::max<std::int64_t>(token.position - shape_.window_rows + 1, 0);
  for (std::int64_t p = first; p <= token.position; ++p) WriteState(state, p / config_.block, token.request, p);
  const Case c = CaseOf({token}, state, table, cache);
  TensorMap outputs = c.outputs_before;
  RC_ASSERT(backend_.Run(c, outputs).status == RunStatus::kOk);
  cache = outputs.at("kv_cache");
}

void Server::Step(const std::vector<std::pair<int, std::int64_t>>& tokens) {
  std::vector<Token> launch;
  for (const auto& [request, count] : tokens) {
    for (std::int64_t i = 0; i < count; ++i) launch.push_back(Append(request));
  }
  const Case c = CaseOf(launch, state_, table_, cache_);
  TensorMap outputs = c.outputs_before;
  RC_ASSERT(backend_.Run(c, outputs).status == RunStatus::kOk);
  cache_ = outputs.at("kv_cache");
  for (const Token& token : launch) {
    if (token.kv_slot >= 0) StoreAlone(token, expected_);
  }
  RC_ASSERT(cache_ == expected_);
}

void Server::Free(int id) {
  Request& request = requests_.at(id);
  free_rows_.push_back(request.row);
  for (std::int64_t i = 0; i < kTableColumns; ++i) {
    table_.as<std::int32_t>()[request.row * kTableColumns + i] = kNowhere;
  }
  free_blocks_.insert(free_blocks_.end(), request.blocks.begin(), request.blocks.end());
  free_slots_.insert(free_slots_.end(), request.slots.begin(), request.slots.end());
  requests_.erase(id);
}

}  // namespace kvexact::properties
