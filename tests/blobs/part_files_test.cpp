#include "blobs/blob_contract.hpp"
#include "blobs/blob_folder.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// SHA-256 of `content`.
constexpr const char* sum_of_content =
    "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";

class PartFiles : public BlobFolder {};

TEST_F(PartFiles, AreThePartsAndNothingElse) {
  constexpr std::uint64_t large = 3'000'001;
  Pattern pattern{large};
  blobs_->put("tx/A/1.blob", "content");
  blobs_->put("tx/A/2.blob", pattern);
  blobs_->put("tx/A/3.blob", "");
  EXPECT_EQ(bytes_of(path("tx/A/1.blob")), "content");
  EXPECT_TRUE(bytes_of(path("tx/A/2.blob")) == Pattern::text(large));
  EXPECT_EQ(bytes_of(path("tx/A/3.blob")), "");
  auto listed = blobs_->list("tx/");
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].sha256, sum_of_content);
  for (const auto& blob : listed) {
    EXPECT_FALSE(blob.doubtful) << blob.key;
    EXPECT_EQ(blobs_->address_of(blob.key), "file://" + path(blob.key));
    EXPECT_TRUE(blobs_->remove(blob.key));
  }
  EXPECT_TRUE(fs::is_empty(folder_)) << "side files and folders go with them";
}

TEST_F(PartFiles, OfEarlierVersionsBecomeThePartWhenTheyAreRead) {
  write("tx/A/1.blob", old_blob("content"));
  fs::last_write_time(path("tx/A/1.blob"),
                      fs::file_time_type::clock::now() - std::chrono::hours{2});
  EXPECT_EQ(blobs_->get("tx/A/1.blob"), "content");
  EXPECT_EQ(bytes_of(path("tx/A/1.blob")), "content");
  EXPECT_EQ(blobs_->get("tx/A/1.blob"), "content");
  EXPECT_EQ(blobs_->list().at(0).sha256, sum_of_content);
  EXPECT_GT(blobs_->list().at(0).age, std::chrono::hours{1}) << "it is no younger for that";
  EXPECT_THAT(files(), ElementsAre(side_of("tx/A/1.blob"), "tx/A/1.blob"));
}

TEST_F(PartFiles, OfEarlierVersionsBecomeThePartWhenTheyAreListed) {
  for (int i = 1; i <= 20; ++i) write(fmt::format("tx/A/{}.blob", i), old_blob("content"));
  write("else/A/1.blob", old_blob("content"));
  auto listed = blobs_->list("tx/");
  ASSERT_EQ(listed.size(), 20u);
  for (const auto& blob : listed) {
    EXPECT_EQ(blob.bytes, 7u);
    EXPECT_EQ(blob.sha256, sum_of_content);
    EXPECT_EQ(bytes_of(path(blob.key)), "content");
  }
  EXPECT_EQ(bytes_of(path("else/A/1.blob")), old_blob("content")) << "nobody touched it";
  EXPECT_FALSE(blobs_->put("else/A/1.blob", "other"));
  EXPECT_TRUE(blobs_->remove("else/A/1.blob"));
}

TEST_F(PartFiles, OfEarlierVersionsThatAreDamagedStayAsTheyAre) {
  auto damaged = old_blob("content");
  damaged.back() = 'x';
  write("key", damaged);
  EXPECT_TRUE(blobs_->list().at(0).doubtful);
  EXPECT_THROW(blobs_->get("key"), BlobDamaged);
  EXPECT_EQ(bytes_of(path("key")), damaged);
  EXPECT_THAT(files(), ElementsAre("key"));
}

