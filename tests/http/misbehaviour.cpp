#include "http/misbehaviour.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

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

namespace {

/// Says one thing of its body, and does another.
std::optional<Reply> mismeasure(const std::string& how) {
  auto with = [](const std::string& headers_and_body) {
    return Reply{.bytes = "HTTP/1.1 200 OK\r\n" + headers_and_body, .then = Reply::Then::close};
  };
  if (how == "/short") return with("Content-Length: 100\r\n\r\nshort");
  if (how == "/two_lengths") return with("Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde");
  if (how == "/negative_length") return with("Content-Length: -5\r\n\r\nabcde");
  if (how == "/half_a_length") return with("Content-Length: 5 MB\r\n\r\nabcde");
  if (how == "/ten_gigabytes") return with("Content-Length: 10737418240\r\n\r\nabcde");
  if (how == "/no_such_length") return with("Content-Length: 99999999999999999999\r\n\r\nabcde");
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";
  if (how == "/chunks") return with(chunked + "fffffffffffffffff\r\nx\r\n");
  if (how == "/chunk_overflow") return with(chunked + "ffffffffffffffff\r\nx\r\n0\r\n\r\n");
  if (how == "/largest_chunk") return with(chunked + "7fffffffffffffff\r\nx\r\n0\r\n\r\n");
  if (how == "/half_a_chunk") return with(chunked + "5\r\nab");
  if (how == "/no_last_chunk") return with(chunked + "5\r\nabcde\r\n");
  if (how == "/trailers") {
    auto lines = chunked + "1\r\nx\r\n0\r\n";
    for (int i = 0; i < 5'000; ++i) lines += fmt::format("X-{}: yyyyyyyyyyyyyyy\r\n", i);
    return with(lines + "\r\n");
  }
  if (how == "/chunk_extension")
    return Reply{.bytes = "HTTP/1.1 200 OK\r\n" + chunked + "1;" + std::string(3'000'000, 'x')};
  return {};
}

std::optional<Reply> mislead(const std::string& how, int port) {
  auto to = [](const std::string& place) {
    return answer(302, "", fmt::format("Location: {}\r\n", place));
  };
  if (how.starts_with("/endless")) return to(fmt::format("http://127.0.0.1:{}{}x", port, how));
  if (how == "/loop") return to("/loop");
  if (how.starts_with("/wide_loop")) return to(how == "/wide_loop" ? "/wide_loop_2" : "/wide_loop");
  if (how == "/to_file") return to("file:///etc/passwd");
  if (how == "/to_gopher") return to(fmt::format("gopher://127.0.0.1:{}/_GET", port));
  return {};
}

/// Has no end of what stands before the body.
std::optional<Reply> ramble(const std::string& how) {
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
    return Reply{.bytes = flood + answer(200).bytes};
  }
  if (how == "/continue") {
    std::string flood;
    for (int i = 0; i < 5'000; ++i) flood += "HTTP/1.1 100 Continue\r\n\r\n";
    return Reply{.bytes = flood};
  }
  return {};
}

}  // namespace

Reply misbehave(const std::string& how, const std::string& bomb, int port) {
  if (auto reply = mismeasure(how)) return *reply;
  if (auto reply = mislead(how, port)) return *reply;
  if (auto reply = ramble(how)) return *reply;
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
  if (how == "/not_gzip") return answer(200, "plain", "Content-Encoding: gzip\r\n");
  if (how == "/not_brotli") return answer(200, "plain", "Content-Encoding: br\r\n");
  if (how == "/reset")
    return {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
            .then = Reply::Then::reset};
  if (how == "/nothing") return {.bytes = "", .then = Reply::Then::close};
  if (how == "/nonsense")
    return {.bytes = "\x16\x03\x01 hello\r\n\r\n", .then = Reply::Then::close};
  return answer(200, "honest");
}

std::vector<std::string> misbehaviours() {
  return {"/never",          "/drip",
          "/drip_headers",   "/huge",
          "/bomb",           "/not_gzip",
          "/not_brotli",     "/huge_without_length",
          "/headers",        "/loop",
          "/wide_loop",      "/many_headers",
          "/endless",        "/informational",
          "/continue",       "/to_file",
          "/to_gopher",      "/reset",
          "/short",          "/nothing",
          "/nonsense",       "/chunks",
          "/long_header",    "/two_lengths",
          "/half_a_chunk",   "/negative_length",
          "/half_a_length",  "/ten_gigabytes",
          "/trailers",       "/no_such_length",
          "/chunk_overflow", "/largest_chunk",
          "/no_last_chunk",  "/chunk_extension"};
}

bool takes_all_the_time(const std::string& how) {
  return how == "/never" || how == "/chunk_extension" || how.starts_with("/drip");
}

ErrorType expected_of(const std::string& how) {
  if (takes_all_the_time(how)) return ErrorType::timeout;
  constexpr std::array large{"/huge",        "/huge_without_length", "/bomb",          "/headers",
                             "/long_header", "/many_headers",        "/informational", "/continue",
                             "/trailers",    "/ten_gigabytes",       "/no_such_length"};
  if (std::ranges::count(large, how) > 0) return ErrorType::response_too_large;
  if (how == "/endless") return ErrorType::too_many_redirects;
  if (how == "/loop" || how == "/wide_loop") return ErrorType::recursive_redirect;
  if (how.starts_with("/to_")) return ErrorType::blocked_address;
  if (how.starts_with("/not_")) return ErrorType::response_damaged;
  return ErrorType::connection;
}

}  // namespace holdfast::http
