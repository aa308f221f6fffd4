#include <csignal>

#include "blobs/blob_folder.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Other processes at work in a folder of blobs, which die, or sleep and wake up too late.
class FolderKills : public BlobFolder {
 protected:
  using Words = std::vector<std::string>;
  Words command(const Words& words) const {
    Words all{BLOB_DRIVER, words.front(), address_};
    all.insert(all.end(), words.begin() + 1, words.end());
    return all;
  }
  void die(const std::string& at, const Words& words) const {
    auto died = test::run(command(words), {{"HOLDFAST_KILL_AT", at}});
    ASSERT_EQ(died.ending.signal, SIGKILL) << at << " was not reached\n" << died.out << died.err;
  }
  /// A process that stands still at a kill point.
  std::unique_ptr<Process> stopped(const std::string& at, const Words& words) const {
    auto process = std::make_unique<Process>(command(words), Environment{{"HOLDFAST_STOP_AT", at}});
    EXPECT_TRUE(eventually([&] {
      std::ifstream status{fmt::format("/proc/{}/status", process->pid())};
      std::string line;
      while (std::getline(status, line))
        if (line.starts_with("State:")) return line.find("stopped") != line.npos;
      return false;
    })) << at;
    return process;
  }
  static Ending wake(Process& process) {
    process.signal(SIGCONT);
    return process.wait().value();
  }
  void sweep() const { open_blobs(address_)->remove_unfinished(std::chrono::seconds{0}); }
  void expect_only(const std::string& key, const std::string& content) const {
    EXPECT_EQ(blobs_->get(key), content);
    EXPECT_EQ(bytes_of(path(key)), content);
    sweep();
    EXPECT_THAT(files(), ElementsAre(side_of(key), key));
    EXPECT_EQ(blobs_->get(key), content);
  }
};

class PutKills : public FolderKills, public testing::WithParamInterface<const char*> {};

TEST_P(PutKills, LeaveNoPartWithoutItsSideFile) {
  const std::string at = GetParam();
  ASSERT_NO_FATAL_FAILURE(die(at, {"put", "tx/A/1.blob", "first"}));
  const bool made = at == "blob_after_link";
  EXPECT_EQ(blobs_->list().size(), made ? 1u : 0u);
  EXPECT_EQ(blobs_->get("tx/A/1.blob").value_or("none"), made ? "first" : "none");
  // The next one has other content, and what was left must not be taken for its own.
  EXPECT_EQ(blobs_->put("tx/A/1.blob", "second"), !made);
  expect_only("tx/A/1.blob", made ? "first" : "second");
}

