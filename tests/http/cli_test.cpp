#include <boost/json/parse.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "http/program_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

class HttpCommands : public ProgramScenario {};

TEST_F(HttpCommands, CountErrorsByType) {
  HttpServer server{[](const ServedRequest&) { return answer(404); }};
  cli({"http", "get", server.url("/missing"), "--raise"});
  cli(run_words({"--until-empty"}));
  cli({"http", "get", server.url()});
  cli({"http", "run", "--until-empty"});
  auto stats = boost::json::parse(cli({"--json", "http", "stats"}).out);
  EXPECT_EQ(stats.at("errors").at("blocked_address").as_int64(), 1);
  EXPECT_EQ(stats.at("errors").at("http").as_int64(), 1);
  EXPECT_EQ(stats.at("endpoints").at(0).at("unanswered").as_int64(), 1) << "404 is an answer";
}

TEST_F(HttpCommands, SayWhichHostIsLeftAlone) {
  const auto port = [] {
    return HttpServer{[](const ServedRequest&) { return answer(200); }}.port();
  }();
  const auto host = fmt::format("127.0.0.1:{}", port);
  const auto id = cli({"http", "get", "http://" + host + "/last", "--attempts", "50"}).out;
  enqueue("http://" + host + "/", 30);
  test::Process processor{command({"http", "run", "--per-host", "1", "--allow-private"})};
  const auto stats = [&] { return boost::json::parse(cli({"--json", "http", "stats"}).out); };
  ASSERT_TRUE(test::eventually([&] { return !stats().at("left_alone").as_array().empty(); },
                               std::chrono::seconds{60}))
      << processor.err();
  const auto told = stats().at("left_alone").at(0);
  EXPECT_EQ(std::string{told.at("host").as_string()}, host);
  EXPECT_GE(told.at("failures").as_int64(), 10);
  const auto sentence = fmt::format("{} is left alone until ", host);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"http", "stats"}, {"http", "list"}, {"task", "explain", id.substr(0, 26)}})
    EXPECT_TRUE(test::eventually([&] {
      const auto out = cli(words).out;
      return out.find(sentence) != out.npos && out.find("Connection refused") != out.npos;
    })) << cli(words).out;
  processor.kill();
  EXPECT_TRUE(test::eventually([&] { return stats().at("left_alone").as_array().empty(); }))
      << "nobody leaves it alone any more";
}

TEST_F(HttpCommands, CountAsInFlightOnlyWhatIsSent) {
  HttpServer server{[](const ServedRequest& request) {
    test::Reply reply = answer(200);
    reply.never = request.target == "/never";
    return reply;
  }};
  // Whoever has had quick answers claims some ahead.
  enqueue(server.url("/quick"), 40);
  enqueue(server.url("/never"), 12);
  test::Process processor{command({"http", "run", "--capacity", "4", "--allow-private"})};
  const auto running = [&] {
    return inspector_.count({.states = {TaskState::running}, .kind = request_kind});
  };
  ASSERT_TRUE(test::eventually([&] { return server.served() == 44 && running() > 4; }));
  const auto listed = cli({"--json", "http", "list"}).out;
  EXPECT_EQ(std::ranges::count(listed, '\n'), 4) << listed;
  const auto stats = boost::json::parse(cli({"--json", "http", "stats"}).out);
  EXPECT_EQ(stats.at("processes").at(0).at("in_flight").as_int64(), 4);
}

