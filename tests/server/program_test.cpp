#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include <holdfast/http/payloads.hpp>

#include "server/serving.hpp"
#include "support/pty.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Serve, RefusesToBeReachedFromElsewhereUnprotected) {
  EXPECT_THAT(refusal({"--listen", "0.0.0.0:0"}), HasSubstr("--users"));
  EXPECT_THAT(refusal({"--listen", "0.0.0.0:0", "--users", "u"}), HasSubstr("--cert"));
  EXPECT_THAT(refusal({"--listen", "0.0.0.0:0", "--no-auth"}), HasSubstr("loopback"));
  EXPECT_THAT(refusal({"--listen", "[::]:0", "--users", "u"}), HasSubstr("--cert"));
  EXPECT_THAT(refusal({"--behind-proxy", "--users", "u"}), HasSubstr("--allow-host"));
  EXPECT_THAT(refusal({"--behind-proxy", "--allow-host", "h", "--no-auth"}), HasSubstr("proxy"));
  const auto behind = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--behind-proxy", "--allow-host", "h", "--users", "u"});
    return refusal(words);
  };
  EXPECT_THAT(behind({"--listen", "0.0.0.0:0"}), HasSubstr("--trusted-proxy"));
  EXPECT_THAT(behind({"--listen", "[::]:0"}), HasSubstr("--trusted-proxy"));
  for (const auto* everybody : {"0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96"})
    EXPECT_THAT(behind({"--listen", "0.0.0.0:0", "--trusted-proxy", everybody}),
                HasSubstr("trusts every address"));
  for (const auto* nonsense : {"proxy", "10.0.0.0/33", "10.0.0.0/", ""})
    EXPECT_THAT(behind({"--trusted-proxy", nonsense}), HasSubstr("192.0.2.7"));
  EXPECT_THAT(refusal({"--trusted-proxy", "127.0.0.1"}), HasSubstr("--behind-proxy"));
  EXPECT_THAT(refusal({"--cert", "c"}), HasSubstr("--key"));
  EXPECT_THAT(refusal({"--listen", "127.0.0.1"}), HasSubstr("port"));
  EXPECT_THAT(refusal({"--users", store_.folder() / "nobody"}), HasSubstr("user add"));
}

TEST_F(Serve, ListensOnBothLoopbacksForLocalhost) {
  const bool has_ipv6 = std::ifstream{"/proc/net/if_inet6"}.peek() != EOF;
  const auto running = start({"--listen", "localhost:0"});
  const auto alive = [&](const std::string& host) {
    const auto url = "http://" + host + ":" + std::to_string(running.port) + "/healthz";
    return test::run({"/usr/bin/curl", "--silent", "--max-time", "10", url}).out == "alive\n";
  };
  EXPECT_TRUE(alive("127.0.0.1"));
  EXPECT_TRUE(alive("localhost"));
  EXPECT_EQ(alive("[::1]"), has_ipv6);
  if (!has_ipv6) return;
  const auto port = std::to_string(running.port);
  EXPECT_THAT(refusal({"--listen", "localhost:" + port, "--state", store_.folder() / "other"}),
              HasSubstr("cannot listen"));
}

TEST_F(Serve, ListensOnIpv6Alone) {
  if (std::ifstream{"/proc/net/if_inet6"}.peek() == EOF) {
    EXPECT_THAT(refusal({"--listen", "[::1]:0"}), HasSubstr("cannot listen"));
    return;
  }
  const auto running = start({"--listen", "[::1]:0"});
  const auto rest = ":" + std::to_string(running.port) + "/healthz";
  EXPECT_EQ(test::run({"/usr/bin/curl", "--silent", "http://[::1]" + rest}).out, "alive\n");
  EXPECT_FALSE(test::run({"/usr/bin/curl", "--silent", "http://127.0.0.1" + rest}).ending.ok());
}

