#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "server/login_audit.hpp"
#include "server/login_brake.hpp"
#include "server/secrets.hpp"
#include "server/server_under_test.hpp"
#include "server/users.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string login_body(const std::string& user, const std::string& password) {
  return fmt::format(R"({{"user":"{}","password":"{}"}})", user, password);
}

/// Lines of a file with these users; each has the password `long enough`.
std::string users_text(const std::vector<std::pair<std::string, server::Role>>& people) {
  TempStore place;
  server::Users list{place.folder() / "list"};
  std::string text;
  for (const auto& [name, role] : people) list.add(name, role, "long enough");
  for (const auto& user : list.list())
    text += fmt::format("{} {} {}\n", user.name, to_string(user.role), user.hash);
  return text;
}

class Login : public testing::Test {
 protected:
  Headers log_in(const std::string& user) {
    const auto answer = server_.bare("POST", "/v1/login", login_body(user, "long enough"));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto& cookie = answer.headers.at("set-cookie");
    return {{"Cookie", cookie.substr(0, cookie.find(';'))},
            {"X-CSRF-Token", std::string{answer.json().at("csrf").as_string()}}};
  }
  int asks(const Headers& who) { return server_.bare("GET", "/v1/tasks", {}, who).status; }
  std::string users_file() const { return server_.store().folder() / "users"; }
  /// As another process does, by `holdfast user`.
  server::Users elsewhere() const { return server::Users{users_file()}; }
  std::vector<server::AuditEntry> audit() { return server_.service().audit().list(100, INT64_MAX); }

  ServerUnderTest server_{
      {.users = users_text({{"ada", server::Role::operates}, {"vera", server::Role::viewer}})}};
};

TEST_F(Login, EndsWithANewPassword) {
  const auto ada = log_in("ada"), same = log_in("ada"), vera = log_in("vera");
  EXPECT_EQ(asks(ada), 200);
  elsewhere().add("ada", server::Role::operates, "another one");
  EXPECT_EQ(asks(ada), 401);
  EXPECT_EQ(asks(same), 401);
  EXPECT_EQ(asks(vera), 200) << "of others it does not";
  EXPECT_EQ(server_.bare("POST", "/v1/login", login_body("ada", "another one")).status, 200);
}

TEST_F(Login, EndsWithTheSamePasswordGivenAgain) {
  const auto ada = log_in("ada");
  elsewhere().add("ada", server::Role::operates, "long enough");
  EXPECT_EQ(asks(ada), 401);
}

TEST_F(Login, EndsWithAnotherRole) {
  const auto ada = log_in("ada");
  const auto users = elsewhere().list();
  std::string text;
  for (const auto& user : users) text += fmt::format("{} viewer {}\n", user.name, user.hash);
  write_private_file(users_file(), text);
  EXPECT_EQ(asks(ada), 401);
  std::string back;
  for (const auto& user : users)
    back += fmt::format("{} {} {}\n", user.name, to_string(user.role), user.hash);
  write_private_file(users_file(), back);
  EXPECT_EQ(asks(ada), 401) << "for good";
}

TEST_F(Login, EndsWithTheUser) {
  const auto ada = log_in("ada");
  elsewhere().remove("ada");
  EXPECT_EQ(asks(ada), 401);
  elsewhere().add("ada", server::Role::operates, "long enough");
  EXPECT_EQ(asks(ada), 401);
}

TEST_F(Login, EndsItsLiveEventsToo) {
  auto headers = log_in("vera");
  headers["Host"] = server_.host();
  Wire wire{server_.port()};
  wire.send(request_text("GET", "/v1/events", {}, headers));
  EXPECT_THAT(wire.until("event: workers\n"), HasSubstr("text/event-stream"));
  elsewhere().remove("vera");
  bool ended = false;
  for (int seconds = 0; seconds < 20 && !ended; ++seconds)
    ended = wire.until("event: point\n").find("event: point") == std::string::npos;
  EXPECT_TRUE(ended) << "there is an event each second";
}

