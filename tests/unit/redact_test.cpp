#include <chrono>
#include <ctime>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include "documents/json.hpp"
#include "documents/redact.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Every one of them has the credential `S3cr3tValue99` and the word `shown`.
constexpr const char* secret_json[] = {
    R"({"password":"S3cr3tValue99","a":"shown"})",
    R"({"deep":[[{"apiKey":"S3cr3tValue99"}]],"a":"shown"})",
    R"({"pass\u0077ord":"S3cr3tValue99","a":"shown"})",
    R"({"credentials":{"user":"x","what":["S3cr3tValue99"]},"a":"shown"})",
    R"({"tokens":["S3cr3tValue99"],"a":"shown"})",
    R"({"a":"shown","headers":[{"name":"X-Api-Key","value":"S3cr3tValue99"}]})",
    R"({"a":"shown","headers":[{"value":"S3cr3tValue99","name":"X-Api-Key"}]})",
    R"({"a":"shown","env":[{"key":"DB_PASSWORD","value":{"x":"S3cr3tValue99"}}]})",
    R"({"a":"shown","headers":[["X-Api-Key","S3cr3tValue99"],["Accept","*/*"]]})",
    R"({"a":"shown","rawHeaders":["Host","h","X-Api-Key","S3cr3tValue99"]})",
    R"({"a":"shown","args":["run","--password","S3cr3tValue99"]})",
    R"({"a":"shown","args":["run","--api-key=S3cr3tValue99"]})",
    R"(["Authorization","S3cr3tValue99 shown"])",
    R"({"a":"shown","body":"{\"password\":\"S3cr3tValue99\"}"})",
    R"({"a":"shown","body":"{\"x\":\"{\\\"password\\\":\\\"S3cr3tValue99\\\"}\"}"})",
    R"({"a":"shown","body":"[[\"X-Api-Key\",\"S3cr3tValue99\"]]"})",
    R"({"a":"shown","body":"\"{\\\"token\\\":\\\"S3cr3tValue99\\\"}\""})",
    R"({"a":"shown","url":"https://ada:S3cr3tValue99@host/path"})",
    R"({"a":"shown","url":"https://host/path?x=1&token=S3cr3tValue99#f"})",
    R"({"a":"shown","text":"Authorization: Bearer S3cr3tValue99"})",
    R"({"a":"shown","text":"Bearer S3cr3tValue99"})",
    R"({"a":"shown","env":["DB_PASSWORD=S3cr3tValue99"]})",
    R"({"a":"shown","password":"S3cr3tValue99)",
    R"({"a":"shown","password":{"b":"S3cr3tValue99","c":[1,)",
    R"({"a":"shown","body":"{\"password\":\"S3cr3tValue99)",
};

TEST(Redact, FindsCredentialsWhereverTheyAreInJson) {
  for (const std::string json : secret_json) {
    const auto found = redact_json(json);
    EXPECT_TRUE(found.hidden) << json;
    EXPECT_THAT(found.text, Not(HasSubstr("S3cr3tValue99"))) << json;
    EXPECT_THAT(found.text, HasSubstr(json.front() == '[' ? "Authorization" : "shown")) << json;
    boost::system::error_code fault;
    boost::json::parse(found.text, fault);
    const bool whole = json.back() == '}' || json.back() == ']';
    EXPECT_TRUE(!whole || !fault) << found.text;
  }
}

TEST(Redact, LeavesOrdinaryJsonAsItWas) {
  for (const std::string json :
       {R"({"monkey":"banana","n":1e400,"big":12345678901234567890,"u":"\u00e9\/"})",
        R"({ "list" : [ 1, null ] })",
        R"({"required":["password","email"],"passed":true,"tokens":512,"max_tokens":4096})",
        R"({"password":null,"token":"","secret":false})", R"({"name":"Ada","value":"shown"})",
        R"([["Accept","*/*"],["name","token ring"]])", R"("a word")", "17", "null", "{}", "[]", "",
        R"({"text":"the token was not accepted; pass it again"})",
        R"({"url":"https://example.com:8080/a@b?page=2&keyword=x"})", R"({"body":"{\"a\":1}"})",
        R"({"a":"{not json"})"}) {
    const auto found = redact_json(json);
    EXPECT_FALSE(found.hidden) << json;
    EXPECT_EQ(found.text, json);
  }
}

struct Case {
  const char* text;
  const char* shown;
};

