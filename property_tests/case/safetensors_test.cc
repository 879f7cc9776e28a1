// SPDX-License-Identifier: Apache-2.0
// The container reader against headers that lie.
#include "harness/case/safetensors.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/case/input_error.h"
#include "property_tests/case/container.h"

namespace kvexact {
namespace {

using test::Container;
using test::ContainerOfLength;

// A tensor's header entry: its type, shape and offsets as written.
std::string Entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

const std::string kGood = Entry("a", "I32", "[2]", "[0,8]");

struct Lie {
  const char* name;
  std::string header;
  std::string field;  // that the error names
  std::string what;   // that the error says, in part
};

void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.name; }

class LyingHeader : public testing::TestWithParam<Lie> {};

// Every header claims to describe 8 bytes of data.
TEST_P(LyingHeader, IsRefusedByName) {
  try {
    safetensors::Parse(Container(GetParam().header, 8), "file");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), GetParam().field) << error.what();
    EXPECT_NE(std::string(error.what()).find(GetParam().what), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Headers, LyingHeader,
    testing::Values(
        Lie{"no_json", "hello", "header", "JSON"}, Lie{"empty", "", "header", "JSON"},
        Lie{"cut_off", "{" + kGood, "header", "JSON"}, Lie{"trailing_text", "{" + kGood + "}{", "header", "JSON"},
        Lie{"not_utf8", "{\"\xff\":{}}", "header", "JSON"}, Lie{"array", "[1]", "header", "must be an object"},
        Lie{"number", "7", "header", "must be an object"}, Lie{"string", "\"x\"", "header", "must be an object"},
        Lie{"null_tensor", "{\"a\":null}", "a", "null"}, Lie{"number_for_a_tensor", "{\"a\":1}", "a", "a number"},
        Lie{"array_for_a_tensor", "{\"a\":[1]}", "a", "an array"},
        Lie{"deep_object", "{\"a\":{\"shape\":{\"x\":1}}}", "a", "an object"},
        Lie{"deep_array", "{\"a\":{\"shape\":[[1]]}}", "a", "an array"},
        Lie{"object_in_array", "{\"a\":{\"shape\":[{}]}}", "a", "an object"},
        Lie{"string_in_array", "{\"a\":{\"shape\":[\"1\"]}}", "a", "a string"},
        Lie{"array_for_a_type", "{\"a\":{\"dtype\":[1]}}", "a", "an array"},
        Lie{"number_for_a_shape", "{\"a\":{\"shape\":2}}", "a", "a number"},
        Lie{"boolean_in_shape", "{\"a\":{\"shape\":[true]}}", "a", "a boolean"},
        Lie{"unknown_type", "{" + Entry("a", "F16", "[4]", "[0,8]") + "}", "a", "type \"F16\""},
        Lie{"unknown_property", "{\"a\":{\"stride\":[1]}}", "a", "stride"},
        Lie{"missing_shape", "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,8]}}", "a", "needs"},
        Lie{"missing_everything", "{\"a\":{}}", "a", "needs"},
        Lie{"property_twice", "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", "a", "twice"},
        Lie{"tensor_twice", "{" + kGood + "," + kGood + "}", "a", "twice"},
        Lie{"metadata_twice", "{\"__metadata__\":{},\"__metadata__\":{}}", "__metadata__", "twice"},
        Lie{"metadata_key_twice", "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", "k", "twice"},
        Lie{"metadata_number", "{\"__metadata__\":{\"k\":1}}", "k", "must be a string"},
        Lie{"metadata_object", "{\"__metadata__\":{\"k\":{}}}", "k", "must be a string"},
        Lie{"metadata_string", "{\"__metadata__\":\"k\"}", "__metadata__", "a string"},
        Lie{"negative_shape", "{" + Entry("a", "I32", "[-2]", "[0,8]") + "}", "a", "negative number -2"},
        Lie{"fraction_in_shape", "{" + Entry("a", "I32", "[2.0]", "[0,8]") + "}", "a", "2.0"},
        Lie{"shape_beyond_63_bits", "{" + Entry("a", "U8", "[9223372036854775808]", "[0,8]") + "}", "a", "2^63"},
        Lie{"shape_beyond_64_bits", "{" + Entry("a", "U8", "[18446744073709551616]", "[0,8]") + "}", "a", "2^63"},
        Lie{"product_overflows", "{" + Entry("a", "U8", "[4294967296,4294967296]", "[0,8]") + "}", "a", "2^63"},
        Lie{"bytes_overflow", "{" + Entry("a", "I64", "[2305843009213693952]", "[0,8]") + "}", "a", "2^63"},
        Lie{"nine_dimensions", "{" + Entry("a", "U8", "[1,1,1,1,1,1,1,1,8]", "[0,8]") + "}", "a", "more than 8"},
        Lie{"one_offset", "{" + Entry("a", "I32", "[2]", "[8]") + "}", "a", "two numbers"},
        Lie{"three_offsets", "{" + Entry("a", "I32", "[2]", "[0,4,8]") + "}", "a", "two numbers"},
        Lie{"offsets_backwards", "{" + Entry("a", "I32", "[2]", "[8,0]") + "}", "a", "backwards"},
        Lie{"offset_beyond_data", "{" + Entry("a", "I32", "[4]", "[0,16]") + "}", "a", "ends at byte 16"},
        Lie{"offset_huge", "{" + Entry("a", "I32", "[2]", "[9223372036854775799,9223372036854775807]") + "}", "a",
            "ends at byte"},
        Lie{"offsets_unlike_shape", "{" + Entry("a", "I32", "[3]", "[0,8]") + "}", "a", "need 12"},
        Lie{"overlap", "{" + Entry("a", "U8", "[5]", "[0,5]") + "," + Entry("b", "U8", "[4]", "[4,8]") + "}", "b",
            "overlaps a"},
        Lie{"same_bytes_twice", "{" + kGood + "," + Entry("b", "I32", "[2]", "[0,8]") + "}", "b", "overlaps a"},
        Lie{"hole", "{" + Entry("a", "U8", "[4]", "[0,4]") + "," + Entry("b", "U8", "[3]", "[5,8]") + "}", "b",
            "belong to no tensor"},
        Lie{"bytes_behind", "{" + Entry("a", "U8", "[4]", "[0,4]") + "}", "data", "end at 4"},
        Lie{"empty_tensor_within", "{" + kGood + "," + Entry("b", "U8", "[0]", "[4,4]") + "}", "b", "overlaps a"},
        Lie{"zero_byte_behind", "{" + kGood + "}" + std::string(1, '\0') + "more", "header", "not valid JSON, at byte"},
        Lie{"control_characters", "{\"a\\nb\\u0007\":null}", "a\nb\a", "a\\x0ab\\x07"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Container, WithoutAWholeLengthIsRefused) {
  EXPECT_THROW(safetensors::Parse({}, "file"), InputError);
  const std::vector<std::uint8_t> seven(7);
  EXPECT_THROW(safetensors::Parse(seven, "file"), InputError);
}

TEST(Container, WhoseLengthRunsBeyondItIsRefused) {
  for (const std::uint64_t length : {std::uint64_t{100}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    EXPECT_THROW(safetensors::Parse(ContainerOfLength(length, "{}", 8), "file"), InputError) << length;
  }
}

TEST(Container, OfDeepNestingIsRefusedAtOnce) {
  std::string header = "{\"a\":";
  header.append(500000, '[');
  EXPECT_THROW(safetensors::Parse(Container(header, 0), "file"), InputError);
  header = "";
  for (int i = 0; i < 100000; ++i) header += "{\"a\":";
  EXPECT_THROW(safetensors::Parse(Container(header, 0), "file"), InputError);
}

TEST(Container, ThatIsWellFormedIsRead) {
  const std::string header = "{\"__metadata__\":{\"k\":\"v\"}," + Entry("b", "U8", "[0,3]", "[8,8]") + "," +
                             Entry("a", "BF16", "[2,2]", "[0,8]") + "}   ";
  const std::vector<std::uint8_t> bytes = Container(header, 8);
  const safetensors::File file = safetensors::Parse(bytes, "file");
  EXPECT_EQ(file.metadata.at("k"), "v");
  const Tensor a = safetensors::Load(file, file.entries.at("a"));
  EXPECT_EQ(a.dtype(), DType::kBf16);
  EXPECT_EQ(a.shape(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(a.as<std::uint16_t>()[3], 0xA5A5);
  EXPECT_EQ(safetensors::Load(file, file.entries.at("b")).elements(), 0);
}

TEST(Container, IsCheckedByItsFrontAlone) {
  const std::vector<std::uint8_t> bytes = Container("{" + kGood + "}", 8);
  const std::span<const std::uint8_t> front = std::span(bytes).first(bytes.size() - 8);
  const safetensors::File file = safetensors::ParseHeader(front, bytes.size(), "file");
  EXPECT_EQ(file.entries.at("a").end, 8);
  EXPECT_TRUE(file.data.empty());
  for (const std::uint64_t file_bytes : {bytes.size() - 1, bytes.size() + 1, std::size_t{1} << 62}) {
    EXPECT_THROW(safetensors::ParseHeader(front, file_bytes, "file"), InputError) << file_bytes;
  }
}

TEST(Container, OfNothingIsRead) { EXPECT_TRUE(safetensors::Parse(Container("{}", 0), "file").entries.empty()); }

}  // namespace
}  // namespace kvexact
