#include "server/audit.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include "server/secrets.hpp"
#include "server/server_under_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string content(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream{path, std::ios::binary | std::ios::trunc} << text;
}

class AuditLog : public testing::Test {
 protected:
  void act(int times) {
    server::Audit audit{path_};
    for (int i = 0; i < times; ++i) audit.asked({.who = "ada", .what = "POST /a"});
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::ifstream file{path_};
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }
  void keep(const std::vector<std::string>& all) const {
    std::string text;
    for (const auto& line : all) text += line + "\n";
    write(path_, text);
  }
  void expect_intact(std::size_t entries) const {
    const server::Audit audit{path_};
    EXPECT_EQ(audit.found(), "");
    EXPECT_THAT(audit.findings(), IsEmpty());
    EXPECT_THAT(audit.list(100, INT64_MAX), SizeIs(entries));
  }
  /// Opens the log, which must be sealed as it is now, and tries the new one.
  void expect_sealed(const std::string& where, const std::string& why) const {
    const auto before = content(path_);
    const auto known = server::sealed_audits(place_.folder());
    {
      server::Audit audit{path_};
      EXPECT_THAT(audit.found(), HasSubstr(where));
      EXPECT_THAT(audit.found(), HasSubstr(why));
      auto sealed = server::sealed_audits(place_.folder());
      std::erase_if(sealed, [&](const auto& name) { return std::ranges::count(known, name) > 0; });
      ASSERT_THAT(sealed, SizeIs(1));
      EXPECT_EQ(content(place_.folder() / sealed[0]), before) << "evidence is not touched";
      EXPECT_THAT(audit.findings(), testing::Contains(HasSubstr(sealed[0])));
      const auto first = audit.list(10, INT64_MAX);
      ASSERT_THAT(first, SizeIs(1));
      const auto told = boost::json::parse(first[0].details);
      EXPECT_EQ(told.at("sealed"), boost::json::value(sealed[0]));
      EXPECT_EQ(told.at("file_hash"), boost::json::value(server::fingerprint(before)));
      EXPECT_THAT(std::string{told.at("fault").as_string()}, HasSubstr(why));
      audit.ended(audit.asked({.who = "bob", .what = "POST /b"}), "200");
    }
    const server::Audit again{path_};
    EXPECT_EQ(again.found(), "") << "found once";
    EXPECT_THAT(again.findings(), SizeIs(known.size() + 1)) << "and shown until it is moved away";
    EXPECT_THAT(again.list(10, INT64_MAX), SizeIs(2));
  }

  TempStore place_;
  std::string path_ = place_.folder() / "audit.jsonl";
  std::string head_ = path_ + ".head";
};

TEST_F(AuditLog, KeepsWhatWasAskedAndHowItEnded) {
  {
    server::Audit audit{path_};
    audit.ended(audit.asked({.who = "ada", .what = "POST /a"}), "200");
    audit.asked({.who = "bob", .what = "POST /b"});  // and then the process died
  }
  server::Audit audit{path_};
  const auto entries = audit.list(10, INT64_MAX);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].who, "bob");
  EXPECT_EQ(entries[0].outcome, "asked");
  EXPECT_EQ(entries[1].outcome, "200");
  EXPECT_EQ(audit.asked({.who = "eve"}), 3);
  EXPECT_EQ(audit.list(10, 2).size(), 1u);
}