TEST_F(HttpCommands, RunListAndCountRequests) {
  std::ofstream{store_.folder() / "token"} << "s3cret\n";
  std::string seen;
  HttpServer server{[&](const ServedRequest& request) {
    if (request.headers.contains("authorization")) seen = request.headers.at("authorization");
    test::Reply reply = answer(200);
    reply.never = request.target == "/never";
    return reply;
  }};
  bind(store_.folder() / "token", server);
  for (auto path : {"/", "/never"}) {
    auto added = cli({"http", "get", server.url(path), "--callback", "keep", "--context", "\"x\"",
                      "--secret-header", "Authorization: token"});
    ASSERT_TRUE(added.ending.ok()) << added.err;
    EXPECT_TRUE(TaskId::parse(added.out.substr(0, 26)));
  }
  test::Process processor{command(run_words({"--secrets", store_.folder().string()}))};
  ASSERT_TRUE(test::eventually([&] {
    return server.served() == 2 &&
           inspector_.count({.states = {TaskState::completed}, .kind = request_kind}) == 1;
  }));
  EXPECT_EQ(seen, "s3cret");
  auto listed = boost::json::parse(cli({"--json", "http", "list"}).out);
  EXPECT_EQ(listed.at("method").as_string(), "get");
  EXPECT_EQ(std::string{listed.at("host").as_string()}, fmt::format("127.0.0.1:{}", server.port()));
  auto stats = boost::json::parse(cli({"--json", "http", "stats"}).out);
  EXPECT_EQ(stats.at("requests").at("completed").as_int64(), 1);
  EXPECT_EQ(stats.at("statuses").at("200").as_int64(), 1);
  EXPECT_EQ(stats.at("processes").at(0).at("capacity").as_int64(), 1'000);
  EXPECT_EQ(stats.at("processes").at(0).at("in_flight").as_int64(), 1);
  EXPECT_EQ(std::string{stats.at("processes").at(0).at("state").as_string()}, "running");
  EXPECT_GT(stats.at("mean_seconds").to_number<double>(), 0);
  EXPECT_THAT(cli({"http", "stats"}).out, HasSubstr("answered 200"));
  EXPECT_THAT(cli({"http", "stats"}).out, HasSubstr("on average"));
  processor.signal(SIGTERM);
  EXPECT_TRUE(test::eventually([&] {
    return cli({"http", "stats"}).out.find("is stopping: 1 of 1000") != std::string::npos;
  })) << cli({"http", "stats"}).out;
  const auto& endpoint = stats.at("endpoints").at(0);
  EXPECT_EQ(endpoint.at("host"), listed.at("host"));
  EXPECT_EQ(endpoint.at("requests").as_int64(), 1);
  EXPECT_EQ(endpoint.at("unanswered").as_int64(), 0);
  EXPECT_THAT(cli({"http", "stats"}).out, HasSubstr("UNANSWERED"));
}

TEST_F(HttpCommands, SignAndEncryptWithKeysOutOfFiles) {
  const std::string signing = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";
  std::ofstream{store_.folder() / "signing"} << signing << "\n";
  std::ofstream{store_.folder() / "old"} << std::string(32, 'k');
  std::ofstream{store_.folder() / "new"} << "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n";
  auto key = [&](const std::string& name) {
    return fmt::format("{}={}", name, (store_.folder() / name).string());
  };
  ServedRequest seen;
  HttpServer server{[&](const ServedRequest& request) {
    seen = request;
    return answer(200);
  }};
  bind(store_.folder() / "signing", server);
  auto added = cli({"http", "post", server.url(), "--data", "x", "--sign-with", "signing",
                    "--callback", "keep", "--payload-key", key("old")});
  ASSERT_TRUE(added.ending.ok()) << added.err;
  auto task = inspector_.task(*TaskId::parse(added.out.substr(0, 26)));
  EXPECT_THAT(task->payload, testing::Not(HasSubstr("127.0.0.1")));
  auto run = cli(run_words({"--until-empty", "--signing-key", key("signing"), "--payload-key",
                            key("new"), "--payload-key", key("old")}));
  ASSERT_TRUE(run.ending.ok()) << run.err;
  ASSERT_EQ(server.served(), 1);
  auto at = std::chrono::sys_seconds{
      std::chrono::seconds{std::stoll(seen.headers.at("webhook-timestamp"))}};
  EXPECT_TRUE(verify_signature(seen.headers.at("webhook-signature"), seen.headers.at("webhook-id"),
                               at, "x", {signing_key(signing)}, at));
  auto callback = inspector_.tasks({.kind = "keep"}).at(0);
  EXPECT_THAT(callback.payload, HasSubstr("\"key\":\"new\""));
  auto none = cli(run_words({"--payload-key", "a=/no/such/file"}));
  EXPECT_THAT(none.err, HasSubstr("/no/such/file"));
  std::ofstream{store_.folder() / "short"} << "short";
  EXPECT_THAT(cli(run_words({"--payload-key", key("short")})).err, HasSubstr("32 are needed"));
  auto twice = cli(run_words({"--payload-key", key("old"), "--payload-key", key("old")}));
  EXPECT_THAT(twice.err, HasSubstr("twice"));
}

TEST_F(HttpCommands, SayWhereTheCallbackGoesAndHowFarRedirectsAreFollowed) {
  HttpServer server{[](const ServedRequest&) { return answer(302, "", "Location: /on\r\n"); }};
  const auto added = cli({"http", "get", server.url(), "--callback", "keep", "--callback-queue",
                          "answers", "--max-redirects", "0"});
  ASSERT_TRUE(added.ending.ok()) << added.err;
  ASSERT_TRUE(cli(run_words({"--until-empty"})).ending.ok());
  const auto callback = inspector_.tasks({.kind = "keep"}).at(0);
  EXPECT_EQ(callback.queue, "answers");
  EXPECT_THAT(callback.payload, HasSubstr("\"status\":302"));
  const auto refused = cli({"http", "get", server.url(), "--callback-queue", "answers"});
  EXPECT_FALSE(refused.ending.ok());
  EXPECT_THAT(refused.err, HasSubstr("--callback"));
  EXPECT_FALSE(cli({"http", "get", server.url(), "--max-redirects", "51"}).ending.ok());
  Client client{engine_};
  EXPECT_THROW(client.get(server.url(), {.callback_queue = "answers"}), InvalidRequest);
}

TEST_F(HttpCommands, TakeBodiesFromFilesAndHeadersOfSeveralValues) {
  ServedRequest seen;
  HttpServer server{[&](const ServedRequest& request) {
    seen = request;
    return answer(200);
  }};
  const std::string body = "a line\nand another" + std::string(200'000, 'x');
  std::ofstream{store_.folder() / "body"} << body;
  auto file = (store_.folder() / "body").string();
  auto added =
      cli({"http", "post", server.url(), "--data-file", file, "--header", "X-Kind: one", "--header",
           "x-kind: two", "--priority", "1", "--tag", "large", "--delay", "10ms"});
  ASSERT_TRUE(added.ending.ok()) << added.err;
  EXPECT_EQ(inspector_.count({.tag = "large", .priority = 1}), 1);
  ASSERT_TRUE(cli(run_words({"--until-empty"})).ending.ok());
  EXPECT_EQ(seen.body, body);
  EXPECT_EQ(seen.headers["x-kind"], "one, two");
  auto wrong = cli({"http", "post", server.url(), "--data-file", "/no/such/file"});
  EXPECT_THAT(wrong.err, HasSubstr("/no/such/file"));
  auto loop = cli({"http", "get", server.url(), "--callback", "holdfast.http"});
  EXPECT_THAT(loop.err, HasSubstr("begin with 'holdfast.'"));
}

TEST_F(HttpCommands, TooFewFilesForTheCapacityAreToldBeforeAHostIsBlamed) {
  auto with_files = [&](int most, const std::string& capacity) {
    std::vector<std::string> line{"/bin/bash", "-c", "ulimit -n \"$1\"; shift; exec \"$@\"", "bash",
                                  std::to_string(most)};
    auto words =
        command({"http", "run", "--allow-private", "--until-empty", "--capacity", capacity});
    line.insert(line.end(), words.begin(), words.end());
    return test::run(line);
  };
  auto few = with_files(128, "256");
  EXPECT_FALSE(few.ending.ok());
  EXPECT_THAT(few.err, HasSubstr("ulimit -n"));
  EXPECT_THAT(few.err, HasSubstr("to 64"));
  auto enough = with_files(200, "100");
  EXPECT_TRUE(enough.ending.ok()) << enough.err;
}

TEST_F(HttpCommands, SendNoSecretThatCannotBeRead) {
  std::filesystem::create_directories(store_.folder() / "secrets" / "folder");
  std::ofstream{store_.folder() / "secrets" / "empty"} << "\n";
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const auto refusal = [&](const std::string& secret) {
    return cli({"http", "get", server.url(), "--print", "--allow-private", "--secret-header",
                "Authorization: " + secret, "--secrets", (store_.folder() / "secrets").string()})
        .err;
  };
  EXPECT_THAT(refusal("folder"), HasSubstr("does not have"));
  EXPECT_THAT(refusal(std::string(200, 'x')), HasSubstr("does not have"));
  EXPECT_THAT(refusal("empty/x"), HasSubstr("does not have"));
  EXPECT_THAT(refusal("empty"), HasSubstr("is empty"));
  EXPECT_THAT(refusal("none"), HasSubstr("does not have"));
  EXPECT_EQ(server.served(), 0);
}

TEST_F(HttpCommands, RefuseAHeaderWithTwoValuesOfWhichOneIsSecret) {
  const auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"http", "get", "http://example.org/", "--secret-header", "Authorization: token"});
    return cli(words).err;
  };
  EXPECT_THAT(refusal({"--header", "authorization: x"}), HasSubstr("has a value and a secret"));
  EXPECT_THAT(refusal({"--secret-header", "AUTHORIZATION: other"}), HasSubstr("has two secrets"));
  EXPECT_EQ(inspector_.count({}), 0);
}

