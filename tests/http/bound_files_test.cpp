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

using BoundInFiles = ProgramScenario;

/// A secret and a signing key of an operator, and a server that they were never meant for.
TEST_F(BoundInFiles, GoToNoServerThatTheyAreNotBoundTo) {
  const auto folder = store_.folder() / "secrets";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "token"} << "s3cret\n";
  std::ofstream{folder / "key"} << std::string(32, 'k');
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const auto run = [&] {
    for (const auto& [option, value] :
         {std::pair{"--secret-header", "X-Api-Key: token"}, std::pair{"--sign-with", "main"}})
      EXPECT_TRUE(cli({"http", "post", server.url(), option, value}).ending.ok());
    return cli(run_words({"--until-empty", "--secrets", folder.string(), "--signing-key",
                          fmt::format("main={}", (folder / "key").string())}));
  };
  const auto unbound = run();
  ASSERT_TRUE(unbound.ending.ok()) << unbound.err;
  EXPECT_THAT(unbound.err, HasSubstr("secrets without a binding are not sent: key, token; "));
  EXPECT_EQ(server.connections(), 0);
  const auto line = fmt::format("add the line 'host http://127.0.0.1:{}' to ", server.port());
  std::vector<std::string> errors;
  for (const auto& task : inspector_.tasks({.states = {TaskState::failed}}))
    errors.push_back(task.error);
  EXPECT_THAT(errors, testing::UnorderedElementsAre(HasSubstr(line + "token.bind"),
                                                    HasSubstr(line + "key.bind")));
  for (const auto& error : errors)
    EXPECT_THAT(error, testing::Not(HasSubstr(folder.string()))) << "callers see this";

  for (const auto* name : {"token", "key"})
    std::ofstream{folder / (std::string{name} + ".bind")} << "host api.example.org\n";
  EXPECT_THAT(run().err, testing::Not(HasSubstr("without a binding")));
  EXPECT_EQ(server.connections(), 0);

  for (const auto* name : {"token", "key"}) bind(folder / name, server);
  EXPECT_TRUE(run().ending.ok());
  EXPECT_EQ(server.served(), 2);
  const auto printed = [&](const std::string& secret) {
    return cli({"http", "get", server.url(), "--print", "--allow-private", "--secret-header",
                "X-A: " + secret, "--secrets", folder.string()});
  };
  EXPECT_TRUE(printed("token").ending.ok());
  EXPECT_THAT(printed("token.bind").err, HasSubstr("does not have")) << "that is not a secret";
  std::filesystem::permissions(folder / "token.bind", std::filesystem::perms{0622});
  EXPECT_THAT(printed("token").err, HasSubstr("token.bind cannot be used: other users can write"));
  std::filesystem::permissions(folder / "token.bind", std::filesystem::perms{0644});
  std::ofstream{folder / "token.bind"} << "hosts x\n";
  EXPECT_THAT(printed("token").err, HasSubstr("cannot be read: token.bind:1: unknown word"));
}

}  // namespace
}  // namespace holdfast::http
