#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>

#include <holdfast/error.hpp>

#include "server/problem.hpp"
#include "server/secrets.hpp"
#include "server/tokens.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using server::ProgramToken;
using server::Scope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const WallTime begin{Millis{1'700'000'000'000}};

class TokenFile : public testing::Test {
 protected:
  static ProgramToken program(const std::string& name, std::set<Scope> scopes = {Scope::enqueue}) {
    return {.name = name, .scopes = std::move(scopes), .created = begin, .created_by = "cli/ada"};
  }
  std::string add(const ProgramToken& token) { return server::Tokens{path_}.add(token).secret; }
  std::string refusal(const ProgramToken& token) {
    try {
      add(token);
    } catch (const InvalidRequest& error) {
      return error.what();
    }
    return "it was made";
  }
  void write(const std::string& content) const {
    std::filesystem::remove(path_);
    std::ofstream{path_, std::ios::binary} << content;
    std::filesystem::permissions(path_, std::filesystem::perms{0600});
  }
  std::string text() const {
    std::ifstream file{path_};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  /// Why a secret is refused; empty: it is not.
  std::string refused(const std::string& secret, WallTime now = begin) {
    try {
      tokens_.find(secret, now);
      return "";
    } catch (const server::Problem& problem) {
      EXPECT_EQ(problem.status(), 401);
      return problem.what();
    }
  }

  TempStore place_;
  std::string path_ = (place_.folder() / "tokens").string();
  server::Tokens tokens_{path_};
};

TEST_F(TokenFile, HasNoSecretsAndIsForItsOwnerOnly) {
  const auto secret = add(program("orders"));
  EXPECT_THAT(secret, testing::MatchesRegex("hf_[0-9a-f]{64}"));
  EXPECT_THAT(text(), Not(HasSubstr(secret)));
  EXPECT_THAT(text(), Not(HasSubstr(secret.substr(3))));
  EXPECT_THAT(text(), HasSubstr(server::fingerprint(secret)));
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(tokens_.find(secret, begin)->name, "orders");
  EXPECT_EQ(tokens_.last_used(tokens_.list().tokens.front()), begin);
  EXPECT_THAT(refused(secret + "0"), HasSubstr("does not know that token"));
  EXPECT_THAT(token_json(tokens_.list().tokens.front(), begin),
              Not(HasSubstr(server::fingerprint(secret))));
}

TEST_F(TokenFile, ForgetsARevokedOneAtOnceAndAnExpiredOneInTime) {
  auto short_lived = program("short");
  short_lived.expires = begin + std::chrono::hours{1};
  const auto expiring = add(short_lived), other = add(program("other"));
  EXPECT_EQ(refused(expiring, begin + std::chrono::minutes{59}), "");
  EXPECT_THAT(refused(expiring, begin + std::chrono::hours{1}), HasSubstr("'short' expired at"));
  const auto token = tokens_.find(other, begin);
  EXPECT_TRUE(tokens_.is_active(*token, begin));
  EXPECT_FALSE(server::Tokens{path_}.revoke("nothing", "cli/eve", begin));
  EXPECT_TRUE(server::Tokens{path_}.revoke("other", "cli/eve", begin));
  EXPECT_FALSE(server::Tokens{path_}.revoke("other", "cli/eve", begin)) << "that was done";
  EXPECT_THAT(refused(other), HasSubstr("'other' was revoked at"));
  EXPECT_FALSE(tokens_.is_active(*token, begin));
  EXPECT_EQ(tokens_.list().tokens.front().revoked_by, "cli/eve");
  EXPECT_THAT(refusal(short_lived), HasSubstr("there is an active token 'short'"));
  const auto again = add(program("other"));
  EXPECT_EQ(refused(again), "");
  EXPECT_NE(refused(other), "") << "the name is used again, the secret is not";
  EXPECT_EQ(tokens_.list().tokens.size(), 2u);
}

TEST_F(TokenFile, IsForExactNamesAndPrefixesAndNeverForWhatIsReserved) {
  auto token = program("orders");
  EXPECT_TRUE(token.allows_kind("anything"));
  EXPECT_FALSE(token.allows_kind("holdfast.http.forget"));
  EXPECT_FALSE(token.allows_queue("holdfast.http"));
  token.kinds = {"mail.*", "pay"};
  EXPECT_TRUE(token.allows_kind("mail.send"));
  EXPECT_TRUE(token.allows_kind("pay"));
  EXPECT_FALSE(token.allows_kind("mail"));
  EXPECT_FALSE(token.allows_kind("pay2"));
  EXPECT_FALSE(token.allows_kind("Mail.send"));
  EXPECT_TRUE(token.allows_queue("anything"));
  token.queues = {"*", "hold*"};
  EXPECT_FALSE(token.allows_queue("holdfast.http"));
}

TEST_F(TokenFile, RefusesWhatMakesNoSense) {
  for (const std::string name : {"", "Orders", "a b", "-a", "a/b", "a\n", "\xff"})
    EXPECT_THAT(refusal(program(name)), HasSubstr("cannot be the name of a token")) << name;
  EXPECT_THAT(refusal(program(std::string(41, 'a'))), HasSubstr("1 to 40"));
  EXPECT_THAT(refusal(program("a", {})), HasSubstr("has no scope"));
  auto token = program("a", {Scope::metrics});
  token.queues = {"orders"};
  EXPECT_THAT(refusal(token), HasSubstr("has neither"));
  token.scopes = {Scope::enqueue, Scope::operates};
  EXPECT_THAT(refusal(token), HasSubstr("may use every queue"));
  token.scopes = {Scope::enqueue};
  for (const auto& pattern :
       std::vector<std::string>{"", "a*b", "**", std::string(201, 'a'), "a\x01"}) {
    token.queues = {pattern};
    EXPECT_NE(refusal(token), "it was made") << pattern;
  }
  token.queues = {"holdfast.http"};
  EXPECT_THAT(refusal(token), HasSubstr("reserved"));
  token.queues.assign(101, "a");
  EXPECT_THAT(refusal(token), HasSubstr("at most 100"));
  token.queues.clear();
  token.expires = begin;
  EXPECT_THAT(refusal(token), HasSubstr("not in the future"));
  token.expires = begin + std::chrono::hours{24 * 365 * 11};
  EXPECT_THAT(refusal(token), HasSubstr("more than 10 years"));
  EXPECT_EQ(text(), "");
}

TEST_F(TokenFile, KeepsEveryLineOfWritersAtTheSameTime) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i)
    writers.emplace_back([&, i] {
      for (int j = 0; j < 5; ++j) {
        const auto name = "t-" + std::to_string(i) + "-" + std::to_string(j);
        server::Tokens mine{path_};
        mine.add(program(name));
        if (j % 2 == 1) mine.revoke(name, "cli/ada", begin);
      }
    });
  for (auto& writer : writers) writer.join();
  const auto listed = tokens_.list();
  EXPECT_EQ(listed.tokens.size(), 40u);
  EXPECT_EQ(std::ranges::count_if(listed.tokens, [](auto& each) { return !!each.revoked; }), 16);
  EXPECT_TRUE(listed.faults.empty());
}