TEST_P(PutKills, LeaveNothingThatIsNotSwept) {
  ASSERT_NO_FATAL_FAILURE(die(GetParam(), {"put", "tx/A/1.blob", "first"}));
  sweep();
  const bool made = std::string{GetParam()} == "blob_after_link";
  EXPECT_EQ(blobs_->remove("tx/A/1.blob"), made);
  EXPECT_THAT(files(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Every, PutKills,
                         testing::Values("blob_before_side", "blob_before_link", "blob_after_link"),
                         [](const auto& at) { return std::string{at.param}; });

class ConvertKills : public FolderKills,
                     public testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(ConvertKills, LeaveThePartInOneFormOrTheOther) {
  auto [at, verb] = GetParam();
  write("tx/A/1.blob", old_blob("content"));
  ASSERT_NO_FATAL_FAILURE(die(at, {verb, "tx/A/1.blob"}));
  const bool converted = at == std::string{"convert_after_rename"};
  EXPECT_EQ(bytes_of(path("tx/A/1.blob")), converted ? "content" : old_blob("content"));
  expect_only("tx/A/1.blob", "content");
}

INSTANTIATE_TEST_SUITE_P(Every, ConvertKills,
                         testing::Combine(testing::Values("convert_before_rename",
                                                          "convert_after_rename"),
                                          testing::Values("get", "list")),
                         [](const auto& each) {
                           return fmt::format("{}_{}", std::get<0>(each.param),
                                              std::get<1>(each.param));
                         });

TEST_F(FolderKills, DyingWhileABlobIsRemovedLeavesNoneThatComesBack) {
  blobs_->put("tx/A/1.blob", "first");
  ASSERT_NO_FATAL_FAILURE(die("unlink_after_part", {"remove", "tx/A/1.blob"}));
  EXPECT_FALSE(blobs_->get("tx/A/1.blob"));
  EXPECT_FALSE(blobs_->remove("tx/A/1.blob"));
  EXPECT_TRUE(blobs_->put("tx/A/1.blob", "second"));
  expect_only("tx/A/1.blob", "second");
}

TEST_F(FolderKills, AWriterThatSleptDoesNotSpoilTheBlobOfAnother) {
  auto late = stopped("blob_before_link", {"put", "tx/A/1.blob", "first"});
  EXPECT_TRUE(blobs_->put("tx/A/1.blob", "second"));
  EXPECT_TRUE(wake(*late).ok());
  EXPECT_EQ(late->out(), "there");
  EXPECT_THAT(files(), ElementsAre(side_of("tx/A/1.blob"), "tx/A/1.blob")) << "it tidied up";
  expect_only("tx/A/1.blob", "second");
}

TEST_F(FolderKills, AWriterThatSleptUntilItWasSweptMakesNoBlob) {
  for (const std::string at : {"blob_before_side", "blob_before_link"}) {
    auto late = stopped(at, {"put", "tx/A/1.blob", "first"});
    sweep();
    EXPECT_EQ(wake(*late).code, 1) << late->out();
    EXPECT_THAT(late->err(), HasSubstr("tx/A"));
    EXPECT_THAT(blobs_->list(), IsEmpty());
    EXPECT_FALSE(blobs_->get("tx/A/1.blob"));
  }
  EXPECT_TRUE(blobs_->put("tx/A/1.blob", "second"));
  expect_only("tx/A/1.blob", "second");
}

TEST_F(FolderKills, OneThatSleptWhileItConvertedDoesNotBringBackWhatWasRemoved) {
  write("tx/A/1.blob", old_blob("content"));
  auto late = stopped("convert_before_rename", {"get", "tx/A/1.blob"});
  EXPECT_EQ(blobs_->get("tx/A/1.blob"), "content") << "nobody waits for it";
  EXPECT_THAT([&] { blobs_->remove("tx/A/1.blob"); },
              testing::ThrowsMessage<BlobError>(HasSubstr("try again")));
  late->kill();
  EXPECT_TRUE(blobs_->remove("tx/A/1.blob"));
  sweep();
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(FolderKills, WhileABlobIsConvertedItIsListedOnce) {
  write("tx/A/1.blob", old_blob("content"));
  auto late = stopped("convert_before_rename", {"get", "tx/A/1.blob"});
  auto listed = blobs_->list();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].bytes, 7u);
  EXPECT_TRUE(wake(*late).ok());
  EXPECT_EQ(late->out(), "content");
  expect_only("tx/A/1.blob", "content");
}

TEST_F(FolderKills, NoRoomForAPartOrItsSideFileLeavesNothing) {
  for (const auto& [largest, content] :
       std::vector<std::pair<std::string, std::string>>{{"3", "content"}, {"10", "content"}}) {
    auto full = test::run(command({"put", "tx/A/1.blob", content}), {{"LARGEST_FILE", largest}});
    EXPECT_EQ(full.ending.code, 1) << full.out;
    EXPECT_THAT(full.err, HasSubstr("cannot write"));
    EXPECT_THAT(files(), IsEmpty());
  }
  EXPECT_TRUE(blobs_->put("tx/A/1.blob", "content"));
}

TEST_F(FolderKills, NoRoomToConvertLeavesTheOldFormWhichIsRead) {
  write("tx/A/1.blob", old_blob("content"));
  for (const std::string largest : {"3", "10"}) {
    auto full = test::run(command({"get", "tx/A/1.blob"}), {{"LARGEST_FILE", largest}});
    EXPECT_TRUE(full.ending.ok()) << full.err;
    EXPECT_EQ(full.out, "content");
    EXPECT_EQ(bytes_of(path("tx/A/1.blob")), old_blob("content"));
    EXPECT_THAT(files(), ElementsAre("tx/A/1.blob"));
  }
  expect_only("tx/A/1.blob", "content");
}

}  // namespace
}  // namespace holdfast::test
