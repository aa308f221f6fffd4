#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "http/program_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

class PrintedRequests : public ProgramScenario {
 protected:
  /// The words of a POST that is printed.
  static std::vector<std::string> print_words(const std::string& url,
                                              const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"http", "post", url, "--data", "pay", "--print"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::int64_t held() const {
    return inspector_.count({.states = {TaskState::held}, .kind = request_kind});
  }
};

test::Reply no_answer(const ServedRequest&) {
  test::Reply reply = answer(200);
  reply.never = true;
  return reply;
}

TEST_F(PrintedRequests, AreAnsweredOnStandardOutput) {
  HttpServer server{[](const ServedRequest& request) {
    return answer(request.target == "/missing" ? 404 : 200,
                  request.method + request.headers.at("x-a") + request.body);
  }};
  auto printed = cli({"http", "post", server.url("/?q=1"), "--header", "X-A: b", "--data", "body",
                      "--print", "--allow-private"});
  EXPECT_EQ(printed.out, "POSTbbody") << printed.err;
  EXPECT_TRUE(printed.ending.ok());
  auto missing = cli(
      {"http", "get", server.url("/missing"), "--header", "X-A: b", "--print", "--allow-private"});
  EXPECT_EQ(missing.ending.code, 1);
  auto blocked = cli({"http", "get", server.url(), "--print"});
  EXPECT_EQ(blocked.ending.code, 1);
  EXPECT_THAT(blocked.err, HasSubstr("loopback"));
  auto raised = cli({"http", "get", server.url("/missing"), "--header", "X-A: b", "--raise",
                     "--print", "--allow-private"});
  EXPECT_EQ(raised.ending.code, 1);
}

TEST_F(PrintedRequests, LeaveNothingInTheStore) {
  HttpServer server{[](const ServedRequest& request) {
    return answer(request.target == "/missing" ? 404 : 200, "x");
  }};
  const auto queues = [&] { return cli({"--json", "queue", "status"}).out; };
  cli({"task", "add", "other", "--queue", "others"});
  for (const auto* path : {"/", "/missing"})
    cli({"http", "get", server.url(path), "--raise", "--print", "--allow-private"});
  EXPECT_EQ(server.served(), 2);
  EXPECT_THAT(queues(), HasSubstr("others"));
  EXPECT_THAT(queues(), testing::Not(HasSubstr("http-print")));
  EXPECT_EQ(inspector_.count({.kind = request_kind}), 0);
  // Nobody knows whether this one was done, so it is not forgotten.
  HttpServer silent{no_answer};
  const auto held = cli(
      {"http", "post", silent.url(), "--hold", "--print", "--allow-private", "--timeout", "300ms"});
  EXPECT_THAT(held.err, HasSubstr("may have been sent"));
  EXPECT_EQ(inspector_.count({.states = {TaskState::held}, .kind = request_kind}), 1);
}

TEST_F(PrintedRequests, AreNotTakenByAProcessorOfTheSameStore) {
  std::mutex mutex;
  std::multiset<std::string> senders;
  HttpServer server{[&](const ServedRequest& request) {
    std::lock_guard lock{mutex};
    senders.insert(request.headers.at("user-agent"));
    return answer(200, request.body);
  }};
  test::Process processor{command(run_words({"--user-agent", "other"}))};
  enqueue(server.url(), 1);
  ASSERT_TRUE(test::eventually([&] { return server.served() == 1; })) << processor.err();
  constexpr int count = 5;
  for (int i = 0; i < count; ++i) {
    const auto printed = cli(print_words(server.url(), {"--allow-private", "--hold"}));
    EXPECT_EQ(printed.out, "pay") << printed.err;
    EXPECT_TRUE(printed.ending.ok());
  }
  std::lock_guard lock{mutex};
  EXPECT_EQ(senders.count("holdfast"), count);
  EXPECT_EQ(senders.count("other"), 1u) << "what was enqueued, and nothing else";
}

TEST_F(PrintedRequests, ThatAreRefusedAreSentByNobody) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const std::vector<std::vector<std::string>> wrong{{"--allow", "127.0.0.1:80"},
                                                    {"--proxy", "foo"},
                                                    {"--ca-file", "/nope"},
                                                    {"--secrets", "/nope"},
                                                    {"--signing-key", "a=/nope"},
                                                    {"--signing-key", "a"},
                                                    {"--payload-key", "a=/nope"},
                                                    {"--sign-with", "unknown"},
                                                    {"--secret-header", "X-A: unknown"}};
  for (auto more : wrong) {
    more.insert(more.end(), {"--hold", "--allow-private"});
    const auto refused = cli(print_words(server.url(), more));
    EXPECT_EQ(refused.ending.code, 1) << more.front();
    EXPECT_GT(refused.err.size(), std::string_view{"holdfast: \n"}.size()) << more.front();
  }
  EXPECT_EQ(inspector_.count({}), 0);
  EXPECT_EQ(server.served(), 0);
}