TEST_F(HttpCommands, CountProcessorsOfAStoreWithoutRequests) {
  test::Process processor{command(run_words())};
  EXPECT_TRUE(test::eventually([&] {
    return cli({"http", "stats"}).out.find("is running: 0 of 1000 in flight") != std::string::npos;
  })) << cli({"http", "stats"}).out
      << processor.err();
}

TEST_F(HttpCommands, LookAgainForASecretWhoseFileIsJustBeingWritten) {
  std::filesystem::create_directories(store_.folder() / "secrets");
  const auto file = store_.folder() / "secrets" / "token";
  std::ofstream{file}.flush();
  HttpServer server{[](const ServedRequest& request) {
    return answer(200, request.headers.at("authorization"));
  }};
  bind(file, server);
  auto added = cli({"http", "get", server.url(), "--secret-header", "Authorization: token"});
  ASSERT_TRUE(added.ending.ok()) << added.err;
  test::Process processor{
      command(run_words({"--until-empty", "--secrets", (store_.folder() / "secrets").string()}))};
  const auto looked_once = [&] {
    return processor.err().find("cannot run tasks of kind holdfast.http") != std::string::npos;
  };
  ASSERT_TRUE(test::eventually(looked_once)) << processor.err();
  EXPECT_THAT(processor.err(), HasSubstr("its file is empty"));
  std::ofstream{file} << "s3cret\n";
  const auto ending = processor.wait();
  ASSERT_TRUE(ending && ending->ok()) << processor.err();
  EXPECT_EQ(inspector_.count({.states = {TaskState::completed}}), 1);
  EXPECT_EQ(inspector_.tasks({}).at(0).attempt, 1) << "looking costs nothing";
  EXPECT_EQ(server.served(), 1);
}

