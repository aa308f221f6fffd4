#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "blobs/blob_contract.hpp"
#include "blobs/servers.hpp"
#include "engines/azure/target.hpp"
#include "engines/azure/upload.hpp"
#include "engines/objects/digest.hpp"
#include "support/memory.hpp"

namespace holdfast::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Azure, Blobs,
                         testing::Values(BlobHome{"azure", [](const auto& name) {
                                                    return open_blobs(
                                                        shared_azurite().address(name));
                                                  }}));

/// A folder of the container that no other test uses.
class AzureBlobs : public testing::Test {
 protected:
  /// Runs Microsoft's own client.
  std::string microsoft(const std::string& verb, const std::string& argument = {}) const {
    auto done = run({"/usr/bin/env", "node", BLOB_SOURCES "/microsoft.mjs", azurite_.endpoint(),
                     Azurite::account, Azurite::key, Azurite::container, verb, argument},
                    {{"BLOB_PACKAGES", blob_packages()}});
    EXPECT_TRUE(done.ending.ok()) << done.err;
    return done.out;
  }
  static std::string content_of(const std::filesystem::path& path) {
    std::ostringstream content;
    content << std::ifstream{path, std::ios::binary}.rdbuf();
    return content.str();
  }

  Azurite& azurite_ = shared_azurite();
  TempStore store_;
  std::string folder_ = store_.folder().filename();
  std::string address_ = azurite_.address(folder_);
  std::shared_ptr<BlobStore> blobs_ = open_blobs(address_);
};

template <class Function>
void expect_refused(BlobRefused::Reason reason, const std::string& advice, Function function) {
  try {
    function();
    ADD_FAILURE() << "nobody refused it";
  } catch (const BlobRefused& refused) {
    EXPECT_EQ(refused.reason(), reason) << refused.what();
    EXPECT_THAT(refused.what(), testing::HasSubstr(advice));
  }
}

TEST_F(AzureBlobs, AreReadByteForByteByMicrosoftsClient) {
  constexpr std::uint64_t large = 20'971'521;
  const std::string small("any\0bytes\n\xff", 11);
  blobs_->put("A/small.blob", small);
  blobs_->put("empty", "");
  Pattern pattern{large};
  blobs_->put("A/large.blob", pattern);
  microsoft("read", store_.folder());
  auto folder = store_.folder() / folder_;
  EXPECT_EQ(content_of(folder / "A/small.blob"), small);
  EXPECT_EQ(content_of(folder / "empty"), "");
  EXPECT_TRUE(content_of(folder / "A/large.blob") == Pattern::text(large));
}

TEST_F(AzureBlobs, AreWrittenReadListedAndRemovedWithASharedAccessSignature) {
  auto file = store_.folder() / "signature";
  std::ofstream{file} << microsoft("sign");
  auto blobs = open_blobs(address_ + "?sas_file=" + file.string());
  EXPECT_TRUE(blobs->put("small", "content"));
  EXPECT_FALSE(blobs->put("small", "other"));
  Pattern pattern{10'000'000};
  EXPECT_TRUE(blobs->put("large", pattern));
  EXPECT_EQ(bytes_of_pattern(*blobs, "large"), 10'000'000);
  EXPECT_EQ(blobs->list().size(), 2u);
  EXPECT_TRUE(blobs->remove("small"));
  EXPECT_THAT(blobs->name(), testing::Not(testing::HasSubstr("sig=")));
}

TEST_F(AzureBlobs, WhatIsRefusedSaysWhatToDo) {
  using Reason = BlobRefused::Reason;
  auto file = store_.folder() / "key";
  std::ofstream{file} << "d3Jvbmc=\n";
  auto wrong = open_blobs(address_ + "?key_file=" + file.string());
  expect_refused(Reason::key, "not one of the account 'holdfast'", [&] { wrong->put("a", "b"); });
  std::ofstream{file} << "sv=2021-12-02&ss=b&srt=co&sp=r&se=2020-01-01T00:00:00Z&sig=wrong\n";
  auto expired = open_blobs(address_ + "?sas_file=" + file.string());
  expect_refused(Reason::key, "make a new one", [&] { expired->get("a"); });
  auto nowhere = address_;
  nowhere.replace(nowhere.find("/parts/"), 7, "/nowhere/");
  auto missing = open_blobs(nowhere);
  expect_refused(Reason::container, "create the container 'nowhere'",
                 [&] { missing->put("a", "b"); });
  expect_refused(Reason::container, "create the container", [&] { missing->get("a"); });
  expect_refused(Reason::container, "create the container", [&] { missing->list(); });
  expect_refused(Reason::container, "create the container", [&] {
    Pattern pattern{10'000'000};
    missing->put("a", pattern);
  });
  auto no_name = address_;
  no_name.replace(no_name.find("/parts/"), 7, "/No_Name/");
  expect_refused(Reason::container, "'No_Name' is not a name",
                 [&] { open_blobs(no_name)->list(); });
}

