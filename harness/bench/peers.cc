// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/peers.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/case/input_error.h"
#include "harness/case/strict_json.h"

namespace kvexact::bench {
namespace {

struct Line {
  PeerRow row;
  std::string device;
  std::int64_t bytes = 0;
};

Line ParseLine(const std::string& text, const std::string& place) {
  Line line;
  const auto json = ParseJson(text, place);
  if (!json.is_object()) throw InputError(place, "line", "must be a JSON object");
  const auto take = [&](const char* field, bool right, auto& value) {
    if (!right) throw InputError(place, field, "is missing or of a wrong type");
    json.at(field).get_to(value);
  };
  const auto number = [&](const char* field) { return json.contains(field) && json[field].is_number(); };
  const auto integer = [&](const char* field) { return json.contains(field) && json[field].is_number_integer(); };
  const auto text_field = [&](const char* field) { return json.contains(field) && json[field].is_string(); };
  take("kernel", text_field("kernel"), line.row.kernel);
  take("mode", text_field("mode"), line.row.mode);
  take("tokens", integer("tokens"), line.row.tokens);
  take("bytes", integer("bytes"), line.bytes);
  take("us", number("us"), line.row.us);
  if (json.contains("device")) take("device", text_field("device"), line.device);
  if (!(line.row.us > 0)) throw InputError(place, "us", "must be above zero");
  return line;
}

}  // namespace

std::optional<double> Peers::Best(const WorkloadRow& row) const {
  std::optional<double> best;
  for (const PeerRow& peer : rows) {
    if (peer.kernel != row.kernel && peer.kernel != row.kernel + "_two_stage") continue;
    if (peer.mode != row.mode || peer.tokens != row.tokens) continue;
    best = std::min(best.value_or(peer.us), peer.us);
  }
  return best;
}

Peers ReadPeers(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path, "file", "cannot be read");
  Peers peers;
  std::optional<double> empty;
  std::optional<Line> copy;
  std::string text;
  for (std::int64_t number = 1; std::getline(file, text); ++number) {
    const Line line = ParseLine(text, path + " line " + std::to_string(number));
    if (line.row.kernel == "empty") {
      empty = line.row.us;
      peers.device = line.device;
    } else if (line.row.kernel == "copy") {
      copy = line;
    } else {
      peers.rows.push_back(line.row);
    }
  }
  if (peers.rows.empty()) throw InputError(path, "file", "has no rows");
  if (empty && copy && copy->row.us > *empty) {
    peers.limits = Limits{*empty, static_cast<double>(copy->bytes) / ((copy->row.us - *empty) * 1e-6)};
  }
  return peers;
}

}  // namespace kvexact::bench
