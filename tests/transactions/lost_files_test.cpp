#include <fstream>
#include <sstream>

#include "support/old_blob.hpp"
#include "transactions/lost_parts.hpp"

namespace holdfast::test {
namespace {

/// Blobs in a folder, where what changed behind our back is seen by the time of the change.
class LostFiles : public LostParts {};

TEST_F(LostFiles, ThatWereChangedInPlaceAreAskedForAgain) {
  auto running = run();
  ASSERT_NO_FATAL_FAILURE(record(2));
  const auto folder = store_.folder() / "blobs";
  std::ofstream{folder / key(1)} << "PART 1";
  std::filesystem::last_write_time(folder / key(2), std::filesystem::file_time_type::clock::now());
  header(2);
  EXPECT_EQ(asked_for(), "1") << "the other one is the same";
  part(1);
  ASSERT_TRUE(completes("tx"));
  expect_whole_notice(2);
}

/// A result that an earlier version began.
TEST_F(LostFiles, ThatAnEarlierVersionStoredArePlainFilesWhenTheNoticeIsSent) {
  auto running = run();
  ASSERT_NO_FATAL_FAILURE(record(1));
  const auto file = store_.folder() / "blobs" / key(1);
  ASSERT_TRUE(blobs_->remove(key(1)));
  std::filesystem::create_directories(file.parent_path());
  std::ofstream{file} << old_blob("part 1");
  header(1);
  ASSERT_TRUE(completes("tx"));
  std::ostringstream bytes;
  bytes << std::ifstream{file}.rdbuf();
  EXPECT_EQ(bytes.str(), "part 1");
  expect_whole_notice(1);
}

}  // namespace
}  // namespace holdfast::test