/// Every text that a caller can bring in, cut in the middle of a character or not text at all.
TEST_F(AuditLog, ReadsBackWhateverWasWritten) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  std::vector<std::string> texts{bytes, "\\ud83d", "\xf0\x9f\x98", "\u202e\ufeff\u2028", "\"}"};
  for (const auto* character : {"\u00e9", "\u20ac", "\U0001f600", "\xff", "\x01", "\""})
    for (int shift = 0; shift < 4; ++shift) {
      std::string text(static_cast<std::size_t>(shift), 'x');
      while (text.size() < 5'000) text += character;
      texts.push_back(text);
    }
  std::vector<server::AuditEntry> before;
  {
    server::Audit audit{path_};
    for (const auto& text : texts) {
      const auto n = audit.asked({.at = WallTime{Millis{1'700'000'000'123}},
                                  .who = text,
                                  .from = text,
                                  .what = text,
                                  .store = text,
                                  .details = text});
      audit.ended(n, text);
    }
    before = audit.list(100, INT64_MAX);
  }
  server::Audit audit{path_};
  EXPECT_EQ(audit.found(), "");
  const auto after = audit.list(100, INT64_MAX);
  ASSERT_EQ(after.size(), texts.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(audit_json(after[i]), audit_json(before[i]));
    EXPECT_LE(after[i].details.size(), 2'000u);
  }
  EXPECT_EQ(after.back().details.substr(0, 4), bytes.substr(0, 4));
}

/// As it was found: one request, and the server never started again.
TEST(AuditOfServer, SurvivesACauseThatIsCutOff) {
  ServerUnderTest server;
  const auto id = server.enqueue("a").text();
  std::string cause;
  for (int i = 0; i < 1'500; ++i) cause += "\u00e9";
  const auto held =
      server.post("/v1/tasks/hold", fmt::format(R"({{"ids":["{}"],"cause":"{}"}})", id, cause));
  EXPECT_EQ(held.status, 200) << held.body;
  const server::Audit read{server.folder() + "/audit.jsonl"};
  EXPECT_EQ(read.found(), "");
  const auto details = read.list(1, INT64_MAX).at(0).details;
  EXPECT_GT(details.size(), 1'990u);
  EXPECT_THAT(details, testing::EndsWith("\u00e9"));
}

/// Versions before wrote the same lines, without a head, and cut characters into `\ufffd`.
TEST_F(AuditLog, GoesOnWithALogOfTheVersionBefore) {
  std::string chain, log;
  for (int n = 1; n <= 3; ++n) {
    const auto line = fmt::format(
        R"({{"n":{},"at":"2026-03-01T12:00:00.123Z","who":"operator/ada","from":"::1","what":)"
        R"("POST /a","store":"s","details":"cut\ufffd","outcome":"asked")",
        n);
    chain = server::fingerprint(chain + "\n" + line + "}");
    log += line + R"(,"hash":")" + chain + "\"}\n";
  }
  write(path_, log + R"({"n":4,"at)");  // and a crash
  {
    server::Audit audit{path_};
    EXPECT_EQ(audit.found(), "");
    const auto entries = audit.list(10, INT64_MAX);
    ASSERT_THAT(entries, SizeIs(4));
    EXPECT_EQ(entries[0].what, "begin the head record of the audit log");
    EXPECT_EQ(entries[1].details, "cut\ufffd");
    audit.ended(1, "200");
  }
  EXPECT_THAT(content(path_), testing::StartsWith(log));
  expect_intact(4);
  std::filesystem::remove(head_);
  expect_sealed("line 6", "head record beside the log was removed");
}

TEST_F(AuditLog, SealsALogThatWasChanged) {
  act(4);
  auto all = lines();
  all[1].replace(all[1].find("ada"), 3, "bob");
  keep(all);
  expect_sealed("line 2", "changed");
}

TEST_F(AuditLog, SealsALogWithoutALineInTheMiddle) {
  act(4);
  auto all = lines();
  all.erase(all.begin() + 2);
  keep(all);
  expect_sealed("line 3", "removed");
}

TEST_F(AuditLog, SealsWhatIsNotALog) {
  write(path_, "hello\n");
  expect_sealed("line 1", "changed");
  write(path_, std::string(3'000'000, '\0'));
  expect_sealed("line 1", "too long");
  auto line = std::string{R"({"n":1)"};
  line += R"(,"hash":")" + server::fingerprint("\n" + line + "}") + "\"}\n";
  write(path_, line);
  std::filesystem::remove(head_);
  expect_sealed("line 1", "not a line");
}

TEST_F(AuditLog, NoticesThatLinesWereCutOff) {
  for (const int missing : {1, 3}) {
    act(5);
    auto all = lines();
    all.resize(all.size() - static_cast<std::size_t>(missing));
    keep(all);
    expect_sealed(fmt::format("line {}", all.size() + 1), "removed from the end");
  }
  act(5);
  const auto size = std::filesystem::file_size(path_);
  std::filesystem::resize_file(path_, size - 1);
  expect_sealed("line", "1 line was removed from the end");
  act(5);
  write(path_, "");
  expect_sealed("line 1", "removed from the end");
  act(5);
  std::filesystem::remove(path_);
  expect_sealed("line 1", "removed from the end");
}

TEST_F(AuditLog, NoticesThatTheHeadWasRemoved) {
  for (const int missing : {0, 2}) {
    act(3);
    auto all = lines();
    all.resize(all.size() - static_cast<std::size_t>(missing));
    keep(all);
    std::filesystem::remove(head_);
    expect_sealed(fmt::format("line {}", all.size() + 1),
                  "the head record beside the log was removed");
  }
}

TEST_F(AuditLog, NoticesAnotherLogInItsPlace) {
  act(3);
  const auto other = content(path_);
  std::filesystem::remove(path_);
  std::filesystem::remove(head_);
  {
    server::Audit audit{path_};
    for (int i = 0; i < 3; ++i) audit.asked({.who = "eve", .what = "POST /e"});
  }
  write(path_, other);
  expect_sealed("line 4", "not the one");
}

