#include <sys/resource.h>

#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include <holdfast/batches.hpp>

#include "server/page.hpp"
#include "server/server_under_test.hpp"
#include "server/unread.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Bytes of this process that are in memory.
std::size_t resident() {
  std::ifstream file{"/proc/self/statm"};
  std::size_t all = 0, pages = 0;
  file >> all >> pages;
  return pages * 4'096;
}

/// What is on all pages of a list, and that none of them is large.
std::vector<boost::json::value> all_of(ServerUnderTest& server, const std::string& target,
                                       const std::string& list) {
  std::vector<boost::json::value> entries;
  std::string cursor;
  for (int pages = 0; pages < 1'000; ++pages) {
    const auto answer = server.get(target + (cursor.empty() ? "" : "&cursor=" + cursor));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_LE(answer.body.size(), 3 * server::most_page_bytes) << target;
    const auto document = answer.json();
    for (const auto& entry : document.at(list).as_array()) entries.push_back(entry);
    const auto& next = document.at("next_cursor");
    if (next.is_null()) return entries;
    cursor = next.as_string();
  }
  ADD_FAILURE() << target << " never ends";
  return entries;
}

class LargeAnswers : public testing::Test {
 protected:
  static std::string large(std::size_t bytes) { return "\"" + std::string(bytes, 'x') + "\""; }
  BatchId submit(int rows, std::size_t bytes, std::string context = "{}") {
    NewBatch batch{.app = "a", .op = "o", .context = std::move(context)};
    for (int line = 1; line <= rows; ++line) batch.rows.push_back({line, large(bytes)});
    return Batches{server_.engine()}.submit(batch).id;
  }

  ServerUnderTest server_;
};

TEST_F(LargeAnswers, HaveRowsInPagesOfBytes) {
  const auto id = submit(300, 200'000).text();
  const auto before = resident();
  const auto first = server_.get("/v1/batches/" + id + "/rows?limit=500");
  EXPECT_EQ(first.status, 200);
  EXPECT_LT(first.body.size(), 3 * server::most_page_bytes);
  EXPECT_LT(resident(), before + 40 * 1024 * 1024) << "not all rows were in memory";
  const auto rows = all_of(server_, "/v1/batches/" + id + "/rows?limit=500", "rows");
  ASSERT_EQ(rows.size(), 300u);
  std::set<std::int64_t> lines;
  for (const auto& row : rows) {
    lines.insert(row.at("line").to_number<std::int64_t>());
    EXPECT_TRUE(row.at("truncated").as_bool());
    EXPECT_TRUE(row.at("input").is_null());
    EXPECT_EQ(row.at("input_bytes").to_number<std::size_t>(), 200'002u);
    EXPECT_EQ(row.at("input_preview").as_string().size(), server::longest_value);
  }
  EXPECT_EQ(lines.size(), 300u);
  const auto whole = server_.get("/v1/batches/" + id + "/rows/7").json();
  EXPECT_EQ(whole.at("input").as_string().size(), 200'000u);
  EXPECT_FALSE(whole.at("truncated").as_bool());
  EXPECT_EQ(server_.get("/v1/batches/" + id + "/rows/301").status, 404);
  EXPECT_EQ(server_.get("/v1/batches/" + id + "/rows/x").status, 400);
}

TEST_F(LargeAnswers, HaveSmallRowsAsBefore) {
  const auto id = submit(120, 10).text();
  const auto page = server_.get("/v1/batches/" + id + "/rows?limit=100").json();
  EXPECT_EQ(page.at("rows").as_array().size(), 100u);
  EXPECT_EQ(all_of(server_, "/v1/batches/" + id + "/rows?limit=100", "rows").size(), 120u);
  EXPECT_TRUE(
      server_.get("/v1/batches/" + id + "/rows?limit=120").json().at("next_cursor").is_null());
}

TEST_F(LargeAnswers, HaveBatchesInPages) {
  std::set<std::string> ids;
  for (int i = 0; i < 250; ++i) ids.insert(submit(1, 1, large(50'000)).text());
  std::set<std::string> found;
  for (const auto& batch : all_of(server_, "/v1/batches?limit=500", "batches")) {
    found.insert(std::string{batch.at("id").as_string()});
    EXPECT_TRUE(batch.at("truncated").as_bool());
  }
  EXPECT_EQ(found, ids);
  EXPECT_EQ(server_.get("/v1/batches/" + *ids.begin()).json().at("context").as_string().size(),
            50'000u);
  EXPECT_EQ(server_.get("/v1/batches?cursor=nonsense").status, 400);
}

TEST_F(LargeAnswers, HaveTasksInPagesOfBytes) {
  for (int i = 0; i < 300; ++i) server_.enqueue("k", large(1'900));
  server_.inspector().hold({}, std::string(15'000, 'x'));
  EXPECT_EQ(all_of(server_, "/v1/tasks?limit=500", "tasks").size(), 300u);
}

TEST_F(LargeAnswers, AreNotMadeForWhoReadsNone) {
  const auto id = submit(70, 900'000).text();
  const auto request =
      request_text("GET", "/v1/batches/" + id + "/rows?limit=500", {},
                   {{"Host", server_.host()}, {"Authorization", "Bearer " + server_.token()}});
  const auto before = resident();
  std::vector<Wire> silent;
  for (int i = 0; i < 150; ++i) {
    silent.emplace_back(server_.port());
    silent.back().send(request);
  }
  // When the last one has its head, the others have been asked for.
  int refused = 0;
  for (auto it = silent.rbegin(); it != silent.rbegin() + 50; ++it)
    if (it->until("\r\n\r\n").find(" 503 ") != std::string::npos) ++refused;
  EXPECT_GT(refused, 0);
#ifdef __SANITIZE_ADDRESS__
  constexpr auto most = 800 * 1024 * 1024;  // what was freed stays for a while
#else
  constexpr auto most = 120 * 1024 * 1024;
#endif
  EXPECT_LT(resident(), before + most);
  EXPECT_EQ(server_.bare("GET", "/healthz").status, 200);
}

TEST(Unread, IsCountedForEachCallerAndForAll) {
  server::Unread unread{100, 60};
  auto first = unread.hold("a", 60);
  EXPECT_FALSE(unread.has_room("a"));
  EXPECT_TRUE(unread.has_room("b"));
  auto second = unread.hold("b", 40);
  EXPECT_FALSE(unread.has_room("c")) << "all together";
  first.reset();
  EXPECT_TRUE(unread.has_room("a"));
  EXPECT_EQ(unread.bytes(), 40u);
}

TEST(Page, AlwaysHasRoomForTheFirst) {
  server::Page page{10, 5};
  EXPECT_TRUE(page.add("\"a long entry\""));
  EXPECT_FALSE(page.add("1"));
  EXPECT_EQ(page.list(), "[\"a long entry\"]");
}

}  // namespace
}  // namespace holdfast::test