TEST_F(Login, TellsStrangersNoPaths) {
  const auto ada = log_in("ada");
  const auto folder = server_.store().folder().string();
  const auto file = users_file();
  for (const bool garbled : {false, true}) {
    const auto kept = file + ".kept";
    std::filesystem::rename(file, kept);
    if (garbled) write_private_file(file, "ada is here\n");
    const auto answer = server_.bare("POST", "/v1/login", login_body("ada", "long enough"));
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.code(), "users_unavailable");
    EXPECT_THAT(answer.body, Not(HasSubstr(folder)));
    const auto asked = server_.bare("GET", "/v1/tasks", {}, ada);
    EXPECT_EQ(asked.status, 401);
    EXPECT_THAT(asked.body, Not(HasSubstr(folder)));
    EXPECT_EQ(server_.bare("GET", "/", {}, ada).status, server_.bare("GET", "/").status);
    std::filesystem::rename(kept, file);
  }
  EXPECT_THAT(server_.log(), HasSubstr("users_unreadable"));
  EXPECT_THAT(server_.log(), HasSubstr(file));
  EXPECT_EQ(asks(ada), 200) << "nothing has changed for who is logged in";
}

TEST_F(Login, IsRefusedWhereOthersCouldHaveWrittenTheUsers) {
  const auto ada = log_in("ada");
  namespace fs = std::filesystem;
  fs::permissions(users_file(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(server_.bare("POST", "/v1/login", login_body("ada", "long enough")).status, 503);
  EXPECT_EQ(asks(ada), 401) << "another user may have written the file";
  fs::permissions(users_file(), fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(asks(ada), 200);
  constexpr uid_t nobody = 65'534;
  if (::geteuid() != 0) return;  // only root can give a file away
  ASSERT_EQ(::chown(users_file().c_str(), nobody, nobody), 0);
  EXPECT_EQ(asks(ada), 401);
  EXPECT_THROW(elsewhere().list(), ConfigError);
  const auto folder = fs::path{users_file()}.parent_path();
  ASSERT_EQ(::chown(folder.c_str(), nobody, nobody), 0);
  EXPECT_EQ(elsewhere().list().size(), 2u) << "root keeps the file of a service";
}

TEST_F(Login, IsAudited) {
  const auto ada = log_in("ada");
  EXPECT_EQ(server_.bare("POST", "/v1/logout", "{}", ada).status, 204);
  EXPECT_EQ(server_.bare("POST", "/v1/login", login_body("vera", "a wrong one")).status, 401);
  const auto entries = audit();
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_EQ(entries[2].who, "operator/ada");
  EXPECT_EQ(entries[2].what, "POST /v1/login");
  EXPECT_EQ(entries[2].from, "127.0.0.1");
  EXPECT_EQ(entries[2].outcome, "logged in");
  EXPECT_EQ(entries[1].what, "POST /v1/logout");
  EXPECT_EQ(entries[1].outcome, "logged out");
  EXPECT_EQ(entries[0].who, "unknown");
  EXPECT_EQ(entries[0].from, "127.0.0.1");
  EXPECT_EQ(entries[0].details, R"({"user":"vera","failed":1,"refused":0})");
  EXPECT_EQ(entries[0].outcome, "refused");
  for (const auto& entry : entries) EXPECT_THAT(audit_json(entry), Not(HasSubstr("long enough")));
}

TEST_F(Login, IsRefusedWhereItCannotBeAudited) {
  std::filesystem::remove(server_.folder() + "/audit.jsonl.head");
  const auto answer = server_.bare("POST", "/v1/login", login_body("ada", "long enough"));
  EXPECT_EQ(answer.code(), "audit_unavailable") << answer.body;
  EXPECT_FALSE(answer.headers.contains("set-cookie"));
  EXPECT_THAT(answer.body, Not(HasSubstr(server_.folder())));
  EXPECT_THAT(server_.log(), HasSubstr("audit_unwritable"));
}

TEST_F(Login, FailuresInAFloodAreAuditedTogether) {
  int braked = 0;
  for (int i = 0; i < 300; ++i)
    braked += server_.bare("POST", "/v1/login", R"({"token":"guess"})").status == 429;
  EXPECT_GT(braked, 200);
  EXPECT_THAT(audit(), SizeIs(testing::Le(2)));
}

TEST_F(Login, IsNotHeldUpByLinksThatAreWrong) {
  const auto code = server_.service().gate().one_time_code();
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(server_.bare("GET", fmt::format("/login?once={}", i)).status, 401);
  EXPECT_EQ(server_.bare("POST", "/v1/login", login_body("ada", "long enough")).status, 200);
  EXPECT_EQ(server_.bare("GET", "/login?once=" + code).status, 303);
  EXPECT_THAT(audit(), SizeIs(testing::Le(4)));
}

TEST(BehindProxy, BelievesTheLastHopOfItsProxyOnly) {
  ServerUnderTest server{{.proxies = {"127.0.0.0/8"}}};
  const auto seen = [&](const std::string& forwarded) {
    const auto answer = server.bare("POST", "/v1/login", R"({"token":")" + server.token() + R"("})",
                                    {{"X-Forwarded-For", forwarded}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return server.service().audit().list(1, INT64_MAX).at(0).from;
  };
  EXPECT_EQ(seen("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(seen("127.0.0.1, 203.0.113.9,192.0.2.2"), "192.0.2.2");
  EXPECT_EQ(seen("192.0.2.3:4711"), "192.0.2.3");
  EXPECT_EQ(seen("[2001:db8::1]:4711"), "2001:db8::1");
  EXPECT_EQ(seen("2001:db8::2"), "2001:db8::2");
  for (const auto* nonsense : {"", "unknown", "192.0.2.4, ", "<script>", "[", "192.0.2.4/24"})
    EXPECT_EQ(seen(nonsense), "127.0.0.1") << nonsense;
}

TEST(BehindProxy, RefusesOtherPeersThanTheProxy) {
  ServerUnderTest server{{.proxies = {"192.0.2.0/24", "2001:db8::/64"}}};
  auto headers = server.bearer();
  headers["X-Forwarded-For"] = "192.0.2.1";
  for (const auto* target : {"/v1/tasks", "/", "/login?once=a", "/metrics", "/nothing"}) {
    const auto answer = server.bare("GET", target, {}, headers);
    EXPECT_EQ(answer.status, 403) << target;
    EXPECT_EQ(answer.code(), "not_the_proxy") << target;
  }
  EXPECT_EQ(server.bare("POST", "/v1/login", "{}", headers).code(), "not_the_proxy");
  EXPECT_EQ(server.bare("GET", "/healthz").status, 200);
  EXPECT_EQ(server.bare("GET", "/readyz").status, 200);
}

TEST(FailedLogins, AreDueAtOnceAndThenSeldom) {
  server::FailedLogins failed;
  EXPECT_FALSE(failed.due());
  Millis now{1'000'000};
  failed.add("POST /v1/login", "ada", "192.0.2.1", false);
  EXPECT_LE(failed.due().value(), now);
  EXPECT_THAT(failed.take(now), SizeIs(1));
  EXPECT_FALSE(failed.due());
  for (int i = 0; i < 1'000; ++i) failed.add("POST /v1/login", "ada", "192.0.2.1", i % 2 == 1);
  EXPECT_EQ(failed.due().value(), now + server::FailedLogins::pause);
  const auto lines = failed.take(now += server::FailedLogins::pause);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].failed, 500);
  EXPECT_EQ(lines[0].refused, 500);
}

TEST(FailedLogins, OfManyAreAFewLines) {
  server::FailedLogins failed;
  for (int i = 0; i < 10'000; ++i)
    failed.add("POST /v1/login", fmt::format("user{}", i), fmt::format("198.51.{}.1", i % 250),
               false);
  for (int i = 0; i < 3; ++i) failed.add("POST /v1/login", "user7", "198.51.7.1", false);
  failed.add("POST /v1/login", "my pass word\n", "192.0.2.1", false);
  const auto lines = failed.take(Millis{0});
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_EQ(lines[0].user, "user7") << "those who failed most";
  EXPECT_EQ(lines[0].failed, 4);
  std::int64_t sum = 0;
  for (const auto& line : lines) {
    sum += line.failed;
    EXPECT_THAT(line.user, Not(HasSubstr("my pass")));
  }
  EXPECT_EQ(sum, 10'004);
  failed.put_back(lines[0]);
  EXPECT_THAT(failed.take(Millis{0}), SizeIs(1)) << "what could not be written is not lost";
}

class Brake : public testing::Test {
 protected:
  void fail(const std::string& user, const std::string& peer, int times = 1) {
    for (int i = 0; i < times; ++i) brake_.failed(user, peer, now_);
  }
  Millis wait(const std::string& user, const std::string& peer) {
    return brake_.wait(user, peer, now_);
  }

  server::LoginBrake brake_;
  Millis now_{1'000'000};
};

TEST_F(Brake, OfAnAddressLetsGoWithTime) {
  fail("ada", "192.0.2.1", 4);
  EXPECT_EQ(wait("ada", "192.0.2.1"), Millis{0});
  fail("ada", "192.0.2.1");
  EXPECT_GT(wait("ada", "192.0.2.1"), Millis{0});
  EXPECT_GT(wait("", "192.0.2.1"), Millis{0}) << "whatever it tries";
  EXPECT_EQ(wait("ada", "192.0.2.2"), Millis{0});
  now_ += Millis{1'000};
  EXPECT_EQ(wait("ada", "192.0.2.1"), Millis{0});
  fail("bob", "192.0.2.1", 50);
  EXPECT_EQ(wait("ada", "192.0.2.1"), Millis{60'000});
  now_ += Millis{600'001};
  EXPECT_EQ(wait("ada", "192.0.2.1"), Millis{0});
  fail("ada", "192.0.2.1", 4);
  EXPECT_EQ(wait("ada", "192.0.2.1"), Millis{0}) << "forgotten";
}

TEST_F(Brake, TakesANetworkOfIpv6ForOneAddress) {
  for (int i = 0; i < 5; ++i) fail("ada", fmt::format("2001:db8::{}", i + 1));
  EXPECT_GT(wait("ada", "2001:db8::ffff"), Millis{0});
  EXPECT_EQ(wait("ada", "2001:db8:0:1::1"), Millis{0});
  fail("ada", "::ffff:192.0.2.1", 5);
  EXPECT_GT(wait("ada", "192.0.2.1"), Millis{0});
  EXPECT_EQ(wait("ada", "::ffff:192.0.2.2"), Millis{0});
}

TEST_F(Brake, OfAUserSlowsDownManyAddresses) {
  for (int i = 0; i < 20; ++i) fail("ada", fmt::format("198.51.100.{}", i));
  EXPECT_EQ(wait("ada", "198.51.100.1"), Millis{60'000}) << "after one failure";
  EXPECT_EQ(wait("bob", "198.51.100.1"), Millis{0});
  for (int i = 20; i < 100; ++i) fail("ada", fmt::format("198.51.100.{}", i));
  EXPECT_EQ(wait("ada", "198.51.100.99"), Millis{300'000});
}

TEST_F(Brake, LetsNoOneLockAUserOutFromElsewhere) {
  for (int i = 0; i < 5'000; ++i) fail("ada", fmt::format("198.51.{}.{}", i / 250, i % 250));
  EXPECT_EQ(wait("ada", "192.0.2.1"), Millis{0});
  fail("ada", "192.0.2.1");
  for (int minute = 0; minute < 5; ++minute) {
    now_ += Millis{60'000};
    fail("ada", "198.51.0.1");  // the attack continues elsewhere
  }
  EXPECT_EQ(wait("ada", "192.0.2.1"), Millis{0}) << "as long as it lasts";
}

TEST_F(Brake, IsNotLoosenedByLoggingInAsOneself) {
  for (int i = 0; i < 10; ++i) {
    fail("ada", "192.0.2.1");
    fail("eve", "192.0.2.1");
    brake_.succeeded("eve", "192.0.2.1");
  }
  EXPECT_GT(wait("ada", "192.0.2.1"), Millis{0});
  fail("bob", "192.0.2.2", 6);
  brake_.succeeded("bob", "192.0.2.2");
  EXPECT_EQ(wait("bob", "192.0.2.2"), Millis{0}) << "one's own mistakes are forgotten";
}

TEST_F(Brake, CannotBePushedOutOfMemory) {
  fail("ada", "0.0.0.1", 10);  // the first of all in any order
  for (int i = 0; i < 30'000; ++i)
    fail(fmt::format("u{}", i), fmt::format("10.{}.{}.1", i / 250, i % 250));
  EXPECT_GT(wait("ada", "0.0.0.1"), Millis{0});
  fail(std::string(60'000, 'x'), "192.0.2.1", 5);
  EXPECT_GT(wait(std::string(60'000, 'y'), "192.0.2.1"), Millis{0});
}

}  // namespace
}  // namespace holdfast::test
