#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include <holdfast/batches.hpp>
#include <holdfast/worker.hpp>

#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// A batch that has ended, each of whose rows had these lines for output files.
class OutputFiles : public testing::Test {
 protected:
  void make(const std::map<std::string, std::string>& files, int rows = 1) {
    Batches batches{server_.engine(), {.blobs = server_.output()}};
    batches.on("shop", "price", [&](const RowAttempt&) { return RowResult{.output = files}; });
    NewBatch batch{.app = "shop", .op = "price"};
    for (int line = 1; line <= rows; ++line) batch.rows.push_back({line, "{}"});
    id_ = batches.submit(batch).id;
    Worker{batches.work(), {.until_empty = true}}.run();
    keys_ = batches.status(id_)->output_files;
    ASSERT_EQ(keys_.size(), files.size());
  }
  std::string target(const std::string& query) const {
    return "/v1/batches/" + id_.text() + "/output?" + query;
  }
  Answer get(const std::string& query) { return server_.get(target(query)); }
  /// The bytes themselves; what is known of them is in another file.
  std::filesystem::path blob(const std::string& name) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{server_.output_folder()})
      if (entry.path().filename().string().ends_with(keys_.at(name))) return entry.path();
    return {};
  }

  ServerUnderTest server_;
  BatchId id_{};
  std::map<std::string, std::string> keys_;
};

/// Of several pieces, and not the same at any two places.
std::string long_text(int bytes) {
  std::string text;
  for (int i = 0; static_cast<int>(text.size()) < bytes; ++i) text += std::to_string(i) + " ";
  text.back() = '.';
  return text;
}

TEST_F(OutputFiles, AreDownloadedByNameAndByKey) {
  const auto text = long_text(300'000);
  make({{"prices.txt", text}, {"other", "b"}}, 3);
  const auto line = text + "\n";
  for (const auto& query : {std::string{"name=prices.txt"}, "key=" + keys_.at("prices.txt")}) {
    const auto answer = get(query);
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(answer.body == line + line + line);
    EXPECT_EQ(answer.headers.at("content-type"), "application/octet-stream");
    EXPECT_EQ(answer.headers.at("content-disposition"),
              R"(attachment; filename="prices.txt"; filename*=UTF-8''prices.txt)");
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
  }
  EXPECT_EQ(get("name=other").body, "b\nb\nb\n");
  EXPECT_THAT(server_.get("/v1/audit").body, HasSubstr("/output"));
}

TEST_F(OutputFiles, WithHostileNamesDoNoHarm) {
  const std::string split = "a\r\nSet-Cookie: b", up = "../../etc/passwd", quoted = "a\";x=\"ä";
  make({{split, "1"}, {up, "2"}, {quoted, "3"}, {"..", "4"}});
  auto saved_as = [&](const std::string& name) {
    const auto answer = get("key=" + keys_.at(name));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_FALSE(answer.headers.contains("set-cookie"));
    return answer.headers.at("content-disposition");
  };
  EXPECT_THAT(saved_as(split), HasSubstr(R"(filename="a__Set-Cookie__b";)"));
  EXPECT_THAT(saved_as(up), HasSubstr(R"(filename="_.._etc_passwd";)"));
  EXPECT_THAT(saved_as(quoted), HasSubstr(R"(filename="a__x____"; filename*=UTF-8''a%22%3Bx%3D)"));
  EXPECT_THAT(saved_as(".."), HasSubstr(R"(filename="output")"));
  EXPECT_EQ(get("name=..%2F..%2Fetc%2Fpasswd").body, "2\n");
}

TEST_F(OutputFiles, ThatAreNotThereAreToldApart) {
  make({{"a", "1"}});
  EXPECT_EQ(get("name=b").status, 404);
  EXPECT_EQ(get("key=" + std::string{"elsewhere"}).status, 404);
  EXPECT_EQ(get("").code(), "invalid_request");
  EXPECT_EQ(get("name=a&key=" + keys_.at("a")).code(), "invalid_request");
  EXPECT_EQ(server_.get("/v1/batches/x/output?name=a").status, 400);
  std::filesystem::remove(blob("a"));
  EXPECT_EQ(get("name=a").status, 404);
}

TEST_F(OutputFiles, ThatAreDamagedAreNotSent) {
  make({{"a", long_text(600'000)}});
  const auto path = blob("a");
  ASSERT_FALSE(path.empty());
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(400'000);
  file << "damage";
  file.close();
  const auto answer = get("name=a");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.code(), "damaged");
}

TEST_F(OutputFiles, AreSentToSoManyAtATime) {
  make({{"a", long_text(600'000)}, {"b", "1"}}, 30);
  auto headers = server_.bearer();
  headers["Host"] = server_.host();
  const auto text = request_text("GET", target("name=a"), {}, headers);
  std::vector<Wire> slow;
  for (int i = 0; i < 4; ++i) {
    slow.emplace_back(server_.port()).send(text);
    EXPECT_THAT(slow.back().until("\r\n\r\n"), HasSubstr("200 OK"));
  }
  EXPECT_EQ(get("name=b").code(), "busy");
  EXPECT_EQ(server_.get("/v1/queues").status, 200) << "nobody else waits";
  slow.clear();
  EXPECT_TRUE(eventually([&] { return get("name=b").status == 200; }));
}

}  // namespace
}  // namespace holdfast::test