TEST(Redact, FindsCredentialsInText) {
  const Case cases[] = {
      {"Authorization: Bearer abc.def", "Authorization: [hidden]"},
      {"authorization=Basic dXNlcjpwYXNz", "authorization=[hidden]"},
      {"Cookie: a=b; c=d\nAccept: x", "Cookie: [hidden]\nAccept: x"},
      {"curl -H 'X-Api-Key: abc' https://h/", "curl -H 'X-Api-Key: [hidden]' https://h/"},
      {"got Bearer abc123xyz back", "got Bearer [hidden] back"},
      {"login failed: password=hunter2, user=ada", "login failed: password=[hidden], user=ada"},
      {"password = 'a b c' rest", "password = '[hidden]' rest"},
      {R"(failed: {"password":"a\"b","x":1})", R"(failed: {"password":"[hidden]","x":1})"},
      {R"(failed: {\"password\":\"ab\",\"x\":1})",
       R"(failed: {\"password\":\"[hidden]\",\"x\":1})"},
      {R"(failed: {"credentials":{"a":["}"]},"x":1})", R"(failed: {"credentials":[hidden],"x":1})"},
      {"GET /a?token=abc&b=1 404", "GET /a?token=[hidden]&b=1 404"},
      {"GET /a?b=1&sig=abc%3D HTTP", "GET /a?b=1&sig=[hidden] HTTP"},
      {"https://h/?key=AIzaSomething", "https://h/?key=[hidden]"},
      {"http://127.0.0.1:8420/login?once=abcdef", "http://127.0.0.1:8420/login?once=[hidden]"},
      {"cannot reach postgres://ada:pw@db:5432/x",
       "cannot reach postgres://ada:[hidden]@db:5432/x"},
      {"redis://:pw@db", "redis://:[hidden]@db"},
      {"postgres://ada:p/w@db/x", "postgres://ada:[hidden]@db/x"},
      {"https://ghp_abcdefghij1234567890@github.com/a", "https://[hidden]@github.com/a"},
      {"host=db user=ada password=pw dbname=x", "host=db user=ada password=[hidden] dbname=x"},
      {"the key AKIAIOSFODNN7EXAMPLE is old", "the key [hidden] is old"},
      {"ghp_0123456789abcdefghijABCDEFGHIJ012345", "[hidden]"},
      {"(hf_AbCdEfGhIjKlMnOpQrSt)", "([hidden])"},
      {"x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln y", "x [hidden] y"},
      {"a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [hidden] b"},
      {"private_key=-----BEGIN PRIVATE KEY-----\nMII\nabc", "private_key=[hidden]"},
      {"AWS_SECRET_ACCESS_KEY=abc/def+g", "AWS_SECRET_ACCESS_KEY=[hidden]"},
      {"secret => \"abc\"", "secret => \"[hidden]\""},
      {"run --password hunter2 --user ada", "run --password [hidden] --user ada"},
      {"run --password HUNTER --user ada", "run --password [hidden] --user ada"},
      {"run --api-key 'a b' x", "run --api-key '[hidden]' x"},
      {"Authorization: Digest username=\"u\", response=\"abc\"\nx", "Authorization: [hidden]\nx"},
      {"{\"h\":\"Authorization: Digest a\",\"b\":1}",
       "{\"h\":\"Authorization: [hidden]\",\"b\":1}"},
      {"to?next=https%3A%2F%2Fh%2F%3Ftoken%3Dabc%26x%3D1",
       "to?next=https%3A%2F%2Fh%2F%3Ftoken%3D[hidden]%26x%3D1"},
      {"<user>ada</user><password>a b</password>", "<user>ada</user><password>[hidden]</password>"},
      {"<wsse:Password Type=\"t\">abc</wsse:Password>",
       "<wsse:Password Type=\"t\">[hidden]</wsse:Password>"},
      {"ALTER ROLE ada PASSWORD 'abc';", "ALTER ROLE ada PASSWORD '[hidden]';"},
      {"CREATE USER ada IDENTIFIED BY 'abc'", "CREATE USER ada IDENTIFIED BY '[hidden]'"},
      {"form-data; name=\"password\"\r\n\r\nabc\r\n--x",
       "form-data; name=\"password\"\r\n\r\n[hidden]\r\n--x"},
      {"<input name=\"token\" value=\"abc\">", "<input name=\"token\" value=\"[hidden]\">"},
      {"/cb?state=1&sid=abc", "/cb?state=1&sid=[hidden]"},
      {"AccountName=a;AccountKey=abc==;Endpoint=x", "AccountName=a;AccountKey=[hidden];Endpoint=x"},
  };
  for (const auto& [text, shown] : cases) {
    EXPECT_EQ(redact_text(text).text, shown);
    EXPECT_EQ(redact_text(shown).text, shown) << "it was hidden twice";
  }
}

