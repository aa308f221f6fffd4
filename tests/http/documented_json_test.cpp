// The JSON in docs/http.md is what is read and written.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include <boost/json/parse.hpp>

#include <holdfast/http/response.hpp>

namespace holdfast::http {
namespace {

/// The first one in the document behind a sentence.
boost::json::value documented(const std::string& sentence) {
  constexpr std::string_view fence = "```json\n";
  std::ifstream file{HOLDFAST_SOURCE_DIR "/docs/http.md"};
  const std::string document{std::istreambuf_iterator{file}, {}};
  auto from = document.find(sentence);
  if (from != std::string::npos) from = document.find(fence, from);
  if (from == std::string::npos) return {};
  from += fence.size();
  return boost::json::parse(document.substr(from, document.find("```", from) - from));
}

TEST(DocumentedJson, OfAResponse) {
  const auto json = documented("A response:");
  const auto response = response_from_json(json);
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(to_json(response), json);
}

TEST(DocumentedJson, OfAnError) {
  const auto json = documented("An error, which has");
  auto error = error_from_json(json);
  EXPECT_EQ(error.type, ErrorType::timeout);
  EXPECT_EQ(to_json(error), json);
  error.response = Response{};
  EXPECT_TRUE(to_json(error).as_object().contains("response"));
}

TEST(DocumentedJson, OfARequest) {
  auto json = documented("of the kind `holdfast.http`; all but");
  const auto request = request_from_json(json);
  EXPECT_EQ(request.body, R"({"item": 7})");
  EXPECT_EQ(request.timeout, Millis{5'000});
  EXPECT_EQ(to_json(request), json);
  json.as_object()["body"] = "plain";
  EXPECT_EQ(request_from_json(json).body, "plain");
  const auto least = boost::json::parse(R"({"http_method": "GET", "url": "http://example.org/"})");
  EXPECT_EQ(request_from_json(least).method, Method::get);
}

}  // namespace
}  // namespace holdfast::http
