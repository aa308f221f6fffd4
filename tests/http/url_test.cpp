#include "http/url.hpp"

#include <gmock/gmock.h>

#include <holdfast/error.hpp>

#include "http/job.hpp"
#include "http/redirect.hpp"
#include "http/retry_after.hpp"
#include "http/url_characters.hpp"

namespace holdfast::http {
namespace {

TEST(Url, JoinsBaseAndPathWithOneSlash) {
  for (auto base : {"https://a/v1", "https://a/v1/"})
    for (auto path : {"users?x=1", "/users?x=1"})
      EXPECT_EQ(join_url(base, path), "https://a/v1/users?x=1");
  EXPECT_EQ(join_url("https://a/v1?k=1", "users"), "https://a/v1/users");
  EXPECT_EQ(join_url("https://a/v1", ""), "https://a/v1");
  EXPECT_EQ(join_url("https://a/v1", "?q=1"), "https://a/v1?q=1");
  EXPECT_EQ(join_url("https://a/v1", "HTTPS://b/x"), "HTTPS://b/x");
  EXPECT_EQ(join_url("", "https://b/x"), "https://b/x");
}

TEST(Url, EncodesParameters) {
  EXPECT_EQ(with_parameters("https://a/p?x=1", {{"q", "a b&c=d+/é"}, {"q", ""}}),
            "https://a/p?x=1&q=a%20b%26c%3Dd%2B%2F%C3%A9&q=");
}

TEST(Url, KnowsWhereItLeadsTo) {
  EXPECT_EQ(origin_of("HTTP://Example.ORG/x"), (Origin{"http", "example.org", 80}));
  EXPECT_EQ(origin_of("https://[::1]:8443/"), (Origin{"https", "::1", 8443, true}));
}

TEST(Url, IsNotTakenForTheOneBeforeIt) {
  const Origin before{"http", "a.example", 80};
  auto after = [&](std::string_view url) {
    EXPECT_EQ(origin_of("http://a.example/x"), before);
    return origin_of(url);
  };
  EXPECT_EQ(after("http://a.example"), before);
  EXPECT_EQ(after("http://a.example/y?z=1"), before);
  EXPECT_EQ(after("http://a.example.org/"), (Origin{"http", "a.example.org", 80}));
  EXPECT_EQ(after("http://a.example-b/"), (Origin{"http", "a.example-b", 80}));
  EXPECT_EQ(after("http://a.example:81/"), (Origin{"http", "a.example", 81}));
  EXPECT_EQ(after("https://a.example/x"), (Origin{"https", "a.example", 443}));
  for (auto bad : {"http://a.example@b/", "http://a.example/ ", "http://a.example/\r\nX: y",
                   "http://a.example/\\"})
    EXPECT_THROW(after(bad), InvalidRequest) << bad;
}

TEST(Url, KnowsWhereNobodyCanReadAnotherHost) {
  auto plainly = [](std::string_view url) { return is_plainly_written(url, origin_of(url)); };
  for (auto plain : {"http://a.example/x@b", "HTTPS://a-1.example:8443", "http://127.0.0.1:80/?q",
                     "http://localhost/"})
    EXPECT_TRUE(plainly(plain)) << plain;
  for (auto other : {"http://A.example/", "http://a.example?x=1", "http://a.example#x",
                     "http://[::1]/", "http://0x7f.1/", "http://2130706433/", "http://0177.0.0.1/",
                     "http://a.example./", "http://a%2eexample/", "http://a_b.example/"})
    EXPECT_FALSE(plainly(other)) << other;
}

TEST(Url, RefusesWhatIsNoPlainWebAddress) {
  for (auto bad : {"ftp://a/", "file:///etc/passwd", "gopher://a/", "//a/b", "a/b", "https://",
                   "https://user:pw@a/", "https://a:0/", "https://a:99999/", "https://a b/",
                   "http://a\\@b/", "https://a/\r\nX: y", ""})
    EXPECT_THROW(origin_of(bad), InvalidRequest) << bad;
}

TEST(Url, TakesNoHostWithCharactersThatNoNameHas) {
  for (auto bad : {"http://a%00b/", "http://a%20b/", "http://a%40b/", "http://a%2fb/",
                   "http://%C3%A9.example/", "http://127%E3%80%820.0.1/", "http://a,b/"})
    EXPECT_THROW(origin_of(bad), NotAUrl) << bad;
  EXPECT_EQ(origin_of("http://%61_b-1.example/").host, "a_b-1.example");
}

TEST(Url, KnowsWhatEndsAsAnAddressDoes) {
  for (auto number :
       {"2130706433", "127.1", "127.1.", "0x7f.1", "0x7f", "a.0x7f", "a.1", "1.2.3.4"})
    EXPECT_TRUE(ends_in_number(number)) << number;
  for (auto name : {"localhost", "localhost.", "1a", "1.a", "a1.example", "x0.b"})
    EXPECT_FALSE(ends_in_number(name)) << name;
}

TEST(Url, WritesWhatMayNotStandInItAsServersReadIt) {
  EXPECT_EQ(escaped("http://a/x?ids[]=1|2&f={\"q\":1}^`<>"),
            "http://a/x?ids%5B%5D=1%7C2&f=%7B%22q%22:1%7D%5E%60%3C%3E");
  EXPECT_EQ(escaped("http://a/100%?b=%4&c=%zz&d=%5b"), "http://a/100%25?b=%254&c=%25zz&d=%5b");
  EXPECT_EQ(escaped("http://a/\xc3\xa9#b#[c]"), "http://a/%C3%A9#b%23%5Bc%5D");
  for (auto fine : {"https://[::1]:8443/a;b/c,d?e=f/g?h&i=%20+(j)*!$'@k:~_-.#l", "http://a", "",
                    "//[::1]/x", "http://a b|c/"})
    EXPECT_EQ(escaped(fine), fine) << "and nothing in its host";
  for (auto relative : {"x[1]", "/x[1]", "?x[1]", "//a/x[1]", "a:x[1]"})
    EXPECT_THAT(escaped(relative), testing::EndsWith("x%5B1%5D"));
  auto twice = escaped("http://a/%?[%5D]");
  EXPECT_EQ(escaped(twice), twice);
}

TEST(Url, IsSentInTheFormThatServersRead) {
  Request request;
  request.url = "http://a.example/x?filter[name]=50%";
  validate(request);
  EXPECT_EQ(make_job(request, "id", {}, {}).request.url,
            "http://a.example/x?filter%5Bname%5D=50%25");
  EXPECT_EQ(with_parameters(request.url, {{"q", "1"}}),
            "http://a.example/x?filter%5Bname%5D=50%25&q=1");
}

TEST(Url, SaysWhichCharacterIsWrong) {
  auto said = [](std::string_view url) -> std::string {
    try {
      origin_of(url);
      return "nothing";
    } catch (const NotAUrl& error) {
      return error.what();
    }
  };
  using testing::HasSubstr;
  EXPECT_EQ(said("http://a/x?secret=1 2"),
            "'http://a/x' is not a URL: it has a space in it, to be written as %20");
  EXPECT_THAT(said("http://a/x\\y"), HasSubstr("the character \\ in it, to be written as %5C"));
  EXPECT_THAT(said("http://a/\r\n"), HasSubstr("the control character 0x0d"));
  EXPECT_THAT(said("http://a|b/"), HasSubstr("the character | in its host"));
  EXPECT_THAT(said("http://\xc3\xa9.example/"), HasSubstr("xn--"));
  EXPECT_THAT(said("http://[::1/"), HasSubstr("its host and port cannot be read"));
  for (auto port : {"http://a:b/", "http://a:80b/", "http://a:8x0"})
    EXPECT_THAT(said(port), HasSubstr("its host and port cannot be read"));
}

TEST(Url, ResolvesLocations) {
  EXPECT_EQ(resolve("https://a/b/c?d", "../e#f"), "https://a/e");
  EXPECT_EQ(resolve("https://a/b", "//c/d"), "https://c/d");
  EXPECT_THROW(resolve("https://a/b", "file:///etc/passwd"), InvalidRequest);
}

auto redirect(int status, const std::string& location, Method method = Method::post,
              std::vector<std::string> before = {}, int most_of_url = 5) {
  return decide_redirect(status, location, {"https://a/x", method, method == Method::post}, before,
                         most_of_url);
}

TEST(Redirect, OnlySomeAreFollowedAndOnlyWithAPlace) {
  for (int status : {200, 300, 304, 305, 400})
    EXPECT_TRUE(std::holds_alternative<Stay>(redirect(status, "/y")));
  EXPECT_TRUE(std::holds_alternative<Stay>(redirect(302, "")));
  EXPECT_TRUE(std::holds_alternative<Stay>(redirect(302, "/y", Method::get, {}, 0)));
}

TEST(Redirect, BecomesAGetUnlessTheServerSaysOtherwise) {
  for (int status : {301, 302, 303}) {
    auto follow = std::get<Follow>(redirect(status, "/y"));
    EXPECT_EQ(follow.method, Method::get);
    EXPECT_FALSE(follow.keep_body);
    EXPECT_EQ(follow.url, "https://a/y");
    EXPECT_TRUE(follow.same_origin);
  }
  for (int status : {307, 308}) {
    auto follow = std::get<Follow>(redirect(status, "/y"));
    EXPECT_EQ(follow.method, Method::post);
    EXPECT_TRUE(follow.keep_body);
  }
  EXPECT_EQ(std::get<Follow>(redirect(302, "/y", Method::head)).method, Method::head);
}

TEST(Redirect, WhatServersForgetToEscapeIsFollowed) {
  EXPECT_EQ(std::get<Follow>(redirect(302, "/a b?c=\xe9#d")).url, "https://a/a%20b?c=%E9");
  EXPECT_EQ(std::get<Follow>(redirect(302, "/y?a[]=1|2&b=100%#{c}")).url,
            "https://a/y?a%5B%5D=1%7C2&b=100%25");
}

TEST(Redirect, CredentialsStayAtTheirOrigin) {
  for (auto other : {"https://b/y", "https://a:8443/y", "//b/y", "https://a./y"})
    EXPECT_FALSE(std::get<Follow>(redirect(302, other)).same_origin) << other;
}

TEST(Redirect, ABodyStaysAtItsOrigin) {
  for (int status : {307, 308}) {
    EXPECT_EQ(std::get<WrongTurn>(redirect(status, "https://b/y")).type,
              ErrorType::blocked_address);
    EXPECT_TRUE(std::get<Follow>(redirect(status, "https://b/y", Method::delete_)).keep_body)
        << "it has none";
    EXPECT_TRUE(std::get<Follow>(redirect(status, "https://a:443/y")).keep_body);
  }
  EXPECT_EQ(std::get<Follow>(redirect(302, "https://b/y")).method, Method::get);
}

TEST(Redirect, WrongTurnsAreErrors) {
  auto type = [](const auto& turn) { return std::get<WrongTurn>(turn).type; };
  EXPECT_EQ(type(redirect(302, "/z", Method::get, {"https://a/1", "https://a/2"}, 2)),
            ErrorType::too_many_redirects);
  EXPECT_EQ(type(redirect(302, "/x")), ErrorType::recursive_redirect);
  EXPECT_EQ(type(redirect(302, "/1", Method::get, {"https://a/1"})), ErrorType::recursive_redirect);
  for (auto bad : {"http://a/y", "file:///etc/passwd", "gopher://a", "https://u:p@a/"})
    EXPECT_EQ(type(redirect(302, bad)), ErrorType::blocked_address) << bad;
  for (auto unreadable : {"https://a|b/", "https://[::1/", "/a\\b", "http://\xc3\xa9.example/"})
    EXPECT_EQ(type(redirect(302, unreadable)), ErrorType::unknown) << unreadable;
}

TEST(RetryAfter, IsSecondsOrADate) {
  WallTime now{std::chrono::sys_days{std::chrono::year{2026} / 11 / 15}};
  EXPECT_EQ(parse_retry_after("120", now), std::chrono::seconds{120});
  EXPECT_EQ(parse_retry_after(" 1 ", now), std::chrono::seconds{1});
  EXPECT_EQ(parse_retry_after("Sun, 15 Nov 2026 00:00:10 GMT", now), std::chrono::seconds{10});
  EXPECT_EQ(parse_retry_after("Sunday, 15-Nov-26 00:00:10 GMT", now), std::chrono::seconds{10});
  for (auto over : {"0", "00", "Sun, 15 Nov 2020 00:00:10 GMT", "Sun, 15 Nov 2026 00:00:00 GMT"})
    EXPECT_FALSE(parse_retry_after(over, now)) << "that is no wait";
  EXPECT_EQ(parse_retry_after("99999999999999999999999", now), std::chrono::hours{24});
  for (auto bad : {"", "soon", "-5", "1.5", "12 s"}) EXPECT_FALSE(parse_retry_after(bad, now));
}

}  // namespace
}  // namespace holdfast::http
