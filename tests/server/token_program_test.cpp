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

TEST_F(TokenProgram, KeepsNoneWhereOtherUsersMayWrite) {
  const auto state = store_.folder() / "state";
  std::filesystem::create_directory(state);
  std::filesystem::permissions(state, std::filesystem::perms{0777});
  const std::vector<std::string> words{"add", "a", "--scope", "work"};
  auto elsewhere = words;
  elsewhere.insert(elsewhere.end(), {"--state", state.string()});
  EXPECT_THAT(refusal_of(elsewhere), HasSubstr("other users may write to it"));
  EXPECT_TRUE(std::filesystem::is_empty(state));
  const std::filesystem::path beside = store_.database() + ".holdfast";
  std::filesystem::create_directory(beside);
  std::filesystem::permissions(beside, std::filesystem::perms{0777});
  EXPECT_THAT(refusal_of(words), HasSubstr("other users may write to it"));
  std::filesystem::permissions(beside, std::filesystem::perms{0700});
  add("a", {"--scope", "work"});
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

TEST_F(TokenProgram, LinesThatCannotBeReadShowInHealthAndDoctor) {
  auto running = start();
  add("orders", {"--scope", "enqueue"});
  const auto health = [&] { return get(running, "/v1/health").body; };
  const auto doctor = [&] {
    return test::run({HOLDFAST_PROGRAM, "--store", store_.address(), "doctor"}).out;
  };
  EXPECT_THAT(health(), HasSubstr("The tokens of programs can be read."));
  EXPECT_THAT(doctor(), Not(HasSubstr("line ")));
  std::ofstream{file(), std::ios::app} << "{\"name\":\"torn\n";
  EXPECT_THAT(health(), HasSubstr("1 line of the file of tokens cannot be read"));
  EXPECT_THAT(health(), HasSubstr(R"({"about":"tokens","level":"warning")"));
  EXPECT_THAT(health(), Not(HasSubstr(file()))) << "where it is, viewers need not know";
  EXPECT_THAT(doctor(), HasSubstr(file() + ", line 3"));
  std::filesystem::permissions(file(), std::filesystem::perms{0666});
  EXPECT_THAT(health(), HasSubstr(R"({"about":"tokens","level":"bad")"));
  EXPECT_THAT(doctor(), HasSubstr("the tokens in " + file() + " cannot be used"));
}

TEST_F(TokenProgram, WhoEnlistedAWorkerIsKnownToTheNextServer) {
  auto running = start();
  const auto secret = add("mailer", {"--scope", "work"});
  const auto enlisted = as(running, secret, "POST", "/v1/remote/workers", R"({"kinds":["mail"]})");
  ASSERT_EQ(enlisted.status, 201) << enlisted.body;
  const std::string worker{enlisted.json().at("worker").as_string()};
  running.process.kill();
  auto again = start();
  const auto listed = get(again, "/v1/workers").json().at("workers").as_array();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].at("id").as_string(), worker);
  EXPECT_EQ(listed[0].at("enlisted_by"), boost::json::value("token/mailer"));
}

TEST_F(TokenProgram, HaveQuotas) {
  auto running = start();
  const auto secret =
      add("shop", {"--scope", "enqueue", "--quota-per-minute", "2", "--quota-waiting", "50"});
  EXPECT_THAT(token({"list"}).out, HasSubstr("2 a minute, 50 waiting"));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(as(running, secret, "POST", "/v1/tasks", R"({"kind":"a"})").status, 201);
  const auto over = as(running, secret, "POST", "/v1/tasks", R"({"kind":"a"})");
  EXPECT_EQ(over.status, 429) << over.body;
  EXPECT_TRUE(over.headers.contains("retry-after"));
  EXPECT_THAT(refusal_of({"add", "bad", "--scope", "work", "--quota-waiting", "5"}),
              HasSubstr("a quota limits the scope enqueue"));
}

}  // namespace
}  // namespace holdfast::test
