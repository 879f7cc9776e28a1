// SPDX-License-Identifier: Apache-2.0
#include "harness/report/junit_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/report/markup.h"

namespace kvexact {
namespace {

constexpr std::size_t kMostText = 60000;  // characters of one failure's text

// The lines of `text` as character data.
std::string Lines(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size() && out.size() < kMostText;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += MarkupText(std::string_view(text).substr(begin, end - begin), 4000) + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

void JunitSuite::Fail(const std::string& test, const std::string& type, const std::string& message,
                      const std::string& text) {
  ++failures_;
  Add(test, fmt::format("      <failure type=\"{}\" message=\"{}\">\n{}      </failure>\n", MarkupText(type),
                        MarkupText(message), Lines(text)));
}

void JunitSuite::Skip(const std::string& test, const std::string& message) {
  ++skipped_;
  Add(test, fmt::format("      <skipped message=\"{}\"/>\n", MarkupText(message)));
}

void JunitSuite::Break(const std::string& test, const std::string& message) {
  ++errors_;
  Add(test, fmt::format("      <error type=\"input\" message=\"{}\"/>\n", MarkupText(message)));
}

std::string JunitSuite::Text(const std::string& timestamp) const {
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\" "
      "timestamp=\"{}\">\n{}  </testsuite>\n",
      MarkupText(name_), tests_, failures_, errors_, skipped_, MarkupText(timestamp), text_);
}

void JunitSuite::Add(const std::string& test, const std::string& body) {
  ++tests_;
  text_ +=
      fmt::format("    <testcase classname=\"kvexact.{}\" name=\"{}\" time=\"0\"", MarkupText(name_), MarkupText(test));
  text_ += body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n";
}

std::string JunitDocument(const std::vector<JunitSuite>& suites, const std::string& timestamp, double seconds) {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string text;
  for (const JunitSuite& suite : suites) {
    if (suite.tests() == 0) continue;
    tests += suite.tests();
    failures += suite.failures();
    errors += suite.errors();
    skipped += suite.skipped();
    text += suite.Text(timestamp);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kvexact\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
      tests, failures, errors, skipped, seconds, text);
}

}  // namespace kvexact