TEST_F(AzureBlobs, WhatWasChangedInTheContainerIsNotTakenForTheBlob) {
  auto target = azure::parse(address_);
  auto service = std::make_shared<azure::BlobService>(target.account, target.place.root);
  objects::Exchange exchange{target.server, service};
  auto path = fmt::format("{}/{}key", target.place.root, target.place.prefix);
  auto write = [&](const objects::Stamp& stamp) {
    auto request = service->put(path, stamp, "content");
    request.headers.erase("if-none-match");
    EXPECT_EQ(exchange.send(request).reply.status, 201);
  };
  write({.put = "x", .sha256 = std::string(64, '0'), .bytes = 7});
  EXPECT_THROW(blobs_->get("key"), BlobDamaged);
  EXPECT_EQ(blobs_->list().at(0).sha256, std::string(64, '0'));
  write({.put = "x", .sha256 = "", .bytes = 7});
  EXPECT_THROW(blobs_->get("key"), BlobDamaged);
  EXPECT_TRUE(blobs_->list().at(0).doubtful);
}

TEST_F(AzureBlobs, ListsSayTheChecksumOfWhatCameWholeAndInBlocks) {
  Pattern pattern{10'000'000};
  blobs_->put("large", pattern);
  blobs_->put("small", "y");
  auto listed = blobs_->list();
  ASSERT_EQ(listed.size(), 2u);
  auto sum = objects::Digest::sha256().add(Pattern::text(10'000'000)).take();
  EXPECT_EQ(listed[0].sha256, objects::hex(sum));
  EXPECT_EQ(listed[1].sha256, objects::hex(objects::Digest::sha256().add("y").take()));
}

TEST_F(AzureBlobs, ListsHaveSeveralPages) {
  auto target = azure::parse(address_);
  auto service = std::make_shared<azure::BlobService>(target.account, target.place.root);
  objects::Exchange exchange{target.server, service};
  for (std::string key : {"a", "b", "c"}) blobs_->put(key, key);
  std::vector<std::string> names;
  std::string from;
  do {
    auto request = service->list(target.place.prefix, from);
    request.query["maxresults"] = "1";
    auto page = service->page(exchange.send(request).reply);
    EXPECT_LE(page.entries.size(), 1u);
    for (const auto& entry : page.entries) names.push_back(entry.name);
    from = page.next;
  } while (!from.empty());
  EXPECT_THAT(names, testing::ElementsAre(folder_ + "/a", folder_ + "/b", folder_ + "/c"));
}

TEST_F(AzureBlobs, BlocksOfAWriterThatDiedAreInvisibleAndNotSentAgain) {
  constexpr std::uint64_t size = 3 * objects::usual_block;
  auto target = azure::parse(address_);
  azure::BlobService service{target.account, target.place.root};
  objects::Exchange exchange{
      target.server, std::make_shared<azure::BlobService>(target.account, target.place.root)};
  auto all = Pattern::text(size);
  auto upload = azure::begin_upload(service, exchange,
                                    fmt::format("{}/{}key", target.place.root, target.place.prefix),
                                    {.put = "x"});
  upload->add(std::string_view{all}.substr(0, objects::usual_block));
  upload->add(std::string_view{all}.substr(objects::usual_block, objects::usual_block));
  EXPECT_FALSE(blobs_->get("key"));
  EXPECT_TRUE(blobs_->list().empty());
  auto blocks = [&] { return azurite_.requests_with(folder_ + "/key?blockid="); };
  ASSERT_TRUE(eventually([&] { return blocks() == 2; })) << blocks();
  EXPECT_TRUE(blobs_->put("key", all));
  EXPECT_EQ(bytes_of_pattern(*blobs_, "key"), std::int64_t{size});
  EXPECT_EQ(blocks(), 3);
}

TEST_F(AzureBlobs, OfTwoThatWriteBlocksOneWins) {
  std::atomic<int> winners = 0;
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 2; ++i)
      writers.emplace_back([&] {
        Pattern pattern{17'000'000};
        winners += open_blobs(address_)->put("key", pattern);
      });
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(bytes_of_pattern(*blobs_, "key"), 17'000'000);
}

TEST_F(AzureBlobs, OneBlockIsInMemoryAtATime) {
  constexpr std::uint64_t size = 100'000'000;
  blobs_->put("warm", "up");
  ::malloc_trim(0);  // what other tests had must not hide what this one needs
  std::ofstream{"/proc/self/clear_refs"} << "5";  // the most that it had so far is forgotten
  auto before = peak_memory(::getpid());
  Pattern pattern{size};
  EXPECT_TRUE(blobs_->put("key", pattern));
  EXPECT_EQ(bytes_of_pattern(*blobs_, "key"), std::int64_t{size});
  auto more = peak_memory(::getpid()) - before;
  EXPECT_GT(more, 4 << 20) << "it was not measured";
  EXPECT_LT(more, 32 << 20);
}

TEST_F(AzureBlobs, AServiceThatIsAwayForAWhileIsWaitedFor) {
  blobs_->put("before", "there");
  azurite_.stop();
  std::atomic<bool> put = false;
  {
    std::jthread writer{[&](std::stop_token stop) {
      while (!put && !stop.stop_requested()) try {
          put = blobs_->put("during", "away");
        } catch (const BlobError&) {
          // Then whoever uses it comes again, as transactions do.
        }
    }};
    azurite_.start();
    EXPECT_TRUE(eventually([&] { return put.load(); }, std::chrono::minutes{1}));
  }
  EXPECT_EQ(blobs_->get("before"), "there");
  EXPECT_EQ(blobs_->get("during"), "away");
}

}  // namespace
}  // namespace holdfast::test
