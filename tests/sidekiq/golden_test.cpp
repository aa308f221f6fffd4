#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include <fstream>
#include <map>

#include <holdfast/error.hpp>

#include "engines/sidekiq/body.hpp"
#include "engines/sidekiq/request_job.hpp"
#include "engines/sidekiq/result.hpp"

namespace holdfast::sidekiq {
namespace {

using http::ErrorType;

/// What the gem's own classes wrote, by name: each file was printed by one generation of it.
class Golden : public testing::TestWithParam<const char*> {
 protected:
  Golden() {
    std::ifstream file{std::string{SIDEKIQ_GOLDEN} + "/" + GetParam() + ".txt"};
    for (std::string line; std::getline(file, line);) {
      auto colon = line.find(": ");
      lines_[line.substr(0, colon)] = boost::json::parse(line.substr(colon + 2));
    }
  }
  const boost::json::value& golden(const std::string& name) const { return lines_.at(name); }

  http::Response response(const std::string& type, const std::string& body) const {
    http::Response one{.status = 200, .headers = {{"x-a", "1"}}, .body = body};
    if (!type.empty()) one.headers["content-type"] = type;
    one.duration = 0.123456789;
    one.request_id = "11111111-2222-4333-8444-555555555555";
    one.url = "https://api.example.com/users/123";
    one.context = boost::json::object{{"user_id", 123}};
    return one;
  }
  RequestJob read(const std::string& name) const {
    boost::json::object job{
        {"args", boost::json::array{golden(name), "MyCallback", nullptr, nullptr, "r"}},
        {"jid", "j"}};
    return read_request_job(job, {});
  }
  bool is_later() const { return std::string_view{GetParam()} == "patient_http"; }

  const Dialect& dialect_ = dialect_named(GetParam());
  std::map<std::string, boost::json::value> lines_;
};

TEST_P(Golden, AnswersAreWrittenAsTheGemWritesThem) {
  auto same = [&](const std::string& name, const http::Response& one) {
    EXPECT_EQ(response_data(one, dialect_), golden(name)) << name;
  };
  same("response_json_small",
       response("application/json; charset=utf-8", "{\"ok\":true,\"n\":\"\xc3\xa9\"}"));
  same("response_text_no_charset", response("text/plain", "hello"));
  same("response_text_latin1", response("text/plain; charset=ISO-8859-1", "caf\xe9"));
  same("response_binary", response("image/png", std::string{"\x89PNG\0", 5}));
  same("response_no_ct", response("", "abc"));
  auto none = response("text/plain", "");
  none.status = 204;
  same("response_nil_body", none);
  same("response_empty_body", response("text/plain; charset=utf-8", ""));
}

TEST_P(Golden, LargeTextIsCompressedAsTheGemDoesIt) {
  std::string large(4'096, 'a');
  auto type = "text/plain; charset=utf-8";
  auto body = response_data(response(type, large), dialect_).at("body");
  EXPECT_EQ(body.at("encoding"), golden("response_4096_gz").at("body").at("encoding"));
  EXPECT_EQ(decode_body(body), large);
  EXPECT_EQ(decode_body(golden("response_4096_gz").at("body")), large);
  auto begins = std::string{body.at("value").as_string()}.substr(0, 3);
  EXPECT_EQ(begins, is_later() ? "H4s" : "eJz");
  large.pop_back();
  EXPECT_EQ(response_data(response(type, large), dialect_).at("body").at("encoding"), "text");
}

TEST_P(Golden, ErrorsAreWrittenAsTheGemWritesThem) {
  http::RequestError error{.type = ErrorType::http};
  error.response = response("text/plain; charset=utf-8", "busy");
  error.response->status = 503;
  EXPECT_EQ(error_data(error, {}, dialect_), golden("error_http"));

  http::RequestError many{.type = ErrorType::too_many_redirects, .duration = 1.5};
  many.request_id = "11111111-2222-4333-8444-555555555555";
  many.redirects = {"https://a/1", "https://a/2"};
  many.context = boost::json::object{{"user_id", 123}};
  auto expected = golden("error_redirect_too_many").as_object();
  expected["request_id"] = many.request_id + "/3";
  EXPECT_EQ(error_data(many, "https://a/7", dialect_), expected);

  many.type = ErrorType::recursive_redirect;
  many.request_id = "r";
  many.redirects = {"https://a/1"};
  many.context = boost::json::object{};
  EXPECT_EQ(error_data(many, "https://a/1", dialect_), golden("error_redirect_recursive"));

  http::RequestError refused{.type = ErrorType::connection, .duration = 0.01};
  refused.message = "127.0.0.1: Failed to connect to 127.0.0.1 port 1: Couldn't connect to server";
  refused.request_id = "r";
  refused.url = "http://127.0.0.1:1/";
  refused.context = boost::json::object{{"user_id", 123}};
  expected = golden("error_connection").as_object();
  expected["message"] = refused.message;
  expected["backtrace"] = boost::json::array{};
  EXPECT_EQ(error_data(refused, {}, dialect_), expected);
}

TEST_P(Golden, RequestsAreReadAsTheGemWroteThem) {
  auto get = read("request_get").request;
  EXPECT_EQ(get.method, http::Method::get);
  EXPECT_EQ(get.url, "https://api.example.com/users/123");
  EXPECT_EQ(get.headers.at("authorization"), "Bearer t");
  EXPECT_EQ(get.timeout, Millis{30'000});
  EXPECT_EQ(get.max_redirects, std::nullopt);
  auto post = read("request_post").request;
  EXPECT_EQ(post.body, "{\"a\":1}");
  EXPECT_EQ(post.max_redirects, 0);
  if (!is_later()) return;
  EXPECT_EQ(read("request_post_binary").request.body, (std::string{"\xff\0\x01", 3}));
  auto refused = golden("request_secret").as_object();
  EXPECT_THROW(read("request_secret"), InvalidRequest) << "only Ruby has preprocessors";
  refused.erase("preprocessors");
  lines_["request_secret"] = refused;
  auto secret = read("request_secret");
  EXPECT_EQ(secret.request.secret_headers.at("x-api-key"), "k1");
  EXPECT_EQ(secret.secret_params.at("sig"), "k2");
}

INSTANTIATE_TEST_SUITE_P(Of, Golden, testing::Values("sidekiq_async_http", "patient_http"),
                         [](const auto& dialect) { return std::string{dialect.param}; });

}  // namespace
}  // namespace holdfast::sidekiq
