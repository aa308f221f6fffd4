#include "http/misbehaviour.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "support/process.hpp"

namespace holdfast::http {

using test::answer;
using test::Reply;

std::string gzip_bomb(const test::TempStore& store) {
  auto path = (store.folder() / "bomb.gz").string();
  auto made = test::run({"/bin/sh", "-c", "head -c 50000000 /dev/zero | gzip -9 > " + path});
  EXPECT_TRUE(made.ending.ok());
  return test::run({"/bin/cat", path}).out;
}

Reply misbehave(const std::string& how, const std::string& bomb, int port) {
  auto self = fmt::format("http://127.0.0.1:{}", port);
  if (how == "/never") return {.never = true};
  if (how == "/drip")
    return {.bytes = answer(200, std::string(100'000, 'x')).bytes, .piece = 1, .pause = Millis{20}};
  if (how == "/drip_headers")
    return {
        .bytes = "HTTP/1.1 200 OK\r\n" + std::string(9'000, 'X'), .piece = 1, .pause = Millis{20}};
  if (how == "/huge") return answer(200, std::string(3'000'000, 'x'));
  if (how == "/huge_without_length")
    return {.bytes = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + std::string(3'000'000, 'x'),
            .then = Reply::Then::close};
  if (how == "/bomb") return answer(200, bomb, "Content-Encoding: gzip\r\n");
  if (how == "/half_gzip")
    return answer(200, bomb.substr(0, bomb.size() / 2), "Content-Encoding: gzip\r\n");
  if (how == "/not_gzip") return answer(200, "plain", "Content-Encoding: gzip\r\n");
  if (how == "/headers") return answer(200, "", "X: " + std::string(70'000, 'x') + "\r\n");
  if (how == "/long_header") return answer(200, "", "X: " + std::string(2'000'000, 'x') + "\r\n");
  if (how == "/many_headers") {
    std::string lines;
    for (int i = 0; i < 5'000; ++i) lines += fmt::format("X-{}: yyyyyyyyyyyyyyy\r\n", i);
    return answer(200, "", lines);
  }
  if (how == "/informational") {
    std::string flood;
    for (int i = 0; i < 5'000; ++i) flood += "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n";
    return {.bytes = flood + answer(200).bytes};
  }
  if (how.starts_with("/endless"))
    return answer(302, "", fmt::format("Location: {}{}x\r\n", self, how));
  if (how == "/loop") return answer(302, "", "Location: /loop\r\n");
  if (how == "/to_file") return answer(302, "", "Location: file:///etc/passwd\r\n");
  if (how == "/reset")
    return {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
            .then = Reply::Then::reset};
  if (how == "/short")
    return {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
            .then = Reply::Then::close};
  if (how == "/nothing") return {.bytes = "", .then = Reply::Then::close};
  if (how == "/nonsense")
    return {.bytes = "\x16\x03\x01 hello\r\n\r\n", .then = Reply::Then::close};
  if (how == "/chunks")
    return {.bytes =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                "fffffffffffffffff\r\nx\r\n",
            .then = Reply::Then::close};
  if (how == "/two_lengths")
    return {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
            .then = Reply::Then::close};
  return answer(200, "honest");
}

std::vector<std::string> misbehaviours() {
  return {"/never",   "/drip",          "/drip_headers", "/huge",       "/huge_without_length",
          "/bomb",    "/not_gzip",      "/headers",      "/loop",       "/many_headers",
          "/endless", "/informational", "/to_file",      "/reset",      "/short",
          "/nothing", "/nonsense",      "/chunks",       "/long_header"};
}

bool takes_all_the_time(const std::string& how) {
  return how == "/never" || how.starts_with("/drip");
}

ErrorType expected_of(const std::string& how) {
  if (takes_all_the_time(how)) return ErrorType::timeout;
  constexpr std::array large{"/huge",        "/huge_without_length", "/bomb",         "/headers",
                             "/long_header", "/many_headers",        "/informational"};
  if (std::ranges::count(large, how) > 0) return ErrorType::response_too_large;
  if (how == "/endless") return ErrorType::too_many_redirects;
  if (how == "/loop") return ErrorType::recursive_redirect;
  if (how == "/to_file") return ErrorType::blocked_address;
  return ErrorType::connection;
}

}  // namespace holdfast::http