/// Such a line is no token, whatever it may have meant, and the others are not harmed.
TEST_F(TokenFile, TellsOfLinesThatCannotBeReadAndGoesOnWithTheOthers) {
  const auto first = add(program("first")), last = add(program("last"));
  auto line = token_line(*tokens_.find(last, begin));
  const auto with = [&](const std::string& part, const std::string& instead) {
    auto changed = line;
    changed.replace(changed.find(part), part.size(), instead);
    return changed;
  };
  const std::vector<std::string> hostile{
      "garbage",
      "{",
      "[]",
      "null",
      std::string{"\0\xff\xfe", 3},
      std::string(100'000, 'x'),
      with("enqueue", "everything"),
      with("\"expires\":null,", ""),
      with("\"revoked\":null,", ""),
      with("\"kinds\":[]", "\"kinds\":null"),
      with("\"expires\":null", "\"expires\":\"soon\""),
      with("\"queues\"", "\"only_from\":\"10.0.0.1\",\"queues\""),
      with("\"fingerprint\":\"", "\"fingerprint\":\"zz"),
      with("\"name\":\"last\"", "\"name\":7"),
      with("[\"enqueue\"]", "[]"),
      with("[\"enqueue\"]", "\"admin\""),
      line};
  for (const auto& bad : hostile) {
    write(token_line(*server::Tokens{path_}.find(first, begin)) + "\n" + bad + "\n" +
          (bad == line ? line : std::string{"# a comment"}) + "\n");
    const auto listed = tokens_.list();
    ASSERT_EQ(listed.faults.size(), 1u) << bad.substr(0, 80);
    EXPECT_THAT(listed.faults.front(), HasSubstr(bad == line ? ", line 3: " : ", line 2: "));
    EXPECT_EQ(refused(first), "") << bad.substr(0, 80);
    EXPECT_EQ(refused(last).empty(), bad == line) << bad.substr(0, 80);
  }
  write(token_line(*tokens_.find(first, begin)) + "\ngarbage\n");
  const auto added = add(program("added"));
  EXPECT_TRUE(server::Tokens{path_}.revoke("first", "cli/ada", begin));
  EXPECT_THAT(text(), HasSubstr("\ngarbage\n")) << "kept for people to look at";
  EXPECT_EQ(refused(added), "");
  EXPECT_NE(refused(first), "");
}

TEST_F(TokenFile, IsNotReadWhereOthersCouldHaveWrittenIt) {
  const auto secret = add(program("orders"));
  const auto why = [&] {
    try {
      tokens_.find(secret, begin);
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{"it was read"};
  };
  ASSERT_EQ(::chmod(path_.c_str(), 0620), 0);
  EXPECT_THAT(why(), HasSubstr("other users can write it"));
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  EXPECT_EQ(why(), "it was read");
  constexpr uid_t nobody = 65'534;
  if (::geteuid() == 0) {  // only root can give a file away
    ASSERT_EQ(::chown(path_.c_str(), nobody, nobody), 0);
    EXPECT_THAT(why(), HasSubstr("it belongs to user nobody (65534)"));
    ASSERT_EQ(::chown(path_.c_str(), 0, 0), 0);
  }
  const auto elsewhere = path_ + ".elsewhere";
  std::filesystem::rename(path_, elsewhere);
  std::filesystem::create_symlink(elsewhere, path_);
  EXPECT_THAT(why(), HasSubstr("symbolic link"));
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(why(), HasSubstr("not a regular file")) << "and it does not wait for a writer";
  std::filesystem::remove(path_);
  std::ofstream{path_}.close();
  ASSERT_EQ(::truncate(path_.c_str(), 1'000'000'000), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  EXPECT_THAT(why(), HasSubstr("bytes; at most"));
  std::filesystem::remove(path_);
  EXPECT_THAT(refused(secret), HasSubstr("does not know that token"));
}

TEST_F(TokenFile, MakesRoomForNewOnesWhereOldOnesAreNotActive) {
  std::string text;
  for (int i = 0; i < 1'000; ++i) {
    auto token = program("t-" + std::to_string(i));
    token.fingerprint = server::fingerprint(token.name);
    if (i == 7) token.expires = begin + Millis{1};
    text += token_line(token) + "\n";
  }
  write(text);
  EXPECT_THAT(refusal(program("one-more")), HasSubstr("there are 1000 tokens"));
  auto later = program("one-more");
  later.created = begin + Millis{2};
  EXPECT_EQ(refused(add(later)), "");
  EXPECT_EQ(tokens_.list().tokens.size(), 1'000u);
}

TEST_F(TokenFile, TellsWhatOthersChangedOnce) {
  add(program("early"));
  auto late = program("late");
  late.created = begin + Millis{5};
  add(late);
  const auto what = [&](WallTime since) {
    std::vector<std::string> all;
    for (const auto& each : tokens_.changes(since)) all.push_back(each.who + ": " + each.what);
    return all;
  };
  EXPECT_THAT(what(begin), ElementsAre("cli/ada: token add late"));
  EXPECT_THAT(what(begin), ElementsAre());
  tokens_.add(program("own"));
  EXPECT_THAT(what(begin), ElementsAre()) << "the one who did it here is audited as such";
  server::Tokens{path_}.revoke("early", "cli/eve", begin);
  server::Tokens{path_}.add(program("third"));
  EXPECT_THAT(what(begin), testing::UnorderedElementsAre("cli/eve: token revoke early",
                                                         "cli/ada: token add third"));
  std::filesystem::remove(path_);
  EXPECT_THAT(what(begin), testing::UnorderedElementsAre("unknown: token remove late",
                                                         "unknown: token remove own",
                                                         "unknown: token remove third"));
}

}  // namespace
}  // namespace holdfast::test