/// A producer may send what an earlier version would have written.
TEST_F(PartFiles, ThatLookLikeThoseOfEarlierVersionsAreLeftAsTheyWereSent) {
  const auto hostile = old_blob("content");
  blobs_->put("key", hostile);
  EXPECT_EQ(bytes_of(path("key")), hostile);
  EXPECT_EQ(blobs_->get("key"), hostile);
  EXPECT_EQ(blobs_->list().at(0).bytes, hostile.size());
  // Also where the folder was copied, so that side files are not found by the number.
  const auto copy = store_.folder() / "copy";
  fs::copy(folder_, copy, fs::copy_options::recursive);
  EXPECT_EQ(open_blobs("dir:" + copy.string())->get("key"), hostile);
  fs::remove(copy / fmt::format(".key.{}.sum", number_of("key")));
  for (const auto& entry : fs::directory_iterator{copy})
    if (entry.path().extension() == ".sum") fs::remove(entry.path());
  EXPECT_THROW(open_blobs("dir:" + copy.string())->get("key"), BlobDamaged);
  EXPECT_TRUE(blobs_->remove("key"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PartFiles, OfAFolderThatWasCopiedAreFoundAgain) {
  for (int i = 1; i <= 5; ++i) blobs_->put(fmt::format("tx/A/{}.blob", i), "content");
  const auto copy = store_.folder() / "copy";
  fs::copy(folder_, copy, fs::copy_options::recursive);
  auto blobs = open_blobs("dir:" + copy.string());
  blobs->remove_unfinished(std::chrono::seconds{0});
  EXPECT_EQ(blobs->get("tx/A/1.blob"), "content");
  auto listed = blobs->list("tx/");
  ASSERT_EQ(listed.size(), 5u);
  for (const auto& blob : listed) EXPECT_EQ(blobs->get(blob.key), "content");
  // What changed on the way is found, too.
  std::ofstream{copy / "tx/A/3.blob"} << "CONTENT";
  EXPECT_THROW(blobs->get("tx/A/3.blob"), BlobDamaged);
  blobs->remove_unfinished(std::chrono::seconds{0});
  for (const auto& blob : listed) EXPECT_TRUE(blobs->remove(blob.key));
  blobs->remove_unfinished(std::chrono::seconds{0});
  EXPECT_TRUE(fs::is_empty(copy));
}

/// What nobody vouches for is not handed out as if it had been written by us.
TEST_F(PartFiles, CopiedInByHandAreNotTakenForBlobs) {
  write("key", "content");
  EXPECT_TRUE(blobs_->list().at(0).doubtful);
  EXPECT_THAT([&] { blobs_->get("key"); },
              testing::ThrowsMessage<BlobDamaged>(HasSubstr("no side file")));
  EXPECT_FALSE(blobs_->put("key", "content")) << "it stays as it is";
  EXPECT_TRUE(blobs_->remove("key"));
  EXPECT_TRUE(blobs_->put("key", "content"));
  EXPECT_EQ(blobs_->get("key"), "content");
}

TEST_F(PartFiles, ThatChangedAreDoubtfulAndDamagedEvenAtTheSameSize) {
  blobs_->put("key", "content");
  std::ofstream{path("key")} << "CONTENT";
  EXPECT_TRUE(blobs_->list().at(0).doubtful);
  EXPECT_EQ(blobs_->list().at(0).sha256, "");
  EXPECT_THROW(blobs_->get("key"), BlobDamaged);
}

TEST_F(PartFiles, HaveSideFilesThatAreNoBlobsAndCollideWithNone) {
  const std::vector<std::string> keys{"a",       "a.sum",    "a.1.sum",
                                      "a.plain", "new-a",    "new-a.1.sum",
                                      "tx/a",    "tx/a.sum", std::string(200, 'k')};
  for (const auto& key : keys) EXPECT_TRUE(blobs_->put(key, key));
  blobs_->put("a.old", old_blob("x"));
  EXPECT_EQ(blobs_->remove_unfinished(std::chrono::seconds{0}), 0);
  EXPECT_EQ(blobs_->list().size(), keys.size() + 1);
  for (const auto& name : files_beside_blobs()) {
    EXPECT_THROW(blobs_->get(name), InvalidRequest) << name;
    EXPECT_THROW(blobs_->put(name, "x"), InvalidRequest) << name;
    EXPECT_THROW(blobs_->remove(name), InvalidRequest) << name;
  }
  EXPECT_TRUE(blobs_->remove("a"));
  for (const auto& key : keys)
    EXPECT_EQ(blobs_->get(key).value_or("none"), key == "a" ? "none" : key);
  EXPECT_EQ(blobs_->get("a.old"), old_blob("x"));
}

TEST_F(PartFiles, ThatAreNotThereLeaveSideFilesThatAreSwept) {
  blobs_->put("tx/A/1.blob", "content");
  const auto stray = side_of("tx/A/1.blob");
  fs::remove(path("tx/A/1.blob"));
  EXPECT_FALSE(blobs_->get("tx/A/1.blob"));
  EXPECT_THAT(blobs_->list(), IsEmpty());
  open_blobs(address_)->remove_unfinished(std::chrono::hours{1});
  EXPECT_THAT(files(), ElementsAre(stray)) << "its writer may be about to make the blob";
  EXPECT_TRUE(blobs_->put("tx/A/1.blob", "other"));
  open_blobs(address_)->remove_unfinished(std::chrono::seconds{0});
  EXPECT_EQ(blobs_->get("tx/A/1.blob"), "other");
  EXPECT_THAT(files(), ElementsAre(side_of("tx/A/1.blob"), "tx/A/1.blob"));
}

TEST_F(PartFiles, AreNotListedWhereTheirFolderIsAway) {
  blobs_->put("tx/A/1.blob", "content");
  const auto elsewhere = store_.folder() / "elsewhere";
  fs::rename(folder_, elsewhere);
  EXPECT_THROW(blobs_->list("tx/"), BlobError) << "away is not empty";
  fs::rename(elsewhere, folder_);
  EXPECT_THAT(blobs_->list("none/"), IsEmpty());
}

}  // namespace
}  // namespace holdfast::test
