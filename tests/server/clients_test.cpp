#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

constexpr const char* folder = HOLDFAST_SOURCE_DIR "/examples/clients/";

class Clients : public testing::Test {
 protected:
  /// With a token that is for nothing else.
  Environment environment(server::Scope scope, const std::string& kind) {
    return {{"HOLDFAST_URL", "http://" + server_.host()},
            {"HOLDFAST_TOKEN", server_.new_token({.scopes = {scope}, .kinds = {kind}})}};
  }
  /// Runs a worker on one task, and expects this result.
  void works(const std::vector<std::string>& command, const std::string& kind,
             const std::string& payload, const std::string& result) {
    const auto id = server_.enqueue(kind, payload);
    Process worker{command, environment(server::Scope::work, kind)};
    EXPECT_TRUE(
        eventually([&] { return server_.inspector().task(id)->state == TaskState::completed; },
                   std::chrono::seconds{60}))
        << worker.err();
    EXPECT_EQ(server_.inspector().task(id)->result, result);
    worker.signal(SIGINT);
    EXPECT_TRUE(worker.wait());
  }

  ServerUnderTest server_;
};

TEST_F(Clients, WorkInPython) {
  works({"/usr/bin/env", "python3", std::string{folder} + "worker.py"}, "add_py",
        R"({"numbers":[1,2,39]})", R"({"sum": 42})");
}

TEST_F(Clients, WorkInRuby) {
  works({"/usr/bin/env", "ruby", std::string{folder} + "worker.rb"}, "reverse_rb",
        R"({"text":"stressed"})", R"({"reversed":"desserts"})");
}

TEST_F(Clients, WorkInJavaScript) {
  works({"/usr/bin/env", "node", std::string{folder} + "worker.mjs"}, "count_js",
        R"({"text":"holdfast"})", R"({"letters":8})");
}

TEST_F(Clients, EnqueueFromTheShell) {
  const std::vector<std::string> command{"/bin/sh", std::string{folder} + "enqueue.sh", "mail",
                                         R"({"to":"ada"})", "order-7"};
  const auto where = environment(server::Scope::enqueue, "mail");
  for (int again = 0; again < 2; ++again) {
    const auto done = test::run(command, where);
    EXPECT_TRUE(done.ending.ok()) << done.err << done.out;
    EXPECT_THAT(done.out, HasSubstr(R"({"ids":[)"));
  }
  const auto tasks = server_.inspector().tasks({});
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks.front().payload, R"({"to":"ada"})");
}

TEST(ClientExamples, AreShort) {
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    std::ifstream file{entry.path()};
    std::string line;
    int lines = 0;
    while (std::getline(file, line)) ++lines;
    EXPECT_LE(lines, 60) << entry.path();
  }
}

}  // namespace
}  // namespace holdfast::test