TEST_F(PrintedRequests, TakeNoOptionsThatWouldBeOfNoUse) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const std::vector<std::pair<std::string, std::string>> useless{
      {"--callback", "keep"}, {"--context", "{}"}, {"--delay", "1s"}, {"--unique", "u"},
      {"--limit-key", "l"},   {"--tag", "t"},      {"--queue", "q"},  {"--priority", "1"}};
  for (const auto& [option, value] : useless) {
    const auto refused = cli(print_words(server.url(), {"--allow-private", option, value}));
    EXPECT_EQ(refused.ending.code, 1) << option;
    EXPECT_THAT(refused.err, HasSubstr(option == "--callback" ? "not both" : option + " is for"));
  }
  EXPECT_EQ(server.served(), 0);
  const auto held = cli(
      print_words(server.url(), {"--allow-private", "--hold", "--queue", "q", "--priority", "1"}));
  EXPECT_TRUE(held.ending.ok()) << held.err;
}

TEST_F(PrintedRequests, ThatAreInterruptedAreNotSentLater) {
  HttpServer server{no_answer};
  int sent = 0;
  for (int signal : {SIGINT, SIGTERM}) {
    test::Process printing{command(print_words(server.url(), {"--allow-private"}))};
    ++sent;
    ASSERT_TRUE(test::eventually([&] { return server.served() == sent; })) << printing.err();
    printing.signal(signal);
    const auto ending = printing.wait();
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->code, 130);
    EXPECT_THAT(printing.err(), HasSubstr("may have been sent"));
    EXPECT_EQ(inspector_.count({}), 0);
  }
  HttpServer busy{[](const ServedRequest&) { return answer(503); }};
  test::Process waiting{command(print_words(busy.url(), {"--allow-private", "--hold"}))};
  ASSERT_TRUE(test::eventually(
      [&] { return waiting.err().find("503; trying again in") != std::string::npos; }));
  waiting.signal(SIGINT);
  ASSERT_TRUE(waiting.wait());
  EXPECT_THAT(waiting.err(), HasSubstr("503"));
  EXPECT_EQ(inspector_.count({}), 0) << "it was turned away";
}

TEST_F(PrintedRequests, ThatMustNotBeSentTwiceAreHeldWhereverTheirProcessEnds) {
  HttpServer silent{no_answer};
  test::Process interrupted{command(print_words(silent.url(), {"--allow-private", "--hold"}))};
  ASSERT_TRUE(test::eventually([&] { return silent.served() == 1; }));
  EXPECT_EQ(held(), 1) << "before the first byte";
  interrupted.signal(SIGINT);
  ASSERT_TRUE(interrupted.wait());
  EXPECT_THAT(interrupted.err(), HasSubstr("held as task"));
  EXPECT_EQ(held(), 1);
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  for (const auto* point : {"http_before_send", "http_after_answer"}) {
    const auto died = test::run(command(print_words(server.url(), {"--allow-private", "--hold"})),
                                {{"HOLDFAST_KILL_AT", point}});
    EXPECT_EQ(died.ending.signal, SIGKILL) << died.err;
  }
  EXPECT_EQ(server.served(), 1);
  EXPECT_EQ(held(), 3);
  cli(run_words({"--until-empty"}));
  EXPECT_EQ(held(), 3) << "not by itself";
  for (const auto& task : inspector_.tasks({.kind = request_kind}))
    EXPECT_THAT(task.cause, HasSubstr("may have been sent"));
  inspector_.cancel({.ids = {inspector_.tasks({}, {.newest_first = false}).front().id}});
  inspector_.retry({.states = {TaskState::held}, .kind = request_kind});
  cli(run_words({"--until-empty"}));
  EXPECT_EQ(server.served(), 3) << "an operator has decided";
}

TEST_F(PrintedRequests, LeaveNoBlob) {
  HttpServer server{[](const ServedRequest& request) { return answer(200, request.body); }};
  const auto blobs = store_.folder() / "blobs";
  const std::string large(100'000, 'x');
  const auto printed = cli({"http", "post", server.url(), "--data", large, "--print", "--hold",
                            "--allow-private", "--blobs", "dir:" + blobs.string()});
  EXPECT_EQ(printed.out, large) << printed.err;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{blobs})
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

}  // namespace
}  // namespace holdfast::http
