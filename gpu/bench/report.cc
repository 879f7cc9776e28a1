// SPDX-License-Identifier: Apache-2.0
#include "gpu/bench/report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kvexact::gpu::bench {
namespace {

double Rounded(double x) { return static_cast<double>(static_cast<std::int64_t>(x * 1e4 + 0.5)) / 1e4; }

const Row* Find(const std::vector<Row>& rows, const Row& like, const std::string& variant) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.kernel == like.kernel && row.mode == like.mode && row.tokens == like.tokens && row.variant == variant;
  });
  return found == rows.end() ? nullptr : &*found;
}

// The faster of the peers that do the workload; a two-stage path does the same as the single one.
const Row* BestPeer(const std::vector<Row>& peers, const Row& like) {
  const Row* best = nullptr;
  for (const Row& row : peers) {
    if (row.kernel != like.kernel && row.kernel != like.kernel + "_two_stage") continue;
    if (row.mode != like.mode || row.tokens != like.tokens) continue;
    if (best == nullptr || row.us < best->us) best = &row;
  }
  return best;
}

}  // namespace

std::string JsonLine(const Row& row, const Limits& limits) {
  nlohmann::ordered_json line;
  line["kernel"] = row.kernel;
  line["mode"] = row.mode;
  line["variant"] = row.variant;
  line["tokens"] = row.tokens;
  line["compressed"] = row.compressed;
  line["bytes"] = row.bytes;
  line["us"] = Rounded(row.us);
  line["ratio"] = Rounded(limits.For(row.bytes) / row.us);
  line["limit_us"] = Rounded(limits.For(row.bytes));
  return line.dump();
}

std::vector<Row> ReadPeers(const std::string& path, Limits& limits) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<Row> rows;
  std::string text;
  double empty = 0;
  for (std::int64_t number = 1; std::getline(file, text); ++number) {
    try {
      const auto line = nlohmann::json::parse(text);
      Row row{line.at("kernel"),     line.at("mode"),  "",           line.at("tokens"),
              line.at("compressed"), line.at("bytes"), line.at("us")};
      if (row.kernel == "empty") empty = row.us;
      if (row.kernel == "copy") {
        limits.bandwidth = std::max(limits.bandwidth, static_cast<double>(row.bytes) / ((row.us - empty) * 1e-6));
      }
      rows.push_back(std::move(row));
    } catch (const nlohmann::json::exception& e) {
      throw std::runtime_error(path + " line " + std::to_string(number) + ": " + e.what());
    }
  }
  if (empty > 0) limits.empty_us = std::min(limits.empty_us, empty);
  return rows;
}

void PrintTable(const std::vector<Row>& rows, const std::vector<Row>& peers, const Limits& limits) {
  std::printf("empty launch %.3f us, copy %.3f TB/s; ratio = (empty launch + bytes / copy) / time\n", limits.empty_us,
              limits.bandwidth * 1e-12);
  std::printf("%-16s %-8s %6s %9s %8s %7s %9s %8s %8s %9s %8s\n", "kernel", "mode", "tokens", "limit us", "us", "ratio",
              "over empty", "fast us", "probe us", "peer us", "ratio");
  for (const Row& row : rows) {
    if (row.variant != "strict") continue;
    const double limit = limits.For(row.bytes);
    const auto time = [](const Row* r) { return r == nullptr ? 0.0 : r->us; };
    const Row* peer = BestPeer(peers, row);
    std::printf("%-16s %-8s %6lld %9.2f %8.2f %7.3f %9.2f %8.2f %8.2f %9.2f %8.3f\n", row.kernel.c_str(),
                row.mode.c_str(), static_cast<long long>(row.tokens), limit, row.us, limit / row.us,
                row.us - limits.empty_us, time(Find(rows, row, "fast")), time(Find(rows, row, "probe")), time(peer),
                peer == nullptr ? 0.0 : limit / peer->us);
  }
}

}  // namespace kvexact::gpu::bench
