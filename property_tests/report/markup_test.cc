// SPDX-License-Identifier: Apache-2.0
// What a subject says may be anything: it never becomes markup.
#include "harness/report/markup.h"

#include <gtest/gtest.h>

#include "harness/report/html.h"
#include "harness/report/junit.h"
#include "harness/report/report_markdown.h"
#include "property_tests/report/hand_made.h"

namespace kvexact {
namespace {

constexpr const char* kHostile = "</pre><script>alert(1)</script>\"' ]]> &amp; `````` | \x01\n\xff";

Report HostileReport() {
  RunDescription description = HandMadeDescription();
  description.subject = kHostile;
  description.version = kHostile;
  description.device = kHostile;
  Report report = HandMadeReport(description);
  CaseResult result = WrongResult(kHostile, spec::Operation::kSparseAttn, 8);
  result.verdict.problems[0].buffer = kHostile;
  result.verdict.problems[0].observed = kHostile;
  report.Add(result, {});
  report.Add(StatusResult(CaseStatus::kCrashed, kHostile), {});
  report.Add(StatusResult(CaseStatus::kUnsupported, kHostile), {});
  report.Add(StatusResult(CaseStatus::kUnreadable, kHostile), {});
  return report;
}

TEST(Markup, MarkupCharactersBecomeEntities) {
  EXPECT_EQ(MarkupText("a<b>&\"'\n\xc3"), "a&lt;b&gt;&amp;&quot;&#39;\\x0a\\xc3");
  EXPECT_EQ(MarkupText("abcdef", 3), "abc...");
}

TEST(Markup, MarkdownPunctuationIsEscaped) { EXPECT_EQ(MarkdownText("a|b*[c](d)`"), "a\\|b\\*\\[c\\]\\(d\\)\\`"); }

TEST(Markup, AFenceIsLongerThanEveryRunOfBackticks) {
  EXPECT_EQ(MarkdownCode("a ```` b"), "`````\na ```` b\n`````\n");
  EXPECT_EQ(MarkdownCode("plain"), "```\nplain\n```\n");
}

TEST(Markup, HostileTextsStayTexts) {
  const Report report = HostileReport();
  for (const std::string& text : {ReportHtml(report), ReportJunit(report), ReportMarkdown(report)}) {
    EXPECT_EQ(text.find('\x01'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
  // In Markdown it may stand in a block of code, where it is text.
  for (const std::string& text : {ReportHtml(report), ReportJunit(report)}) {
    EXPECT_EQ(text.find("<script"), std::string::npos);
    EXPECT_EQ(text.find("]]>"), std::string::npos);
  }
}

TEST(ReportHtml, AThousandFailuresFitInAMegabyte) {
  Report report = HandMadeReport();
  CaseResult result = WrongResult(std::string(1500, 'x'), spec::Operation::kSparseAttn, 448);
  result.verdict.problems.resize(64, result.verdict.problems.front());
  for (int i = 0; i < 1000; ++i) report.Add(result, {});
  ASSERT_EQ(report.failures().size(), 1000U);
  const std::string html = ReportHtml(report);
  EXPECT_LT(html.size(), kMaxHtml);
  EXPECT_NE(html.find("Failing cases: 1000"), std::string::npos);
  EXPECT_LT(ReportMarkdown(report).size(), 200000U);
}

TEST(ReportHtml, AMapDrawsEachVerdictOnce) {
  FailureMap map;
  map.sections = {{ElementKind::kCode, 6}, {ElementKind::kScale, 2}};
  map.rows = {{3, -1, "eewwaeee"}, {7, -1, "nnnnnnnn"}};
  map.right_rows = 5;
  map.touched = {{"kv_cache", 10, 14}};
  const std::string html = MapHtml(map);
  for (const char* text : {">6 code<", ">2 scale<", ">3<", ">7<", "5 rows are right", "kv_cache bytes 10 to 13",
                           "<path class=\"e\"", "<path class=\"a\"", "<path class=\"w\"", "<path class=\"n\""}) {
    EXPECT_NE(html.find(text), std::string::npos) << text << " in " << html;
  }
  EXPECT_EQ(html.find("<path class=\"u\""), std::string::npos);
}

TEST(FailureMap, RunsGoBothWays) {
  const std::string cells = std::string(448, 'e') + "www" + std::string(61, 'a');
  EXPECT_EQ(RunsOf(cells), "448e3w61a");
  EXPECT_EQ(CellsOf("448e3w61a"), cells);
  EXPECT_EQ(CellsOf(""), "");
  for (const char* bad : {"e", "3", "3x", "0e", "-1e", "3e4", "9999999e", "1048576e1e"}) {
    EXPECT_THROW(CellsOf(bad), InputError) << bad;
  }
}

}  // namespace
}  // namespace kvexact
