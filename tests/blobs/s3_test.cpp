#include <fstream>

#include <fmt/format.h>

#include "blobs/blob_contract.hpp"
#include "blobs/servers.hpp"
#include "engines/s3/target.hpp"
#include "engines/s3/upload.hpp"

namespace holdfast::test {
namespace {

INSTANTIATE_TEST_SUITE_P(S3, Blobs, testing::Values(BlobHome{"s3", [](const auto& name) {
                                                               return open_blobs(
                                                                   shared_s3_front().address(name));
                                                             }}));

class S3Blobs : public testing::Test {
 protected:
  S3Blobs() { blobs_->put("warm", "up"); }
  ~S3Blobs() override {
    front_.trouble(R"({"unavailable":0,"lost_answer":0,"lost_end":0,"cut":0})");
    front_.trouble(R"({"flip":0,"careless":0,"clock":0})");
  }
  BlobRefused::Reason reason_of(BlobStore& blobs) const {
    try {
      blobs.put("key", "content");
    } catch (const BlobRefused& refused) {
      what_ = refused.what();
      return refused.reason();
    }
    ADD_FAILURE() << "nobody refused it";
    return BlobRefused::Reason::service;
  }

  S3Front& front_ = shared_s3_front();
  TempStore store_;
  std::string address_ = front_.address(store_.folder().filename());
  std::shared_ptr<BlobStore> blobs_ = open_blobs(address_);
  mutable std::string what_;
};

using Reason = BlobRefused::Reason;

TEST_F(S3Blobs, TroubleThatPassesIsSatOut) {
  front_.trouble(R"({"unavailable":3})");
  EXPECT_TRUE(blobs_->put("key", "content"));
  front_.trouble(R"({"unavailable":3})");
  EXPECT_EQ(blobs_->get("key"), "content");
}

TEST_F(S3Blobs, APutWhoseAnswerWasLostIsKnownAsOurOwn) {
  front_.trouble(R"({"lost_answer":1})");
  EXPECT_TRUE(blobs_->put("small", "content"));
  EXPECT_FALSE(blobs_->put("small", "content"));
  // The last answer of several, after which the upload is gone.
  Pattern pattern{objects::usual_block + 1};
  auto before = front_.requests("POST object uploadId");
  front_.trouble(R"({"lost_end":1})");
  EXPECT_TRUE(blobs_->put("large", pattern));
  EXPECT_EQ(front_.requests("POST object uploadId"), before + 2);
  EXPECT_EQ(bytes_of_pattern(*blobs_, "large"), std::int64_t{objects::usual_block} + 1);
}

TEST_F(S3Blobs, WhatWasCutOffGoesOnWhereItEnded) {
  Pattern pattern{20'000'000};
  blobs_->put("key", pattern);
  auto before = front_.requests("GET object");
  front_.trouble(R"({"cut":3})");
  EXPECT_EQ(bytes_of_pattern(*blobs_, "key"), 20'000'000);
  EXPECT_EQ(front_.requests("GET object"), before + 4);
}

TEST_F(S3Blobs, OneThatIsDamagedIsFound) {
  Pattern pattern{20'000'000};
  blobs_->put("large", pattern);
  blobs_->put("small", "content");
  front_.trouble(R"({"flip":1})");
  EXPECT_THROW(blobs_->get("small"), BlobDamaged);
  EXPECT_THROW(blobs_->get("large"), BlobDamaged);
}

TEST_F(S3Blobs, AServerThatReplacesWhatIsThereIsRefused) {
  front_.trouble(R"({"careless":1})");
  EXPECT_EQ(reason_of(*open_blobs(address_)), Reason::service);
  EXPECT_THAT(what_, testing::HasSubstr("If-None-Match"));
}

TEST_F(S3Blobs, WhatIsRefusedSaysWhatToDo) {
  auto file = store_.folder() / "keys";
  auto with_keys = [&](const std::string& lines) {
    std::ofstream{file} << lines;
    return open_blobs(address_ + "?key_file=" + file.string());
  };
  EXPECT_EQ(reason_of(*with_keys("AKIDTEST\nwrong\n")), Reason::key);
  EXPECT_THAT(what_, testing::HasSubstr("not that of the key 'AKIDTEST'"));
  EXPECT_EQ(reason_of(*with_keys("AKIDOTHER\nwrong\n")), Reason::key);
  EXPECT_THAT(what_, testing::HasSubstr("no key with the id"));
  auto nowhere = address_;
  nowhere.replace(nowhere.find("bucket@"), 7, "nowhere@");
  EXPECT_EQ(reason_of(*open_blobs(nowhere)), Reason::container);
  EXPECT_THAT(what_, testing::HasSubstr("aws s3 mb s3://nowhere"));
  nowhere.replace(nowhere.find("nowhere@"), 8, "No_Name@");
  EXPECT_EQ(reason_of(*open_blobs(nowhere)), Reason::container);
  EXPECT_THAT(what_, testing::HasSubstr("'No_Name' is not a name"));
  front_.trouble(R"({"clock":1})");
  EXPECT_EQ(reason_of(*blobs_), Reason::clock);
  EXPECT_THAT(what_, testing::HasSubstr("60 minutes behind"));
}

TEST_F(S3Blobs, SessionTokensAreSigned) {
  auto file = store_.folder() / "keys";
  std::ofstream{file} << "AKIDTEST\ns3cr/et+\ntoken//==\n";
  EXPECT_TRUE(open_blobs(address_ + "?key_file=" + file.string())->put("key", "content"));
}

TEST_F(S3Blobs, PartsOfAWriterThatDiedAreInvisibleUntilTheyAreRemoved) {
  auto target = s3::parse(address_);
  auto service = std::make_shared<s3::ObjectService>(target.bucket, target.place);
  objects::Exchange exchange{target.server, service};
  auto all = Pattern::text(objects::usual_block);
  for (int i = 0; i < 3; ++i) {
    auto path = fmt::format("{}/{}key{}", target.place.root, target.place.prefix, i);
    s3::begin_upload(*service, exchange, path, {.put = "x"})->add(all);
  }
  EXPECT_FALSE(blobs_->get("key0"));
  EXPECT_EQ(blobs_->list().size(), 1u);
  EXPECT_EQ(blobs_->remove_unfinished(std::chrono::hours{1}), 0);
  EXPECT_TRUE(blobs_->put("key0", all + all));
  EXPECT_EQ(blobs_->remove_unfinished(std::chrono::seconds{0}), 3);
  EXPECT_EQ(blobs_->remove_unfinished(std::chrono::seconds{0}), 0);
  EXPECT_EQ(blobs_->list().size(), 2u);
}

TEST_F(S3Blobs, ThoseThatFailedLeaveNoParts) {
  class Ends final : public BlobSource {
   public:
    std::uint64_t size() const override { return 20'000'000; }
    std::size_t read(std::span<char> into) override { return content_.read(into); }

   private:
    Pattern content_{10'000'000};
  };
  Ends ends;
  EXPECT_THROW(blobs_->put("key", ends), BlobError);
  EXPECT_EQ(blobs_->remove_unfinished(std::chrono::seconds{0}), 0);
}

/// A server of somebody else's takes our signatures and makes the same sums. That it knows no
/// conditional writes is found out.
TEST(S3Rver, UnderstandsUsAndIsRefused) {
  S3Rver server;
  auto address = server.address("folder");
  auto blobs = open_blobs(address);
  try {
    blobs->put("key", "content");
    ADD_FAILURE() << "it is not a server to rely on";
  } catch (const BlobRefused& refused) {
    EXPECT_EQ(refused.reason(), Reason::service) << refused.what();
  }
  auto target = s3::parse(address);
  auto service = std::make_shared<s3::ObjectService>(target.bucket, target.place);
  objects::Exchange exchange{target.server, service};
  auto path = target.place.root + "/" + target.place.prefix;
  auto upload = s3::begin_upload(*service, exchange, path + "large",
                                 {.put = "x", .bytes = 20'000'000, .block = 8'000'000});
  auto all = Pattern::text(20'000'000);
  for (std::size_t at : {0u, 8'000'000u, 16'000'000u})
    upload->add(std::string_view{all}.substr(at, 8'000'000));
  EXPECT_EQ(upload->finish("").status, 200);
  EXPECT_EQ(bytes_of_pattern(*blobs, "large"), 20'000'000);
  EXPECT_EQ(blobs->list("la").size(), 1u);
  EXPECT_TRUE(blobs->remove("large"));
  EXPECT_FALSE(blobs->remove("large"));
  EXPECT_TRUE(blobs->list().empty());
}

}  // namespace
}  // namespace holdfast::test
