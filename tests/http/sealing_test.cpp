#include <holdfast/http/payloads.hpp>

#include <gmock/gmock.h>

#include <fmt/format.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "support/hindered_blobs.hpp"
#include "support/temp_store.hpp"

namespace holdfast::http {
namespace {

using testing::HasSubstr;
using testing::Not;

/// As an earlier version encrypted it with a key of 32 times 'k': a GET of http://127.0.0.1:1/.
constexpr std::string_view made_before =
    R"({"$encrypted":{"key":"k","value":"bm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ul8nThgvYyTf60si1f33JlbPqO)"
    R"(KHmWY3MOyCTBXU7hEApffTivUzDkucHbcO4Sc2qCpJXt5HYZ/ZYTktNdY41T6U="}})";

class Sealing : public testing::Test {
 protected:
  void SetUp() override { validate(options_); }
  std::shared_ptr<BlobStore> blobs() const {
    return open_blobs("dir:" + (store_.folder() / "blobs").string());
  }
  std::string refusal(std::string_view payload, const SealedFor& owner) const {
    try {
      unseal(payload, owner, options_);
      return "";
    } catch (const PayloadRefused& error) {
      return error.what();
    }
  }

  test::TempStore store_;
  PayloadOptions options_{.keyring = {.current = "k", .keys = {{"k", std::string(32, 'k')}}}};
  SealedFor owner_{TaskId::make(), "keep", "default"};
  boost::json::value document_{{"response", "it is secret"}};
};

TEST_F(Sealing, WhatIsEncryptedOpensForItsOwnerOnly) {
  const auto payload = seal(document_, owner_, "", options_);
  EXPECT_THAT(payload, Not(HasSubstr("secret")));
  EXPECT_EQ(unseal(payload, owner_, options_).document, document_);
  EXPECT_FALSE(unseal(payload, owner_, options_).unbound);
  for (const SealedFor& other :
       {SealedFor{TaskId::make(), owner_.kind, owner_.queue},
        SealedFor{owner_.task, "kee", owner_.queue}, SealedFor{owner_.task, owner_.kind, "other"},
        // Not even where all of it reads the same one after the other.
        SealedFor{owner_.task, "keepd", "efault"},
        SealedFor{owner_.task, owner_.kind, owner_.queue, SealedFor::Part::result}})
    EXPECT_THAT(refusal(payload, other), HasSubstr("copied from another task"));
}

TEST_F(Sealing, TheNameOfTheKeyIsPartOfIt) {
  auto payload = seal(document_, owner_, "", options_);
  options_.keyring.keys["l"] = options_.keyring.keys["k"];
  payload.replace(payload.find(R"("key":"k")"), 9, R"("key":"l")");
  EXPECT_THAT(refusal(payload, owner_), HasSubstr("with our key 'l'"));
}

TEST_F(Sealing, EveryChangedByteIsNoticed) {
  const auto payload = seal(document_, owner_, "", options_);
  const auto value = payload.find(R"("value":")") + 9;
  for (auto at = value; at < payload.size() - 4; ++at) {
    auto changed = payload;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_NE(refusal(changed, owner_), "") << at;
  }
  EXPECT_NE(refusal(R"({"$encrypted":{"version":2,"key":"k","value":""}})", owner_), "");
  EXPECT_THROW(unseal(R"({"$encrypted":{"version":3,"key":"k","value":""}})", owner_, options_),
               InvalidRequest);
}

TEST_F(Sealing, WhatIsSignedCanBeReadByAnyoneAndForgedByNobody) {
  auto signing = options_;
  signing.sign_only = true;
  const auto payload = seal(document_, owner_, "", signing);
  EXPECT_THAT(payload, HasSubstr("it is secret"));
  EXPECT_TRUE(is_sealed(payload));
  const auto opened = unseal(payload, owner_, options_);
  EXPECT_EQ(opened.document, document_);
  EXPECT_TRUE(opened.authentic);
  for (const SealedFor& other :
       {SealedFor{TaskId::make(), owner_.kind, owner_.queue},
        SealedFor{owner_.task, "kee", owner_.queue}, SealedFor{owner_.task, owner_.kind, "other"},
        SealedFor{owner_.task, "keepd", "efault"},
        SealedFor{owner_.task, owner_.kind, owner_.queue, SealedFor::Part::result}})
    EXPECT_THAT(refusal(payload, other), HasSubstr("copied from another task"));
  auto forged = payload;
  forged.replace(forged.find("secret"), 6, "forged");
  EXPECT_THAT(refusal(forged, owner_), HasSubstr("signed with our key 'k'"));
  for (const auto* mac : {"", "AAAA"})
    EXPECT_NE(refusal(fmt::format(R"({{"$signed":{{"version":1,"key":"k","mac":"{}",)"
                                  R"("text":"{{}}"}}}})",
                                  mac),
                      owner_),
              "");
}

TEST_F(Sealing, ASignatureIsOfItsKeyOnly) {
  options_.sign_only = true;
  auto payload = seal(document_, owner_, "", options_);
  options_.keyring.keys["l"] = options_.keyring.keys["k"];
  payload.replace(payload.find(R"("key":"k")"), 9, R"("key":"l")");
  EXPECT_THAT(refusal(payload, owner_), HasSubstr("with our key 'l'"));
  options_.keyring.keys.erase("l");
  EXPECT_THROW(unseal(payload, owner_, options_), InvalidRequest);
}