TEST_F(HttpCommands, WaitForAFolderOfSecretsThatIsAway) {
  const auto folder = store_.folder() / "secrets", away = store_.folder() / "away";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "token"} << "s3cret\n";
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  bind(folder / "token", server);
  test::Process processor{command(run_words({"--secrets", folder.string()}))};
  cli({"http", "get", server.url()});
  ASSERT_TRUE(test::eventually([&] { return server.served() == 1; })) << processor.err();
  std::filesystem::rename(folder, away);
  cli({"http", "get", server.url(), "--secret-header", "Authorization: token", "--attempts", "1"});
  ASSERT_TRUE(test::eventually([&] {
    return processor.err().find("the folder of secrets is not there") != std::string::npos;
  })) << processor.err();
  std::filesystem::rename(away, folder);
  EXPECT_TRUE(test::eventually([&] { return server.served() == 2; })) << processor.err();
}

TEST_F(HttpCommands, GiveProgramsTheAnswerWhereverItIsKept) {
  std::ofstream{store_.folder() / "key"} << std::string(32, 'k');
  const auto blobs = store_.folder() / "blobs", input = store_.folder() / "input";
  const std::vector<std::string> in_blobs{"--blobs", "dir:" + blobs.string()};
  const std::vector<std::string> encrypted{"--payload-key",
                                           "a=" + (store_.folder() / "key").string()};
  HttpServer server{[](const ServedRequest&) { return answer(200, std::string(100'000, 'x')); }};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    const auto done = cli(words);
    EXPECT_TRUE(done.ending.ok()) << done.err;
  };
  const std::vector<std::string> work{
      "worker", "run", "--kind", "keep", "--until-empty", "--exec", "cat > " + input.string()};
  for (const auto& keeping : {in_blobs, encrypted}) {
    with({"http", "get", server.url(), "--callback", "keep"}, keeping);
    with(run_words({"--until-empty"}), keeping);
    with(work, {});
    const auto failed = inspector_.tasks({.states = {TaskState::held}, .kind = "keep"});
    ASSERT_EQ(failed.size(), 1u) << "it cannot be read";
    EXPECT_THAT(failed[0].cause, HasSubstr("give this worker the --blobs and --payload-key"));
    EXPECT_FALSE(std::filesystem::exists(input)) << "the program is not run";
    inspector_.retry({.ids = {failed[0].id}});
    with(work, keeping);
    std::ifstream file{input};
    const std::string read{std::istreambuf_iterator{file}, {}};
    EXPECT_THAT(read, testing::StartsWith(R"({"response":{)"));
    EXPECT_GT(read.size(), 100'000u);
    std::filesystem::remove(input);
    EXPECT_EQ(inspector_.task(failed[0].id)->state, TaskState::completed);
    with(run_words({"--until-empty"}), keeping);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator{blobs})
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

TEST_F(HttpCommands, ShowTheAnswerOfARequestWithoutACallbackToWhomeverHasTheKey) {
  std::ofstream{store_.folder() / "key"} << std::string(32, 'k');
  const auto key = "a=" + (store_.folder() / "key").string();
  HttpServer server{[](const ServedRequest&) { return answer(200, "the answer"); }};
  auto id = cli({"http", "get", server.url("/?private"), "--payload-key", key}).out;
  id.resize(26);
  ASSERT_TRUE(cli(run_words({"--until-empty", "--payload-key", key})).ending.ok());
  const auto sealed = cli({"task", "show", id}).out;
  EXPECT_THAT(sealed, testing::Not(HasSubstr("the answer")));
  EXPECT_THAT(sealed, testing::Not(HasSubstr("private")));
  const auto stats = boost::json::parse(cli({"--json", "http", "stats"}).out);
  EXPECT_EQ(stats.at("statuses").at("200").as_int64(), 1) << "that is no secret";
  for (const auto& opened : {cli({"task", "show", id, "--payload-key", key}),
                             cli({"--json", "task", "show", id, "--payload-key", key})}) {
    EXPECT_THAT(opened.out, HasSubstr("the answer"));
    EXPECT_THAT(opened.out, HasSubstr("private"));
    EXPECT_THAT(opened.out, testing::Not(HasSubstr("$encrypted")));
  }
  std::ofstream{store_.folder() / "other"} << std::string(32, 'o');
  const auto other = "b=" + (store_.folder() / "other").string();
  const auto refused = cli({"task", "show", id, "--payload-key", other});
  EXPECT_EQ(refused.ending.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("key 'a', which is not in the keyring; give this command"));
}

TEST_F(HttpCommands, RefuseWhatMakesNoSense) {
  auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "http");
    auto done = cli(words);
    EXPECT_EQ(done.ending.code, 1);
    return done.err;
  };
  EXPECT_THAT(refusal({"get", "ftp://a/"}), HasSubstr("not an http or https URL"));
  EXPECT_THAT(refusal({"get", "http://a/", "--header", "nonsense"}), HasSubstr("--header"));
  EXPECT_THAT(refusal({"get", "http://a/", "--print", "--callback", "x"}), HasSubstr("not both"));
  EXPECT_THAT(refusal({"put", "http://a/", "--hold"}), HasSubstr("--hold"));
  EXPECT_THAT(refusal({"run", "--allow", "10.0.0.0/99"}), HasSubstr("10.0.0.0/99"));
  EXPECT_THAT(refusal({"run", "--blobs", "ftp:x"}), HasSubstr("dir:FOLDER"));
  EXPECT_THAT(refusal({"run", "--ca-file", "/nowhere"}), HasSubstr("/nowhere cannot be read"));
  EXPECT_THAT(refusal({"run", "--secrets", "/nowhere"}), HasSubstr("is not a folder"));
  const auto key = (store_.folder() / "key").string();
  std::ofstream{key} << std::string(32, 'k');
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"run"}, {"get", "http://a/", "--print"}}) {
    auto with_key = words;
    with_key.insert(with_key.end(), {"--ca-file", key});
    EXPECT_THAT(refusal(with_key), HasSubstr("has none in it"));
  }
  EXPECT_THAT(refusal({"run", "--user-agent", ""}), HasSubstr("the user agent is empty"));
  EXPECT_THAT(refusal({"run", "--dns-cache", "2d"}), HasSubstr("the time that names are kept"));
  EXPECT_THAT(refusal({"run", "--blob-threshold", "9"}), HasSubstr("--blobs"));
  EXPECT_THAT(refusal({"run", "--max-recoveries", "1"}), HasSubstr("option for Sidekiq"));
}

}  // namespace
}  // namespace holdfast::http
