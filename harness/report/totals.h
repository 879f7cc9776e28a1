// SPDX-License-Identifier: Apache-2.0
// The table of operations, as every printer shows it.
#pragma once

#include <string>
#include <vector>

#include "harness/report/report.h"

namespace kvexact {

// Columns of the table: the first two are names, the others numbers.
std::vector<std::string> TotalsHeader();
std::vector<std::string> TotalsCells(const std::string& name, const ReportRow& row);
// What the columns with a percent sign mean.
const char* TotalsNote();

// "I/N".
std::string ShardText(const Shard& shard);

// "verify NAME (version; device): policy P, budget B, seed N, ...", without a line break.
std::string RunText(const RunDescription& description);
// "kvexact 0.1.0 (revision R, COMPILER, TYPE)".
std::string EnvironmentText(const Environment& environment);

// What is wrong with a case, in one line: "12 wrong, 3 touched of 512 elements", or its status and message.
std::string CountsText(const CaseResult& result);
// "code 17 of token 3 (kv_cache byte 1234)".
std::string PlaceText(const Problem& problem);
const char* NameOf(Problem::What what);

// Remarks that are no failures, one a line without its end: drift, what was unsupported, unreadable, required and
// missing, shards that are missing.
std::vector<std::string> Remarks(const Report& report);

}  // namespace kvexact