/// An enqueue whose reply was lost is repeated, and stores compare payloads.
TEST_F(Sealing, TheSameForTheSameOwnerIsTheSame) {
  const auto payload = seal(document_, owner_, "", options_);
  EXPECT_EQ(seal(document_, owner_, "", options_), payload);
  auto beginning = [](const std::string& text) {
    constexpr std::size_t of_the_nonce = 32;
    const auto sealed = boost::json::parse(text).at("$encrypted").at("value");
    return std::string{sealed.as_string()}.substr(0, of_the_nonce);
  };
  EXPECT_NE(beginning(seal({{"response", "else"}}, owner_, "", options_)), beginning(payload));
  const SealedFor other{TaskId::make(), owner_.kind, owner_.queue};
  EXPECT_NE(beginning(seal(document_, other, "", options_)), beginning(payload));
}

TEST_F(Sealing, WhatEarlierVersionsEncryptedOpensUntilThatIsRefused) {
  const auto opened = unseal(made_before, owner_, options_);
  EXPECT_TRUE(opened.unbound);
  EXPECT_EQ(opened.document.at("http_method").as_string(), "get");
  std::string changed{made_before};
  changed[80] = changed[80] == 'A' ? 'B' : 'A';
  EXPECT_NE(refusal(changed, owner_), "");
  options_.accept_unbound = false;
  EXPECT_THAT(refusal(made_before, owner_), HasSubstr("without --refuse-unbound"));
}

TEST_F(Sealing, WithAKeyPlainRequestsAndAnswersAreRefused) {
  EXPECT_THAT(refusal(R"({"response":1})", owner_), HasSubstr("--accept-plain"));
  EXPECT_THAT(refusal(R"({"$encrypted":{},"more":1})", owner_), HasSubstr("neither encrypted"));
  options_.accept_plain = true;
  EXPECT_EQ(refusal(R"({"response":1})", owner_), "");
  options_.accept_plain = false;
  options_.keyring.current.clear();
  EXPECT_EQ(refusal(R"({"response":1})", owner_), "") << "nobody encrypts anything";
}

TEST_F(Sealing, PlainOnesAreRefusedInBlobsToo) {
  options_.blobs = blobs();
  const auto name = "store." + owner_.task.text();
  options_.blobs->put(name, R"({"response":1})");
  EXPECT_THAT(refusal(fmt::format(R"({{"$blob":"{}"}})", name), owner_),
              HasSubstr("neither encrypted"));
}

TEST_F(Sealing, NamesOfBlobsSayWhoseTheyAre) {
  constexpr auto payload = SealedFor::Part::payload, result = SealedFor::Part::result;
  const auto task = TaskId::make(), other = TaskId::make();
  const auto id = task.text(), any = other.text();
  for (const auto& name : {"store." + id, id}) {
    EXPECT_TRUE(is_blob_of(name, task, payload)) << name;
    EXPECT_FALSE(is_blob_of(name, task, result)) << name;
    EXPECT_FALSE(is_blob_of(name, other, payload)) << name;
    EXPECT_TRUE(is_blob_of(name + "." + any, task, result)) << name;
    EXPECT_FALSE(is_blob_of(name + "." + any, task, payload)) << name;
    EXPECT_FALSE(is_blob_of(name + "." + any, other, result)) << name;
  }
  for (const auto& name : {std::string{}, "." + id, "x" + id, "a.b." + id, id + ".",
                           "store." + id + "x", "../x/" + id, "store.." + id})
    EXPECT_FALSE(is_blob_of(name, task, payload)) << name;
  // The result of another task, which is named after this one, is not its payload.
  EXPECT_FALSE(is_blob_of("store." + any + "." + id, task, payload));
}

TEST_F(Sealing, BlobsOfOtherTasksAreNotEvenRead) {
  options_.blobs = std::make_shared<test::HinderedBlobs>(
      blobs(), [](std::string_view) { throw BlobError{"somebody read a blob"}; });
  const auto other = "store." + TaskId::make().text();
  for (const auto& name :
       {other, std::string{"not-ours"}, std::string{"../escape"}, std::string{}}) {
    const auto payload = boost::json::serialize(boost::json::value{{"$blob", name}});
    EXPECT_THAT(refusal(payload, owner_), HasSubstr("does not belong to task"));
    EXPECT_EQ(blob_of(payload, owner_.task), "");
  }
  options_.threshold = 10;
  EXPECT_THROW(seal(document_, owner_, other, options_), InvalidRequest);
}

TEST_F(Sealing, KindsThatMustBeSealedNeedAKey) {
  options_.sealed_kinds = {"store_profile", "mail_*"};
  for (const auto* kind : {"store_profile", "mail_", "mail_welcome"})
    EXPECT_TRUE(must_be_sealed(kind, options_)) << kind;
  for (const auto* kind : {"store_profile2", "mail", "other", ""})
    EXPECT_FALSE(must_be_sealed(kind, options_)) << kind;
  EXPECT_NO_THROW(validate(options_));
  options_.keyring = {};
  EXPECT_THROW(validate(options_), ConfigError);
}

}  // namespace
}  // namespace holdfast::http