TEST(Redact, LeavesOrdinaryTextAsItWas) {
  for (const std::string text : {"",
                                 "it failed",
                                 "worker 01J has token 17",
                                 "stale write with token 1234567 refused",
                                 "unexpected token at line 3",
                                 "Basic authentication failed",
                                 "the Bearer of this letter",
                                 "author: Ada, keyboard: de",
                                 "mail ada@example.com: done",
                                 "12:30:15 token ring down",
                                 "https://example.com:8080/a/b?page=2",
                                 "ssh://git@github.com:22/x.git",
                                 "a://b://c://d",
                                 "passed: 12, failed: 3, bypass=1",
                                 "key=value; sort_key=3",
                                 "hf_batch_claims_index",
                                 "sk-some-long-slug-of-an-article",
                                 "give it with --secrets FOLDER",
                                 "(--require-bound-secrets refuses that)",
                                 "--signing-key NAME=FILE",
                                 "--secrets /etc/secrets",
                                 "<token/> and <password></password> are elements",
                                 "name=\"password\" is required",
                                 "named by 'ada'",
                                 "%3D and %3Fpage%3D2 and 100%",
                                 "missing_secret: the secret 'api' is not bound",
                                 "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"}) {
    const auto found = redact_text(text);
    EXPECT_EQ(found.text, text);
    EXPECT_FALSE(found.hidden) << text;
  }
}

TEST(Redact, NeverShowsMoreOfWhatWasCutOff) {
  for (const std::string json : secret_json)
    for (std::size_t length = 0; length <= json.size(); ++length) {
      const auto found = redact_json(json.substr(0, length)).text;
      // A part of it may be shown only where the whole was not told from something else yet.
      EXPECT_THAT(found, Not(HasSubstr("S3cr3tVal"))) << json.substr(0, length);
    }
}

/// Texts that make careless readers look at everything again and again.
std::vector<std::string> hostile(std::size_t size) {
  std::vector<std::string> texts;
  for (const std::string part : {"[",
                                 "{\"a\":",
                                 "{\"password\":",
                                 "\"",
                                 "\\",
                                 "\\\"",
                                 "://",
                                 "://a:",
                                 "a:b@",
                                 "password=",
                                 "password='",
                                 "password=\"",
                                 "-----BEGIN PRIVATE KEY-----",
                                 "-----BEGIN x",
                                 "eyJ",
                                 "eyJ.",
                                 "Bearer ",
                                 "AKIA",
                                 "token: ",
                                 "a=",
                                 "?key=",
                                 "{",
                                 "[{\"name\":\"token\",\"value\":",
                                 "\"{\\\"a\\\":",
                                 "x-",
                                 "aB",
                                 "\xff",
                                 "{\"a\":[\"token\",",
                                 "\\u0022",
                                 "<token ",
                                 "name=\"token\" ",
                                 "--token ",
                                 "password '",
                                 "authorization: a=\"",
                                 "token%3D",
                                 "'"}) {
    std::string text;
    while (text.size() < size) text += part;
    texts.push_back(text);
    texts.push_back("{\"a\":" + json_string(text) + "}");
  }
  return texts;
}

/// Processor time of this thread, which does not depend on what else the machine does.
std::chrono::nanoseconds time_for(const std::string& text) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
  };
  const auto begin = now();
  redact_json(text);
  redact_text(text);
  return now() - begin;
}

TEST(Redact, TakesTimeByTheLengthOfHostileText) {
  const auto small = hostile(1 << 11), large = hostile(1 << 14);
  for (std::size_t i = 0; i < small.size(); ++i)
    EXPECT_LT(time_for(large[i]), 30 * time_for(small[i]) + std::chrono::milliseconds{20})
        << "eight times the length: " << small[i].substr(0, 40);
}

TEST(Redact, SurvivesWhatIsCutAnywhere) {
  for (const auto& text : hostile(300))
    for (std::size_t length = 0; length < text.size(); ++length) {
      redact_json(std::string_view{text}.substr(0, length));
      redact_json(std::string_view{text}.substr(length));
      redact_text(std::string_view{text}.substr(length));
    }
}

TEST(Redact, HidesJsonThatIsTooDeepInStrings) {
  std::string json = R"({"password":"S3cr3tValue99"})";
  for (int i = 0; i < 8; ++i) json = "{\"a\":" + json_string(json) + "}";
  const auto found = redact_json(json);
  EXPECT_THAT(found.text, Not(HasSubstr("S3cr3tValue99")));
  EXPECT_TRUE(found.hidden);
}

TEST(Redact, ShowsTheBeginningOfOrdinaryJson) {
  const std::string json = R"({"data":{"user":"ada","content":"a long te)";
  EXPECT_EQ(redact_json(json).text, json);
}

TEST(Redact, CanBeRepeated) {
  for (const std::string json : secret_json) {
    const auto once = redact_json(json).text;
    EXPECT_EQ(redact_json(once).text, once);
  }
}

}  // namespace
}  // namespace holdfast
