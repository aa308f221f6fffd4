#include <gmock/gmock.h>

#include <holdfast/batch_file.hpp>

#include "batches/batch_store.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<int> lines(const FileRows& read) {
  std::vector<int> numbers;
  for (const auto& row : read.rows) numbers.push_back(row.line);
  return numbers;
}

std::vector<int> bad_lines(const FileRows& read) {
  std::vector<int> numbers;
  for (const auto& problem : read.problems) numbers.push_back(problem.line);
  return numbers;
}

TEST(BatchFile, EveryLineOfJsonLinesIsARow) {
  auto read =
      read_rows("a", "\xEF\xBB\xBF{\"a\": 1}\r\n\n[2]\n nonsense\n3", FileFormat::json_lines);
  EXPECT_THAT(lines(read), ElementsAre(1, 3, 5));
  EXPECT_THAT(bad_lines(read), ElementsAre(4));
  EXPECT_EQ(read.rows[0].input, "{\"a\": 1}");
  EXPECT_EQ(read.rows[2].input, "3");
}

TEST(BatchFile, RecordsOfACsvAreObjectsByTheirHeader) {
  auto read = read_rows("a.csv", "a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n\r\n,2\n", FileFormat::csv);
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_THAT(lines(read), ElementsAre(2, 5)) << "a record begins where its first line is";
  EXPECT_EQ(read.rows[0].input, R"({"a":"1","b":"x, \"y\"\nz"})");
  EXPECT_EQ(read.rows[1].input, R"({"a":"","b":"2"})");
}

TEST(BatchFile, WhatIsWrongInACsvIsNamedAndTheRestIsRead) {
  auto read = read_rows("a.csv", "a,b\n1\n\"x\"y,2\n3,4\n5,\xff\n\"open,6\n7,8\n", FileFormat::csv);
  EXPECT_THAT(bad_lines(read), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(lines(read), ElementsAre(4, 7));
}

TEST(BatchFile, ColumnsHaveNamesOfTheirOwn) {
  for (auto header : {"a,b,a", "a,,b"}) {
    auto read = read_rows("a.csv", std::string{header} + "\n1,2,3\n", FileFormat::csv);
    EXPECT_THAT(read.rows, IsEmpty());
    EXPECT_THAT(bad_lines(read), ElementsAre(1));
  }
}

TEST(BatchFile, ARowThatIsTooLargeIsAProblemOfItsOwn) {
  auto read = read_rows("a", "[1]\n[1,2,3]\n[2]\n", FileFormat::json_lines, 4);
  EXPECT_THAT(lines(read), ElementsAre(1, 3));
  EXPECT_THAT(bad_lines(read), ElementsAre(2));
}

TEST(BatchFile, ContentIsKnownByItsSum) {
  EXPECT_EQ(checksum_of(""),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_NE(checksum_of("a"), checksum_of("b"));
  EXPECT_EQ(read_rows("x", "1", FileFormat::json_lines).file.checksum, checksum_of("1"));
}

TEST(BatchId, IsAUuid) {
  auto id = BatchId::make();
  auto text = id.text();
  ASSERT_THAT(text, SizeIs(36));
  EXPECT_EQ(text[14], '7');
  EXPECT_EQ(BatchId::parse(text), id);
  EXPECT_EQ(BatchId::parse("6BA7B810-9DAD-11D1-80B4-00C04FD430C8")->text(),
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8");
  for (auto bad : {"", "6ba7b810", "6ba7b8109dad11d180b400c04fd430c8",
                   "6ba7b810-9dad-11d1-80b4-00c04fd430cg", "6ba7b810-9dad-11d1-80b4-00c04fd430c8x"})
    EXPECT_FALSE(BatchId::parse(bad)) << bad;
  EXPECT_LT(id, BatchId::make());
}

TEST(Units, RowsAndSummariesAreKnownApart) {
  auto batch = BatchId::make();
  EXPECT_EQ(row_of(unit_of_row(1)), 1);
  EXPECT_EQ(row_of(unit_of_row(9'000'000'000)), 9'000'000'000);
  EXPECT_FALSE(row_of(unit_of_summary(batch)));
  EXPECT_EQ(batch_of_summary(unit_of_summary(batch)), batch);
  auto unit = unpack_unit(pack(UnitPayload{batch, 7, "{}"}));
  EXPECT_EQ(unit.batch, batch);
  EXPECT_EQ(unit.line, 7);
  EXPECT_EQ(unit.input, "{}");
}

}  // namespace
}  // namespace holdfast::test