/// The kernel gives what belongs to a process whose memory others must not read to root.
TEST_F(Serve, KeepsItsMemoryFromOthersOfTheSameUser) {
  auto words = command({});
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::chmod(store_.folder().c_str(), 0777), 0);
    words.insert(words.begin(),
                 {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  }
  Process process{words};
  ASSERT_TRUE(eventually([&] { return process.out().find('\n') != std::string::npos; }))
      << process.err();
  struct stat status {};
  ASSERT_EQ(::stat(("/proc/" + std::to_string(process.pid()) + "/environ").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 0u);
}

TEST_F(Serve, ShowsAStoreThatCannotBeChanged) {
  test::run({HOLDFAST_PROGRAM, "--store", store_.address(), "task", "add", "a"});
  const auto state = store_.folder() / "state";
  ASSERT_EQ(::mkdir(state.c_str(), 0700), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(state.c_str(), 65534, 65534), 0);
  }
  std::filesystem::create_directory(store_.folder() / "fixed");
  for (const auto* name : {"", "-wal", "-shm", ".holdfast"})
    if (std::filesystem::exists(store_.database() + name))
      std::filesystem::rename(store_.database() + name,
                              (store_.folder() / "fixed" / "r.db").string() + name);
  for (const auto& each : std::filesystem::recursive_directory_iterator(store_.folder() / "fixed"))
    ::chmod(each.path().c_str(), each.is_directory() ? 0555 : 0444);
  ::chmod((store_.folder() / "fixed").c_str(), 0555);
  ::chmod(store_.folder().c_str(), 0777);
  store_address_ = "sqlite:" + (store_.folder() / "fixed" / "r.db").string();
  auto words = command({"--read-only", "--no-auth", "--state", state});
  std::erase(words, "--json");
  // Root may write whatever the modes say.
  if (::geteuid() == 0)
    words.insert(words.begin(),
                 {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  Process process{words};
  EXPECT_TRUE(eventually([&] {
    return process.out().find("may look at everything") != std::string::npos;
  })) << process.out()
      << process.err();
}

TEST_F(Serve, LeavesNoCoreWhenItCrashes) {
  const auto running = start();
  std::ifstream limits{"/proc/" + std::to_string(running.process.pid()) + "/limits"};
  const std::string text{std::istreambuf_iterator<char>{limits}, {}};
  EXPECT_THAT(text, testing::ContainsRegex("Max core file size +0 +0 "))
      << "nothing that it does later can raise the limit again";
}

TEST_F(Serve, ShowsTheLinkOnATerminalOnly) {
  auto words = command({});
  std::erase(words, "--json");
  PtyProcess process{words, 24, 200};
  EXPECT_TRUE(process.read_until("/login?once=")) << process.rest();
  EXPECT_FALSE(std::filesystem::exists(store_.database() + ".holdfast/server/login-link"));
  process.type("\x03");
  EXPECT_TRUE(process.wait());
}

TEST_F(Serve, GivesALinkAndKeepsItsTokenOverKills) {
  auto running = start();
  EXPECT_THAT(running.login, HasSubstr("/login?once="));
  EXPECT_THAT(running.process.out() + running.process.err(), Not(HasSubstr("once=")))
      << "others may read where it goes";
  struct stat status {};
  ASSERT_EQ(::stat(running.login_file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const auto target = running.login.substr(running.login.find("/login"));
  EXPECT_EQ(call(running.port, "GET", target).status, 303);
  const auto file = store_.database() + ".holdfast/server/token";
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(get(running, "/v1/queues").status, 200);
  EXPECT_THAT(test::run(command({})).err, HasSubstr("another server"));
  const auto enqueued = call(running.port, "POST", "/v1/tasks", R"({"kind":"a"})",
                             {{"Authorization", "Bearer " + running.token}});
  ASSERT_EQ(enqueued.status, 201);
  running.process.kill();
  auto again = start();
  EXPECT_EQ(again.token, running.token);
  EXPECT_THAT(get(again, "/v1/tasks/count").body, HasSubstr("1"));
  again.process.signal(SIGTERM);
  const auto ended = again.process.wait();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ok()) << again.process.err();
}

TEST_F(Serve, TakesBackTheWorkOfADeadWorker) {
  auto running = start();
  call(running.port, "POST", "/v1/tasks", R"({"kind":"nap"})",
       {{"Authorization", "Bearer " + running.token}});
  Process worker{{HOLDFAST_PROGRAM, "--store", store_.address(), "worker", "run", "--kind", "nap",
                  "--", "/bin/sleep", "600"}};
  auto state = [&] { return get(running, "/v1/tasks?state=running").body; };
  ASSERT_TRUE(eventually([&] { return state().find("\"nap\"") != std::string::npos; },
                         std::chrono::seconds{60}))
      << worker.err();
  worker.kill();
  EXPECT_TRUE(eventually(
      [&] {
        return get(running, "/v1/recovery/reports").json().at("reports").as_array().size() == 1;
      },
      std::chrono::seconds{60}));
}

/// What people copy has to survive what it tells them to survive.
TEST_F(Serve, ExampleWorkersGoOnWithTheNextServer) {
  auto running = start();
  const auto made = test::run({HOLDFAST_PROGRAM, "--json", "--store", store_.address(), "token",
                               "add", "workers", "--scope", "work"});
  ASSERT_TRUE(made.ending.ok()) << made.err;
  const std::string token{boost::json::parse(made.out).at("secret").as_string()};
  const Environment where{{"HOLDFAST_URL", "http://127.0.0.1:" + std::to_string(running.port)},
                          {"HOLDFAST_TOKEN", token}};
  const std::string folder = HOLDFAST_SOURCE_DIR "/examples/clients/";
  Process python{{"/usr/bin/env", "python3", folder + "worker.py"}, where};
  Process ruby{{"/usr/bin/env", "ruby", folder + "worker.rb"}, where};
  Process node{{"/usr/bin/env", "node", folder + "worker.mjs"}, where};
  auto completed = [&](std::size_t count) {
    call(running.port, "POST", "/v1/tasks",
         R"({"tasks":[{"kind":"add_py","payload":{"numbers":[1]}},)"
         R"({"kind":"reverse_rb","payload":{"text":"a"}},)"
         R"({"kind":"count_js","payload":{"text":"a"}}]})",
         {{"Authorization", "Bearer " + running.token}});
    return eventually(
        [&] {
          const auto tasks = get(running, "/v1/tasks?state=completed").json();
          return tasks.at("tasks").as_array().size() == count;
        },
        std::chrono::seconds{60});
  };
  EXPECT_TRUE(completed(3)) << python.err() << ruby.err() << node.err();
  running.process.kill();
  running = start({"--listen", "127.0.0.1:" + std::to_string(running.port)});
  EXPECT_TRUE(completed(6)) << python.err() << ruby.err() << node.err();
}

TEST_F(Serve, TellsWhatARemoteWorkerWasRunningWhenItWasKilled) {
  auto running = start();
  const auto post = [&](const std::string& target, const std::string& body,
                        const std::string& secret = {}) {
    return call(running.port, "POST", target, body,
                {{"Authorization", "Bearer " + running.token}, {"Holdfast-Worker-Secret", secret}})
        .json();
  };
  const std::string id{post("/v1/tasks", R"({"kind":"a"})").at("ids").at(0).as_string()};
  const auto enlisted = post("/v1/remote/workers", R"({"kinds":["a"]})");
  const std::string worker{enlisted.at("worker").as_string()};
  const std::string secret{enlisted.at("secret").as_string()};
  const auto claimed = post("/v1/remote/workers/" + worker + "/claim", "{}", secret);
  ASSERT_EQ(claimed.at("tasks").as_array().size(), 1u);
  running.process.kill();
  auto again = start();
  ASSERT_TRUE(eventually(
      [&] { return get(again, "/v1/tasks?state=pending").body.find(id) != std::string::npos; }));
  const auto history = get(again, "/v1/tasks/" + id).json().at("history").as_array();
  const std::string reason{history.back().at("reason").as_string()};
  EXPECT_THAT(reason, HasSubstr("The server of remote worker " + worker + " ended"));
  EXPECT_THAT(reason, HasSubstr("no attempt is charged"));
}

TEST_F(Serve, OpensForRemoteWorkersWhatItHasTheKeyOf) {
  const auto key = "a=" + (store_.folder() / "key").string();
  std::ofstream{store_.folder() / "key"} << std::string(32, 'k');
  const http::PayloadOptions payloads{
      .keyring = {.current = "a", .keys = {{"a", std::string(32, 'k')}}}};
  http::validate(payloads);
  const auto id = TaskId::make();
  const http::SealedFor owner{id, "keep", "default"};
  const auto sealed = http::seal({{"response", {{"status", 200}}}}, owner, "", payloads);
  enqueue_own(open(store_.address()), {{"keep", sealed, {.id = id}}});
  EXPECT_THAT(refusal({"--payload-key", "a=/no/such/file"}), HasSubstr("cannot be read"));
  auto running = start({"--payload-key", key});
  const auto post = [&](const std::string& target, const std::string& body,
                        const std::string& secret = {}) {
    return call(running.port, "POST", target, body,
                {{"Authorization", "Bearer " + running.token}, {"Holdfast-Worker-Secret", secret}});
  };
  const auto enlisted = post("/v1/remote/workers", R"({"kinds":["keep"]})").json();
  const auto claim =
      "/v1/remote/workers/" + std::string{enlisted.at("worker").as_string()} + "/claim";
  EXPECT_THAT(post(claim, "{}", std::string{enlisted.at("secret").as_string()}).body,
              HasSubstr(R"("payload":{"response":{"status":200}})"));
}

TEST_F(Serve, SaysWhichStoresAreNew) {
  TempStore other;
  test::run({HOLDFAST_PROGRAM, "--store", other.address(), "task", "add", "a"});
  const auto told = boost::json::parse(start({"--store", other.address()}).process.out());
  const auto& names = told.at("new_stores").as_array();
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(std::string{names[0].as_string()}, store_.address());
}

TEST_F(Serve, SpeaksTls) {
  const auto cert = (store_.folder() / "cert.pem").string();
  const auto key = (store_.folder() / "key.pem").string();
  const auto made = test::run({"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                               "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
                               "-days", "2", "-keyout", key, "-out", cert});
  ASSERT_TRUE(made.ending.ok()) << made.err;
  auto running = start({"--cert", cert, "--key", key});
  const auto url = "https://localhost:" + std::to_string(running.port) + "/healthz";
  const auto got =
      test::run({"/usr/bin/curl", "--silent", "--show-error", "--include", "--cacert", cert,
                 "--resolve", "localhost:" + std::to_string(running.port) + ":127.0.0.1", url});
  EXPECT_THAT(got.out, HasSubstr("alive")) << got.err;
  EXPECT_THAT(got.out, HasSubstr("Strict-Transport-Security"));
}

TEST_F(Serve, KnowsUsersOfAFile) {
  const auto users = (store_.folder() / "users").string();
  const auto added =
      test::run({HOLDFAST_PROGRAM, "user", "add", "vera", "--users", users}, {}, "long enough\n");
  ASSERT_TRUE(added.ending.ok()) << added.err;
  EXPECT_THAT(test::run({HOLDFAST_PROGRAM, "user", "list", "--users", users}).out,
              HasSubstr("vera"));
  auto running = start({"--users", users});
  EXPECT_EQ(
      call(running.port, "POST", "/v1/login", R"({"user":"vera","password":"long enough"})").status,
      200);
  EXPECT_TRUE(
      test::run({HOLDFAST_PROGRAM, "user", "remove", "vera", "--users", users}).ending.ok());
  EXPECT_EQ(
      call(running.port, "POST", "/v1/login", R"({"user":"vera","password":"long enough"})").status,
      401);
}

TEST_F(Serve, WatchesSeveralStores) {
  TempStore other;
  auto running = start({"--store", other.address()});
  const auto stores = get(running, "/v1/stores").json().at("stores").as_array();
  ASSERT_EQ(stores.size(), 2u);
  call(running.port, "POST", "/v1/tasks?store=2", R"({"kind":"a"})",
       {{"Authorization", "Bearer " + running.token}});
  EXPECT_EQ(get(running, "/v1/tasks/count").body, R"({"count":0,"complete":true})");
  EXPECT_EQ(get(running, "/v1/tasks/count?store=2").body, R"({"count":1,"complete":true})");
  EXPECT_EQ(get(running, "/v1/tasks/count?store=3").status, 404);
}

}  // namespace
}  // namespace holdfast::test
