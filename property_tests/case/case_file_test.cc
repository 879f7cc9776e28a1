// SPDX-License-Identifier: Apache-2.0
#include "harness/case/case_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "harness/case/file_io.h"
#include "property_tests/case/container.h"
#include "property_tests/case/small_cases.h"

namespace kvexact {
namespace {

namespace fs = std::filesystem;
using spec::Operation;
using test::HeaderOf;
using test::Replaced;
using test::SmallCase;
using test::WithHeader;

// A directory of this test alone.
class CaseFile : public testing::Test {
 public:
  CaseFile(const CaseFile&) = delete;
  CaseFile& operator=(const CaseFile&) = delete;

 protected:
  CaseFile() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::path(testing::TempDir()) / (std::string("kvexact_case_") + test.name());
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~CaseFile() override { fs::remove_all(directory_); }
  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

 private:
  fs::path directory_;
};

// The error of a call that must throw one.
template <class Call>
std::string ErrorOf(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

std::vector<Case> SmallCases() {
  std::vector<Case> cases;
  for (const Operation op : test::AllOperations()) {
    cases.push_back(SmallCase(op));
    Case recorded = SmallCase(op);
    recorded.outputs_after = recorded.outputs_before;
    for (auto& [name, tensor] : *recorded.outputs_after) tensor.bytes()[0] ^= 1;
    recorded.notes["recorded_on"] = "a machine, with \"quotes\" and \xC3\xA9";
    cases.push_back(std::move(recorded));
  }
  return cases;
}

TEST(SerializedCase, ParsesToTheSameCase) {
  for (Case& c : SmallCases()) {
    c.name = "stem";
    EXPECT_EQ(ParseCase(SerializeCase(c), "some/where/stem.safetensors"), c) << c.row().name;
  }
}

TEST(SerializedCase, KeepsEveryNumberExactly) {
  Case c = SmallCase(Operation::kTwoStage);
  c.name = "stem";
  c.params.rms_norm_eps = 0x1.2345678abcdefp-30;
  c.params.num_decode_tokens = std::numeric_limits<std::int64_t>::min();
  c.params.kv_cache_base_offset = 4;
  c.params.layout = "sparse_attn";
  EXPECT_EQ(ParseCase(SerializeCase(c), "stem"), c);
  Case q = SmallCase(Operation::kIndexerQFp8);
  q.name = "stem";
  q.params.softmax_scale = 0.1 + 0.2;
  q.params.head_scale = -3.4e38;
  EXPECT_EQ(ParseCase(SerializeCase(q), "stem"), q);
}

TEST(SerializedCase, HasTheSameBytesEachTime) {
  for (const Case& c : SmallCases()) {
    const Case copy = c;
    EXPECT_EQ(SerializeCase(c), SerializeCase(copy));
  }
}

TEST(SerializedCase, MustPassCheck) {
  Case c = SmallCase(Operation::kSparseAttn);
  c.params.rms_norm_eps = 0;
  EXPECT_THROW(SerializeCase(c), InputError);
}

TEST(SerializedCase, MustBeUtf8) {
  Case c = SmallCase(Operation::kSparseAttn);
  c.notes["dist"] = "\xff";
  EXPECT_THROW(SerializeCase(c), InputError);
}

TEST(TruncatedCase, IsRefusedAtEveryLength) {
  for (const Operation op : {Operation::kIndexerMxfp4, Operation::kIndexerQFp8}) {
    const std::vector<std::uint8_t> bytes = SerializeCase(SmallCase(op));
    const std::size_t header_end = 8 + HeaderOf(bytes).size();
    for (std::size_t size = 0; size < bytes.size(); size += size < header_end + 64 ? 1 : 997) {
      EXPECT_THROW(ParseCase(std::span(bytes).first(size), "f"), InputError) << size;
    }
  }
}

TEST(DamagedCase, IsReadOrRefusedWhateverByteChanged) {
  const std::vector<std::uint8_t> bytes = SerializeCase(SmallCase(Operation::kIndexerQMxfp4));
  const std::size_t header_end = 8 + HeaderOf(bytes).size();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < header_end; ++at) {
    for (const std::uint8_t change : {0x01, 0x10, 0x80}) {
      std::vector<std::uint8_t> damaged = bytes;
      damaged[at] ^= change;
      try {
        ParseCase(damaged, "f");
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 2 * header_end);  // names and texts of notes may change, little else
}

struct BadMetadata {
  const char* name;
  Operation op;
  const char* from;  // occurs once in the header
  const char* to;
  const char* field;
};

void PrintTo(const BadMetadata& bad, std::ostream* out) { *out << bad.name; }

class UnusableMetadata : public testing::TestWithParam<BadMetadata> {};

TEST_P(UnusableMetadata, IsRefusedByName) {
  const std::vector<std::uint8_t> bytes = SerializeCase(SmallCase(GetParam().op));
  const std::string header = Replaced(HeaderOf(bytes), GetParam().from, GetParam().to);
  const std::string error = ErrorOf([&] { ParseCase(WithHeader(bytes, header), "dir/file"); });
  EXPECT_TRUE(error.starts_with(std::string("dir/file: ") + GetParam().field + ": ")) << error;
}

const Operation kSparse = Operation::kSparseAttn;
const Operation kQ = Operation::kIndexerQFp8;

INSTANTIATE_TEST_SUITE_P(
    Metadata, UnusableMetadata,
    testing::Values(
        BadMetadata{"schema_other", kSparse, "\"kvexact-case/1\"", "\"kvexact-case/2\"", "schema"},
        BadMetadata{"schema_missing", kSparse, "\"schema\":", "\"scheme\":", "schema"},
        BadMetadata{"op_unknown", kSparse, "\"op\":\"sparse_attn\"", "\"op\":\"dense_attn\"", "op"},
        BadMetadata{"op_missing", kSparse, "\"op\":", "\"operation\":", "op"},
        BadMetadata{"op_of_other_tensors", kSparse, "\"op\":\"sparse_attn\"", "\"op\":\"gather_split\"", "num_splits"},
        BadMetadata{"parameter_missing", kSparse, "\"block_size\":", "\"block_sizes\":", "block_size"},
        BadMetadata{"integer_as_word", kSparse, "\"block_size\":\"2\"", "\"block_size\":\"two\"", "block_size"},
        BadMetadata{"integer_empty", kSparse, "\"block_size\":\"2\"", "\"block_size\":\"\"", "block_size"},
        BadMetadata{"integer_with_space", kSparse, "\"block_size\":\"2\"", "\"block_size\":\" 2\"", "block_size"},
        BadMetadata{"integer_with_fraction", kSparse, "\"block_size\":\"2\"", "\"block_size\":\"2.0\"", "block_size"},
        BadMetadata{"integer_in_hexadecimal", kSparse, "\"block_size\":\"2\"", "\"block_size\":\"0x2\"", "block_size"},
        BadMetadata{"integer_too_long", kSparse, "\"block_size\":\"2\"", "\"block_size\":\"18446744073709551618\"",
                    "block_size"},
        BadMetadata{"integer_not_text", kSparse, "\"block_size\":\"2\"", "\"block_size\":2", "block_size"},
        BadMetadata{"flag_as_number", kSparse, "\"overlap\":\"true\"", "\"overlap\":\"1\"", "overlap"},
        BadMetadata{"flag_in_capitals", kSparse, "\"overlap\":\"true\"", "\"overlap\":\"True\"", "overlap"},
        BadMetadata{"eps_nan", kSparse, "\"rms_norm_eps\":\"1e-06\"", "\"rms_norm_eps\":\"nan\"", "rms_norm_eps"},
        BadMetadata{"eps_infinite", kSparse, "\"rms_norm_eps\":\"1e-06\"", "\"rms_norm_eps\":\"inf\"", "rms_norm_eps"},
        BadMetadata{"eps_zero", kSparse, "\"rms_norm_eps\":\"1e-06\"", "\"rms_norm_eps\":\"0\"", "rms_norm_eps"},
        BadMetadata{"eps_negative", kSparse, "\"rms_norm_eps\":\"1e-06\"", "\"rms_norm_eps\":\"-1\"", "rms_norm_eps"},
        BadMetadata{"eps_beyond_double", kSparse, "\"rms_norm_eps\":\"1e-06\"", "\"rms_norm_eps\":\"1e999\"",
                    "rms_norm_eps"},
        BadMetadata{"eps_as_word", kSparse, "\"rms_norm_eps\":\"1e-06\"", "\"rms_norm_eps\":\"small\"", "rms_norm_eps"},
        BadMetadata{"scale_nan", kQ, "\"softmax_scale\":\"0.1\"", "\"softmax_scale\":\"-nan\"", "softmax_scale"},
        BadMetadata{"scale_infinite", kQ, "\"head_scale\":\"-0.25\"", "\"head_scale\":\"-inf\"", "head_scale"},
        BadMetadata{"fnuz_other", kQ, "\"q_fnuz\":\"true\"", "\"q_fnuz\":\"yes\"", "q_fnuz"},
        BadMetadata{"tensor_missing", kSparse, "\"positions\":", "\"position\":", "position"},
        BadMetadata{"tensor_unknown", kSparse, "\"kv_cache_before\":", "\"kv_cache\":", "kv_cache"},
        BadMetadata{"type_other", kSparse, "\"dtype\":\"U8\"", "\"dtype\":\"F64\"", "kv_cache_before"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ParsedCase, TreatsParametersOfOtherOperationsAsNotes) {
  const std::vector<std::uint8_t> bytes = SerializeCase(SmallCase(kQ));
  const std::string header = Replaced(HeaderOf(bytes), "\"dist\":\"bytes\"", "\"num_splits\":\"many\"");
  const Case c = ParseCase(WithHeader(bytes, header), "f");
  EXPECT_EQ(c.notes.at("num_splits"), "many");
  EXPECT_EQ(c.params.num_splits, 1);
  EXPECT_NO_THROW(SerializeCase(c));
}

TEST_F(CaseFile, IsNamedByItsStem) {
  const Case c = SmallCase(kSparse);
  WriteCaseFile(Path("a.name.safetensors"), c);
  EXPECT_EQ(ReadCaseFile(Path("a.name.safetensors")).name, "a.name");
}

TEST_F(CaseFile, IsReplacedAsAWholeAndLeavesNothingBeside) {
  const Case first = SmallCase(kSparse);
  const Case second = SmallCase(kQ);
  WriteCaseFile(Path("case"), first);
  WriteCaseFile(Path("case"), second);
  EXPECT_EQ(ReadCaseFile(Path("case")).op, kQ);
  EXPECT_EQ(Files(), 1U);
}

TEST_F(CaseFile, IsLeftAloneWhereTheNewCaseIsUnusable) {
  WriteCaseFile(Path("case"), SmallCase(kSparse));
  Case bad = SmallCase(kQ);
  bad.params.softmax_scale = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(WriteCaseFile(Path("case"), bad), InputError);
  EXPECT_EQ(ReadCaseFile(Path("case")).op, kSparse);
  EXPECT_EQ(Files(), 1U);
}

TEST_F(CaseFile, ThatCannotBeWrittenIsNamed) {
  const std::string into_nothing = Path("missing/case");
  EXPECT_TRUE(ErrorOf([&] { WriteCaseFile(into_nothing, SmallCase(kQ)); }).starts_with(into_nothing + ": file: "));
  fs::create_directories(Path("directory/inner"));
  EXPECT_THROW(WriteCaseFile(Path("directory"), SmallCase(kQ)), InputError);
  EXPECT_EQ(Files(), 1U);
}

// The directory entry stays what it is; as root, a renamed file would take the place of /dev/null.
TEST_F(CaseFile, BehindALinkIsWrittenAndTheLinkStays) {
  WriteCaseFile(Path("case"), SmallCase(kSparse));
  fs::create_symlink("case", Path("link"));
  WriteCaseFile(Path("link"), SmallCase(kQ));
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(ReadCaseFile(Path("case")).op, kQ);
  fs::create_symlink("/dev/full", Path("full"));
  EXPECT_TRUE(ErrorOf([&] { WriteCaseFile(Path("full"), SmallCase(kQ)); }).starts_with(Path("full") + ": file: "));
  EXPECT_TRUE(fs::is_symlink(Path("full")));
  EXPECT_EQ(Files(), 3U);
}

TEST_F(CaseFile, IsWrittenToAPipeThatHasAReader) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(ReplaceFile(Path("pipe"), "text"), InputError);  // and does not wait for a reader
  const int reader = open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ReplaceFile(Path("pipe"), "text");
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 4);
  close(reader);
  EXPECT_STREQ(text, "text");
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
  EXPECT_EQ(Files(), 1U);
}

// Far more than any machine holds, without a byte on disk.
TEST_F(CaseFile, OfTheWrongSizeIsRefusedUnread) {
  WriteCaseFile(Path("case"), SmallCase(kQ));
  fs::resize_file(Path("case"), std::uintmax_t{1} << 42);
  EXPECT_NE(ErrorOf([&] { ReadCaseFile(Path("case")); }).find("data: holds 43980"), std::string::npos);
  fs::resize_file(Write("zeros", ""), std::uintmax_t{1} << 42);
  EXPECT_NE(ErrorOf([&] { ReadCaseFile(Path("zeros")); }).find(": header: "), std::string::npos);
}

TEST_F(CaseFile, ThatIsNoFileIsNamed) {
  EXPECT_TRUE(ErrorOf([&] { ReadCaseFile(Path("absent")); }).starts_with(Path("absent") + ": file: "));
  EXPECT_NE(ErrorOf([&] { ReadCaseFile(Path("")); }).find("is a directory"), std::string::npos);
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_NE(ErrorOf([&] { ReadCaseFile(Path("pipe")); }).find("not a regular file"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { ReadCaseFile(Write("empty", "")); }).find("header: the file is empty"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { ReadCaseFile(Write("text", "# Not a case, but a page of text.\n")); }).find(": header: "),
            std::string::npos);
}

TEST(InputErrorText, IsOnePrintableLine) {
  const InputError error("a\nfile", std::string("field\0\x1b[31m", 11), "what\r\xff");
  EXPECT_STREQ(error.what(), "a\\x0afile: field\\x00\\x1b[31m: what\\x0d\\xff");
}

}  // namespace
}  // namespace kvexact
