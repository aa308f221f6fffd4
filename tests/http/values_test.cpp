#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/http.hpp>

#include "http/curl_errors.hpp"
#include "http/ending.hpp"
#include "http/headers.hpp"
#include "support/temp_store.hpp"

namespace holdfast::http {
namespace {

using testing::HasSubstr;

Request full_request() {
  Request request;
  request.method = Method::post;
  request.url = "https://api.example.org/orders?x=1";
  request.headers = {{"accept", "text/plain"}};
  request.secret_headers = {{"authorization", "api-token"}};
  request.body = std::string{"\0\xff binary", 9};
  request.timeout = Millis{1'500};
  request.host_patience = Millis{0};
  request.max_redirects = 2;
  request.raise_error_responses = true;
  request.on_ambiguous = OnAmbiguous::hold;
  request.sign_with = "main";
  request.callback = "store_order";
  request.context = {{"order", 7}};
  return request;
}

Response full_response() {
  Response response;
  response.status = 503;
  response.headers = {{"retry-after", "7"}};
  response.body = "\xff\xfe";
  response.duration = 0.25;
  response.request_id = "id";
  response.url = "https://api.example.org/x";
  response.redirects = {"https://api.example.org/"};
  response.context = {{"order", 7}};
  return response;
}

TEST(HttpValues, GoThroughJsonUnchanged) {
  EXPECT_EQ(request_from_json(to_json(full_request())), full_request());
  EXPECT_EQ(response_from_json(to_json(full_response())), full_response());
  auto odd = full_response();
  odd.headers = {{"x-\"quoted\"", "a\\b\x01\t\n\u00e9"}};
  odd.body = "{\"a\": [\"\\u0000\", 1]}\r\n";
  odd.duration = 3e-6;
  for (int byte = 0; byte < 128; ++byte)
    odd.redirects.push_back(std::string(static_cast<std::size_t>(byte % 20), 'x') +
                            static_cast<char>(byte) + "0123456789");
  odd.context = {{"n", 18446744073709551615u}, {"list", {1.5, nullptr, "\u20ac"}}};
  EXPECT_EQ(response_from_json(to_json(odd)), odd);
  RequestError error{.type = ErrorType::http, .message = "no", .response = full_response()};
  EXPECT_EQ(error_from_json(to_json(error)), error);
}

TEST(HttpValues, WhatIsNoRequestIsRefusedByName) {
  auto refusal = [](boost::json::value json) {
    try {
      request_from_json(json);
    } catch (const InvalidRequest& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_THAT(refusal({1, 2}), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal({{"url", "https://a/"}}), HasSubstr("'http_method' of the request"));
  EXPECT_THAT(refusal({{"http_method", "get"}, {"url", 5}}), HasSubstr("'url'"));
  EXPECT_THAT(refusal({{"http_method", "get"}, {"url", "https://a/"}, {"body", "x"}}),
              HasSubstr("has no body"));
  EXPECT_THAT(refusal({{"http_method", "get"}, {"url", "https://a/"}, {"headers", {{"a", 1}}}}),
              HasSubstr("'headers'"));
}

TEST(HttpValues, AContextThatNoAnswerCouldCarryIsRefused) {
  Request request;
  request.url = "https://a/";
  request.callback = "keep";
  for (int i = 0; i < 30; ++i) request.context = boost::json::array{std::move(request.context)};
  EXPECT_NO_THROW(validate(request));
  request.context = boost::json::object{{"more", std::move(request.context)}};
  EXPECT_THROW(validate(request), InvalidRequest);
}

TEST(HttpValues, HeadersThatWouldBreakTheRequestApartAreRefused) {
  auto with = [](std::string name, std::string value) {
    auto request = full_request();
    request.headers = {{std::move(name), std::move(value)}};
    return request;
  };
  EXPECT_NO_THROW(validate(with("x-a", "b\tc")));
  EXPECT_THROW(validate(with("x-a", "a\r\nEvil: yes")), InvalidRequest);
  EXPECT_THROW(validate(with("x-a", std::string{"a\0b", 3})), InvalidRequest);
  EXPECT_THROW(validate(with("x a", "b")), InvalidRequest);
  EXPECT_THROW(validate(with("", "b")), InvalidRequest);
  EXPECT_THROW(validate(with("Content-Length", "5")), InvalidRequest);
}

TEST(HttpValues, ACallbackThatCannotBeIsRefusedBeforeAnythingIsSent) {
  auto request = full_request();
  request.callback = "a\nb";
  EXPECT_THROW(validate(request), InvalidRequest);
  request.callback = std::string(10'000, 'k');
  EXPECT_THROW(validate(request), InvalidRequest);
}

TEST(HttpValues, HeadersAreMergedWithoutCase) {
  EXPECT_EQ(merge({{"Accept", "a"}, {"X", "1"}}, {{"accept", "b"}}),
            (Headers{{"accept", "b"}, {"x", "1"}}));
  Headers headers;
  add_header_line(headers, "Set-Cookie: a=\xe9\r\n");
  add_header_line(headers, "set-cookie:b\r\n");
  add_header_line(headers, "nonsense\r\n");
  EXPECT_EQ(headers, (Headers{{"set-cookie", "a=\xc3\xa9, b"}}));
}

TEST(HttpValues, ALengthIsOneNumber) {
  EXPECT_EQ(length_in("5"), 5u);
  EXPECT_EQ(length_in(" 5 ,5"), 5u);
  EXPECT_EQ(length_in("99999999999999999999"), std::string::npos);
  for (auto bad : {"", " ", "5, 6", "5,", "-5", "+5", "5 MB", "0x5", "5.0"})
    EXPECT_EQ(length_in(bad), std::nullopt) << bad;
}

TEST(HttpSignature, IsThatOfStandardWebhooks) {
  // From the example of the specification.
  auto key = signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  std::chrono::sys_seconds at{std::chrono::seconds{1614265330}};
  std::string body = R"({"test": 2432232314})";
  auto header = signature("msg_p5jXN8AQM9LWM0D4loKWxJek", at, body, {key});
  EXPECT_EQ(header, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  auto good = [&](std::string_view text, std::chrono::sys_seconds now) {
    return verify_signature(text, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body, {key}, now);
  };
  EXPECT_TRUE(good(header, at));
  EXPECT_FALSE(good(header, at + std::chrono::minutes{6}));
  EXPECT_FALSE(good("v1,AAAA", at));
  auto other = signing_key(std::string(32, 'k'));
  auto both = signature("msg_p5jXN8AQM9LWM0D4loKWxJek", at, body, {other, key});
  EXPECT_TRUE(good(both, at)) << "signed with two keys, verified with one";
  EXPECT_THROW(signing_key("short"), ConfigError);
}

class PayloadTest : public testing::Test {
 protected:
  test::TempStore store_;
  PayloadOptions options_;
  SealedFor owner_{TaskId::make(), "keep", "default"};
  std::string blob_ = "store." + owner_.task.text();
  boost::json::value document_{{"a", std::string(1'000, 'x')}};
};

TEST_F(PayloadTest, LargeOnesGoElsewhereAndComeBack) {
  options_.blobs = open_blobs("dir:" + (store_.folder() / "blobs").string());
  options_.threshold = 100;
  auto payload = seal(document_, owner_, blob_, options_);
  EXPECT_EQ(payload, R"({"$blob":")" + blob_ + R"("})");
  auto unsealed = unseal(payload, owner_, options_);
  EXPECT_EQ(unsealed.document, document_);
  EXPECT_EQ(unsealed.blob, blob_);
  EXPECT_THROW(unseal(payload, owner_, {}), InvalidRequest);
  options_.blobs->remove(blob_);
  EXPECT_THROW(unseal(payload, owner_, options_), InvalidRequest);
  EXPECT_EQ(seal({{"a", 1}}, owner_, blob_, options_), R"({"a":1})");
}

TEST_F(PayloadTest, EncryptedOnesAreReadWithTheirKeyOnlyAndKeysCanChange) {
  options_.keyring = {.current = "old", .keys = {{"old", std::string(32, 'o')}}};
  validate(options_);
  auto payload = seal(document_, owner_, "", options_);
  EXPECT_EQ(payload.find("xxxx"), std::string::npos);
  options_.keyring.keys["new"] = std::string(32, 'n');
  options_.keyring.current = "new";
  EXPECT_EQ(unseal(payload, owner_, options_).document, document_);
  EXPECT_THAT(seal(document_, owner_, "", options_), HasSubstr(R"("key":"new")"));
  options_.keyring.keys["old"] = std::string(32, 'x');
  EXPECT_THROW(unseal(payload, owner_, options_), PayloadRefused);
  options_.keyring.keys.erase("old");
  EXPECT_THROW(unseal(payload, owner_, options_), InvalidRequest);
  options_.keyring.current = "missing";
  EXPECT_THROW(validate(options_), ConfigError);
}

TEST(HttpOptions, AreCheckedByName) {
  auto refusal = [](const std::function<void(ProcessorOptions&)>& change) {
    ProcessorOptions options;
    change(options);
    try {
      validate(options);
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_EQ(refusal([](auto&) {}), "");
  EXPECT_THAT(refusal([](auto& o) { o.capacity = 0; }), HasSubstr("capacity is 0"));
  EXPECT_THAT(refusal([](auto& o) { o.max_redirects = -1; }), HasSubstr("max redirects"));
  EXPECT_THAT(refusal([](auto& o) { o.request_timeout = Millis{0}; }), HasSubstr("timeout"));
  EXPECT_THAT(refusal([](auto& o) { o.proxy = "socks5://x"; }), HasSubstr("proxy"));
  for (const auto* proxy : {"http://10.0.0.1", "https://user:s3c%20r3t%23@proxy:3128/"})
    EXPECT_EQ(refusal([&](auto& o) { o.proxy = proxy; }), "") << proxy;
  for (const auto* proxy :
       {"http://u:s3c r3t@p:1", "http://u:s3c#r3t@p", "http://u:s3c/r3t@p:1", "http://u:3/s3cr3t@p",
        "http://u:s3c?r3t@p:1", "http://u:s3c@r3t@p:1", "http://u:s3cr3t@", "http://u:s3c%r3t@p",
        "http://u:s3cr3t@p:99999", "http://u:s3cr3t@p/path"}) {
    const auto said = refusal([&](auto& o) { o.proxy = proxy; });
    EXPECT_THAT(said, HasSubstr("%40 for @")) << proxy;
    EXPECT_THAT(said, testing::Not(HasSubstr("s3c"))) << "it is a secret";
  }
  EXPECT_THAT(refusal([](auto& o) { o.user_agent = "a\nb"; }), HasSubstr("user-agent"));
  EXPECT_THAT(refusal([](auto& o) { o.user_agent = " "; }), HasSubstr("user agent is empty"));
  EXPECT_THAT(refusal([](auto& o) { o.ca_file = "/nowhere"; }), HasSubstr("/nowhere cannot be"));
  for (const auto* none : {"/dev/null", "/proc/self/exe", "/"})
    EXPECT_THAT(refusal([&](auto& o) { o.ca_file = none; }), HasSubstr("has none in it"));
  EXPECT_THAT(refusal([](auto& o) { o.egress.allow = {"10/8/"}; }), HasSubstr("10/8/"));
  EXPECT_THAT(refusal([](auto& o) { o.signing_keys["a"] = {{"x"}}; }), HasSubstr("24 to 64"));
  EXPECT_THAT(refusal([](auto& o) {
                o.signing_keys["a"] = {{std::string(32, 'k'), {.hosts = {"*.org"}}}};
              }),
              HasSubstr("'*.org' is not a host"));
}

TEST(CurlErrors, AreExplainedWithoutTheProxysPassword) {
  EXPECT_EQ(explain(CURLE_COULDNT_CONNECT, "Connection refused"), "Connection refused");
  EXPECT_EQ(explain(CURLE_COULDNT_CONNECT, ""), curl_easy_strerror(CURLE_COULDNT_CONNECT));
  EXPECT_EQ(explain(CURLE_COULDNT_RESOLVE_PROXY, "Unsupported proxy syntax in 'http://u:pw@p'"),
            curl_easy_strerror(CURLE_COULDNT_RESOLVE_PROXY));
}

class EndingTest : public testing::Test {
 protected:
  template <class What>
  Ending decide(What what, bool maybe_sent = true) {
    return decide_ending(request_, {std::move(what), maybe_sent}, facts_);
  }
  RequestError error(ErrorType type) { return {.type = type, .message = "why"}; }

  Request request_ = [] {
    auto request = full_request();
    request.on_ambiguous = OnAmbiguous::retry;
    return request;
  }();
  AttemptFacts facts_{.number = 1, .max_attempts = 2};
};

TEST_F(EndingTest, WhatMayPassIsTriedAgainAsOftenAsAllowedAndThenDelivered) {
  auto retry = std::get<Retry>(decide(full_response()).outcome);
  EXPECT_EQ(retry.delay, std::chrono::seconds{7});
  for (auto type : {ErrorType::timeout, ErrorType::connection, ErrorType::unknown})
    EXPECT_TRUE(std::holds_alternative<Retry>(decide(error(type)).outcome));
  facts_.number = 2;
  EXPECT_TRUE(decide(full_response()).delivery.starts_with(R"({"response":)"));
  auto last = decide(error(ErrorType::timeout));
  EXPECT_TRUE(std::holds_alternative<Done>(last.outcome));
  EXPECT_TRUE(last.delivery.starts_with(R"({"error":)") && last.is_error);
  facts_.raise_error_responses = true;
  auto raised = error_from_json(parse_json(decide(full_response()).delivery).at("error"));
  EXPECT_EQ(raised.type, ErrorType::http);
  EXPECT_EQ(raised.response, full_response());
}

TEST_F(EndingTest, WhatWillNotPassIsDeliveredAtOnce) {
  for (auto type : {ErrorType::ssl, ErrorType::response_too_large, ErrorType::blocked_address,
                    ErrorType::too_many_redirects, ErrorType::recursive_redirect})
    EXPECT_TRUE(decide(error(type)).is_error);
  auto response = full_response();
  response.status = 404;
  EXPECT_TRUE(decide(response).delivery.starts_with(R"({"response":)"));
}

TEST_F(EndingTest, AnAnswerThatCannotBeReadIsOneUnlessItsStatusSaysOtherwise) {
  auto damaged = [&](int status) {
    return decide_ending(request_, {error(ErrorType::response_damaged), true, {}, status}, facts_);
  };
  ASSERT_EQ(request_.method, Method::post);
  for (auto on_ambiguous : {OnAmbiguous::retry, OnAmbiguous::hold}) {
    request_.on_ambiguous = on_ambiguous;
    for (int status : {200, 201, 404, 500}) EXPECT_TRUE(damaged(status).is_error) << status;
  }
  EXPECT_TRUE(std::holds_alternative<Hold>(damaged(502).outcome));
  request_.on_ambiguous = OnAmbiguous::retry;
  EXPECT_TRUE(std::holds_alternative<Retry>(damaged(502).outcome));
  request_.method = Method::put;
  EXPECT_TRUE(std::holds_alternative<Retry>(damaged(200).outcome)) << "may be sent twice";
  facts_.number = facts_.max_attempts;
  EXPECT_TRUE(damaged(200).is_error);
}

TEST_F(EndingTest, WhatAPooledConnectionDroppedIsTriedAgainAtOnceButOnlyTheFirstTime) {
  facts_.max_attempts = 3;
  auto dropped = [&] {
    return decide_ending(request_, {error(ErrorType::connection), true, {}, 0, true}, facts_);
  };
  EXPECT_FALSE(std::get<Retry>(dropped().outcome).delay) << "a POST";
  request_.method = Method::get;
  EXPECT_EQ(std::get<Retry>(dropped().outcome).delay, Millis{0});
  facts_.number = 2;
  EXPECT_FALSE(std::get<Retry>(dropped().outcome).delay);
  facts_.number = 3;
  EXPECT_TRUE(dropped().is_error);
}

TEST_F(EndingTest, WithoutACallbackTheAnswerIsTheResult) {
  request_.callback.clear();
  auto response = full_response();
  response.status = 200;
  auto ending = decide(response);
  EXPECT_TRUE(ending.delivery.empty());
  EXPECT_TRUE(std::get<Done>(ending.outcome).text.starts_with(R"({"response":)"));
  EXPECT_TRUE(std::holds_alternative<Fail>(decide(error(ErrorType::ssl)).outcome));
}

TEST_F(EndingTest, WhatMustNotBeSentTwiceIsLeftToAnOperator) {
  request_.on_ambiguous = OnAmbiguous::hold;
  EXPECT_TRUE(std::holds_alternative<Hold>(decide(error(ErrorType::timeout)).outcome));
  EXPECT_TRUE(std::holds_alternative<Retry>(decide(error(ErrorType::timeout), false).outcome));
  request_.method = Method::put;
  EXPECT_TRUE(std::holds_alternative<Retry>(decide(error(ErrorType::timeout)).outcome));
}

TEST_F(EndingTest, AnswersThatSayThatNobodyKnowsAreLeftToAnOperatorWhereThatMatters) {
  auto response = full_response();
  request_.on_ambiguous = OnAmbiguous::hold;
  for (int number : {1, facts_.max_attempts}) {
    facts_.number = number;
    for (int status : {408, 502, 504}) {
      response.status = status;
      auto held = std::get<Hold>(decide(response).outcome).cause;
      EXPECT_NE(held.find("may have been sent"), held.npos);
      EXPECT_NE(held.find(std::to_string(status)), held.npos) << held;
    }
  }
  facts_.number = 1;
  for (int status : {425, 429, 503}) {
    response.status = status;
    EXPECT_TRUE(std::holds_alternative<Retry>(decide(response).outcome)) << status;
  }
  response.status = 500;
  EXPECT_TRUE(decide(response).delivery.starts_with(R"({"response":)")) << "it is an answer";
  response.status = 504;
  request_.method = Method::put;
  EXPECT_TRUE(std::holds_alternative<Retry>(decide(response).outcome)) << "may be sent twice";
}

TEST_F(EndingTest, ARedirectToAHostThatIsLeftAloneIsNotSentAgainWhereThatMatters) {
  EXPECT_TRUE(std::holds_alternative<Snooze>(decide(Postponed{}).outcome));
  request_.on_ambiguous = OnAmbiguous::hold;
  EXPECT_TRUE(std::holds_alternative<Hold>(decide(Postponed{}).outcome));
  EXPECT_TRUE(std::holds_alternative<Snooze>(decide(Postponed{}, false).outcome));
}

TEST_F(EndingTest, AHostThatIsLeftAloneCostsNoAttempt) {
  EXPECT_EQ(std::get<Snooze>(decide(Postponed{Millis{500}}).outcome).delay, Millis{500});
}

}  // namespace
}  // namespace holdfast::http
