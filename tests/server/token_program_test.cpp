#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include "server/serving.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// `holdfast token` beside a server that runs, or does not.
class TokenProgram : public Serve {
 protected:
  Finished token(std::vector<std::string> words, bool json = false) const {
    words.insert(words.begin(), {HOLDFAST_PROGRAM, "--store", store_address_, "token"});
    if (json) words.insert(words.begin() + 1, "--json");
    return test::run(words);
  }
  std::string add(const std::string& name, std::vector<std::string> more) const {
    more.insert(more.begin(), {"add", name});
    const auto done = token(more, true);
    EXPECT_TRUE(done.ending.ok()) << done.err;
    return std::string{boost::json::parse(done.out).at("secret").as_string()};
  }
  std::string refusal_of(const std::vector<std::string>& words) const {
    const auto done = token(words);
    EXPECT_EQ(done.ending.code, 1) << done.out;
    return done.err;
  }
  Answer as(const Running& running, const std::string& secret, const std::string& method,
            const std::string& target, const std::string& body = {}) {
    return call(running.port, method, target, body, {{"Authorization", "Bearer " + secret}});
  }
  std::string file() const { return store_.database() + ".holdfast/server/tokens"; }
};

TEST_F(TokenProgram, MakesListsAndRevokesThemWhileTheServerRuns) {
  auto running = start();
  const auto secret = add("prometheus", {"--scope", "metrics", "--expires", "90d"});
  EXPECT_EQ(as(running, secret, "GET", "/metrics").status, 200);
  EXPECT_EQ(as(running, secret, "GET", "/v1/tasks").status, 403);
  const auto orders =
      add("orders", {"--scope", "enqueue", "--queue", "orders", "--kind", "mail.*"});
  EXPECT_EQ(
      as(running, orders, "POST", "/v1/tasks", R"({"kind":"mail.a","queue":"orders"})").status,
      201);
  EXPECT_EQ(as(running, orders, "POST", "/v1/tasks", R"({"kind":"pay","queue":"orders"})").status,
            403);
  const auto list = token({"list"}).out;
  for (const auto* shown : {"prometheus", "metrics", "active", "orders", "mail.*", "never", "cli/"})
    EXPECT_THAT(list, HasSubstr(shown));
  EXPECT_THAT(list, Not(HasSubstr(secret)));
  EXPECT_TRUE(token({"revoke", "prometheus"}).ending.ok());
  EXPECT_EQ(as(running, secret, "GET", "/metrics").status, 401);
  EXPECT_THAT(token({"list"}, true).out, HasSubstr(R"("state":"revoked")"));
  EXPECT_THAT(refusal_of({"revoke", "prometheus"}), HasSubstr("no token 'prometheus'"));
  const auto audit = get(running, "/v1/audit").body;
  for (const auto* what : {"token add prometheus", "token add orders", "token revoke prometheus"})
    EXPECT_THAT(audit, HasSubstr(what));
  running.process.kill();
  auto again = start();
  EXPECT_EQ(as(again, orders, "POST", "/v1/tasks", R"({"kind":"mail.a","queue":"orders"})").status,
            201);
  EXPECT_EQ(as(again, secret, "GET", "/metrics").status, 401);
  EXPECT_EQ(get(again, "/v1/audit").body, audit) << "nothing is told twice";
}

TEST_F(TokenProgram, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal_of({"add", "Bad Name", "--scope", "metrics"}), HasSubstr("'Bad Name'"));
  EXPECT_THAT(refusal_of({"add", "a", "--scope", "metrics", "--queue", "q"}), HasSubstr("neither"));
  EXPECT_THAT(refusal_of({"add", "a", "--scope", "work", "--expires", "90"}),
              HasSubstr("not a duration"));
  EXPECT_THAT(refusal_of({"add", "a", "--scope", "work", "--expires", "50000d"}),
              HasSubstr("not a duration"));
  EXPECT_THAT(refusal_of({"add", "a", "--scope", "work", "--expires", "4000d"}),
              HasSubstr("more than 10 years"));
  EXPECT_THAT(refusal_of({"add", "a", "--scope", "work", "--expires", "0s"}),
              HasSubstr("not in the future"));
  EXPECT_FALSE(token({"add", "a", "--scope", "everything"}).ending.ok());
  EXPECT_FALSE(token({"add", "a"}).ending.ok());
  EXPECT_THAT(refusal_of({"revoke", "a"}), HasSubstr("no token 'a'"));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(TokenProgram, LosesNoneWhereManyAreMadeAtOnce) {
  std::vector<std::thread> makers;
  for (int i = 0; i < 6; ++i)
    makers.emplace_back([&, i] { add("t-" + std::to_string(i), {"--scope", "metrics"}); });
  for (auto& maker : makers) maker.join();
  for (int i = 0; i < 6; ++i) EXPECT_THAT(token({"list"}).out, HasSubstr("t-" + std::to_string(i)));
}

TEST_F(TokenProgram, TellsLoudlyOfALineThatCannotBeRead) {
  const auto secret = add("prometheus", {"--scope", "metrics"});
  std::ofstream{file(), std::ios::app} << "garbage\n";
  const auto listed = token({"list"});
  EXPECT_EQ(listed.ending.code, 1);
  EXPECT_THAT(listed.out, HasSubstr("prometheus"));
  EXPECT_THAT(listed.err, HasSubstr(file() + ", line 3: "));
  auto running = start();
  EXPECT_TRUE(eventually(
      [&] { return running.process.err().find("tokens, line 3: ") != std::string::npos; }));
  EXPECT_EQ(as(running, secret, "GET", "/metrics").status, 200);
}

TEST_F(TokenProgram, ReadsAnotherFileIfItIsToldTo) {
  const auto other = (store_.folder() / "elsewhere").string();
  const auto secret = add("prometheus", {"--scope", "metrics", "--tokens", other});
  auto running = start({"--tokens", other});
  EXPECT_EQ(as(running, secret, "GET", "/metrics").status, 200);
  const auto state = (store_.folder() / "state").string();
  const auto second = add("prometheus", {"--scope", "metrics", "--state", state});
  auto next = start({"--state", state});
  EXPECT_EQ(as(next, second, "GET", "/metrics").status, 200);
  EXPECT_EQ(as(next, secret, "GET", "/metrics").status, 401);
}

}  // namespace
}  // namespace holdfast::test