/// All that a crash can leave: see audit_check.hpp.
TEST_F(AuditLog, TakesWhatACrashLeavesForIntact) {
  act(2);
  expect_intact(2);
  const auto before = content(head_);
  act(1);
  const auto log = content(path_);
  const auto after = content(head_);
  write(head_, before);  // died between the line and the head
  expect_intact(3);
  write(head_, after);
  write(path_, log + log.substr(0, 70));  // died within a line
  expect_intact(3);
  EXPECT_EQ(content(path_), log);
  for (const auto* torn : {"", "3 "}) {  // died within the head: of two slots, the one for line 3
    write(head_,
          after.substr(0, 4'096) + torn + std::string(4'096 - std::string{torn}.size(), 'x'));
    expect_intact(3);
  }
  act(1);
  expect_intact(4);
}

TEST_F(AuditLog, TakesNothingElseForIntact) {
  act(2);
  const auto before = content(head_);
  act(2);
  write(head_, before);
  expect_sealed("line 5", "added after line 2");
  act(2);
  const auto head = content(head_);
  act(1);
  write(head_, head);
  write(path_, content(path_) + "{");
  expect_sealed("line", "added after line");
  act(2);
  write(head_, std::string(8'192, 'x'));
  expect_sealed("line", "head record beside the log cannot be read");
  act(2);
  write(head_, "");
  expect_sealed("line", "head record beside the log cannot be read");
}

/// The plan of a sealing is on disk first, so it is ended wherever it stopped. These are the states
/// in between; tests/server/audit_kills_test.cpp has the process die there.
TEST_F(AuditLog, EndsASealingThatWasInterrupted) {
  act(3);
  auto all = lines();
  all[1].replace(all[1].find("ada"), 3, "bob");
  keep(all);
  const auto broken = content(path_), old_head = content(head_);
  expect_sealed("line 2", "changed");
  const auto name = server::sealed_audits(place_.folder()).at(0);
  const auto first = lines().at(0);
  const auto sealing = path_ + ".sealing";
  const auto expect_ended = [&] {
    {
      server::Audit audit{path_};
      EXPECT_EQ(audit.found(), "");
      EXPECT_THAT(audit.findings(), SizeIs(1));
      EXPECT_THAT(audit.list(10, INT64_MAX), SizeIs(1));
    }
    EXPECT_EQ(lines().at(0), first);
    EXPECT_EQ(content(place_.folder() / name), broken);
    EXPECT_FALSE(std::filesystem::exists(sealing));
  };
  const auto plan = name + "\n" + first + "\n";
  // Nothing was moved yet.
  std::filesystem::rename(place_.folder() / name, path_);
  write(head_, old_head);
  write(sealing, plan);
  expect_ended();
  // Moved, and no new log, or a part of it.
  std::filesystem::remove(path_);
  write(head_, old_head);
  write(sealing, plan);
  expect_ended();
  write(path_, first.substr(0, 20));
  write(head_, old_head);
  write(sealing, plan);
  expect_ended();
  // Everything but the removal of the plan.
  write(sealing, plan);
  expect_ended();
  // What is not a plan of ours is removed, and moves nothing.
  write(sealing, "../../etc/passwd\n" + first + "\n");
  expect_ended();
}

TEST_F(AuditLog, FollowsNoLinks) {
  act(1);
  std::filesystem::rename(path_, path_ + ".elsewhere");
  std::filesystem::create_symlink(path_ + ".elsewhere", path_);
  EXPECT_ANY_THROW(server::Audit{path_});
}

TEST_F(AuditLog, IsCheckedByDoctorWithoutAServer) {
  act(3);
  EXPECT_THAT(server::audit_findings(place_.folder()), IsEmpty());
  auto all = lines();
  all.pop_back();
  keep(all);
  const auto before = content(path_);
  EXPECT_THAT(server::audit_findings(place_.folder()),
              testing::ElementsAre(HasSubstr("1 line was removed")));
  EXPECT_EQ(content(path_), before);
  EXPECT_THAT(server::sealed_audits(place_.folder()), IsEmpty());
}

TEST(AuditOfServer, ShowsWhatWasSealed) {
  ServerUnderTest server;
  EXPECT_THAT(server.get("/v1/health").body, HasSubstr("The audit log is intact"));
  EXPECT_TRUE(server.get("/v1/audit").json().at("findings").as_array().empty());
  write(server.folder() + "/audit-BROKEN-20260301T120000Z-line-7.jsonl", "");
  const auto health = server.get("/v1/health").json();
  EXPECT_EQ(health.at("level"), "bad");
  EXPECT_THAT(server.get("/v1/health").body, HasSubstr("audit-BROKEN-20260301T120000Z-line-7"));
  const auto findings = server.get("/v1/audit").json().at("findings").as_array();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(std::string{findings[0].as_string()}, HasSubstr("line-7"));
}

}  // namespace
}  // namespace holdfast::test
