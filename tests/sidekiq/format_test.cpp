#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include <holdfast/http/sidekiq.hpp>

#include "engines/sidekiq/body.hpp"
#include "engines/sidekiq/ending.hpp"
#include "engines/sidekiq/jobs.hpp"
#include "engines/sidekiq/ruby_json.hpp"
#include "http/base64.hpp"
#include "http/compression.hpp"

namespace holdfast::sidekiq {
namespace {

using testing::HasSubstr;

const Dialect& old_gem() { return dialect_named("sidekiq_async_http"); }

TEST(SidekiqBody, WhatIsNotTheTextThatItIsSaidToBeIsKeptAsBytes) {
  std::string bytes = "caf\xe9 \xff";
  for (const auto* type : {"text/plain", "text/plain; charset=utf-8", "text/plain; charset=none"}) {
    auto body = encode_body(bytes, type, old_gem());
    EXPECT_EQ(body.at("encoding"), "binary") << type;
    EXPECT_EQ(decode_body(body), bytes) << type;
  }
  auto valid = encode_body("\xc3\xa9", "text/plain", old_gem());
  EXPECT_EQ(valid.at("encoding"), "text");
  EXPECT_EQ(valid.at("charset"), "ASCII-8BIT");
}

TEST(SidekiqBody, BothWaysOfCompressionAreReadAndBrokenOnesAreRefused) {
  for (bool gzip : {true, false}) {
    auto packed = http::compress("hello", gzip);
    EXPECT_EQ(http::decompress(packed, 100), "hello");
    EXPECT_EQ(http::decompress(packed, 4), std::nullopt) << "larger than allowed";
    EXPECT_EQ(http::decompress(packed.substr(0, packed.size() / 2), 100), std::nullopt);
    boost::json::value body{{"encoding", "gzipped"}, {"value", http::base64(packed)}};
    EXPECT_EQ(decode_body(body), "hello");
  }
  EXPECT_THROW(decode_body({{"encoding", "gzipped"}, {"value", "AAAA"}}), InvalidRequest);
  EXPECT_THROW(decode_body({{"encoding", "other"}, {"value", "AAAA"}}), InvalidRequest);
  EXPECT_EQ(decode_body({{"encoding", "text"}, {"value", "\xc3\xa9"}, {"charset", "ISO-8859-1"}}),
            "\xe9");
}

TEST(SidekiqJobs, WholeNumbersHaveNoEndAsInRuby) {
  const std::string text =
      R"({"large":123456789012345678901234567890,"below":[-9223372036854775809],)"
      R"("most":18446744073709551615,"text":"\"123456789012345678901234567890","id":7})";
  auto job = parse_as_ruby(text);
  EXPECT_EQ(ruby_text(job), text);
  EXPECT_EQ(job.at("most"), std::uint64_t(-1));
  EXPECT_THROW(parse_as_ruby("123456789012345678901234567890x"), InvalidRequest);
  EXPECT_THROW(parse_as_ruby("[\"123456789012345678901234567890"), InvalidRequest);
}

TEST(SidekiqJobs, TimesGoOnInTheStyleOfTheJob) {
  auto now = SystemTime{std::chrono::milliseconds{1'794'711'059'922}};
  boost::json::object seconds{{"created_at", 1794711000.5}};
  boost::json::object milliseconds{{"created_at", 1794711000500}};
  EXPECT_DOUBLE_EQ(time_in_style_of(seconds, now).as_double(), 1794711059.922);
  EXPECT_EQ(time_in_style_of(milliseconds, now).as_int64(), 1'794'711'059'922);
}

TEST(SidekiqJobs, FailuresAreCountedAsSidekiqCountsThem) {
  boost::json::object job{{"retry", 1}, {"queue", "a"}, {"retry_queue", "b"}, {"created_at", 1.5}};
  auto now = SystemTime{std::chrono::seconds{100}};
  auto first = decide_failure(job, "ArgumentError", "no url", now);
  ASSERT_EQ(first.kind, EndKind::retried);
  EXPECT_EQ(first.effects.at(0).where, "retry");
  EXPECT_GE(std::stod(first.effects.at(0).when), 115);
  auto failed = boost::json::parse(first.effects.at(0).text).as_object();
  EXPECT_EQ(failed.at("retry_count"), 0);
  EXPECT_EQ(failed.at("failed_at"), 100.0);
  EXPECT_EQ(failed.at("queue"), "b");
  EXPECT_EQ(failed.at("error_class"), "ArgumentError");
  EXPECT_EQ(failed.at("error_message"), "no url");
  auto second = decide_failure(failed, "ArgumentError", "no url", now);
  ASSERT_EQ(second.kind, EndKind::died);
  auto dead = boost::json::parse(second.effects.at(0).text).as_object();
  EXPECT_EQ(dead.at("retry_count"), 1);
  EXPECT_EQ(dead.at("retried_at"), 100.0);
  failed["dead"] = false;
  EXPECT_TRUE(decide_failure(failed, "E", "x", now).effects.empty());
  EXPECT_EQ(decide_failure(failed, "E", "x", now).kind, EndKind::dropped);
  job["retry"] = false;
  EXPECT_EQ(decide_failure(job, "E", "x", now).kind, EndKind::dropped);
}

TEST(SidekiqJobs, AConnectionThatFailsIsTriedAgainUnlessAPostMayHaveBeenSent) {
  RequestJob job;
  http::SidekiqOptions options;
  http::Answer answer{http::RequestError{.type = http::ErrorType::connection}, true};
  auto decide = [&] {
    return decide_ending(job, answer, {"q", "{}"}, options, old_gem(), {}).kind;
  };
  EXPECT_EQ(decide(), EndKind::retried);
  job.request.method = http::Method::post;
  EXPECT_EQ(decide(), EndKind::callback);
  answer.maybe_sent = false;
  EXPECT_EQ(decide(), EndKind::retried);
  job.job["retry_count"] = 2;
  EXPECT_EQ(decide(), EndKind::callback);
}

TEST(SidekiqJobs, AnAnswerThatCannotBeDecodedIsAskedForAgainButNotByAPost) {
  RequestJob job;
  http::SidekiqOptions options;
  const http::Answer answer{http::RequestError{.type = http::ErrorType::response_damaged}, true};
  auto decide = [&] { return decide_ending(job, answer, {"q", "{}"}, options, old_gem(), {}); };
  EXPECT_EQ(decide().kind, EndKind::retried);
  job.request.method = http::Method::post;
  const auto told = decide();
  ASSERT_EQ(told.kind, EndKind::callback);
  EXPECT_THAT(told.effects.at(0).text, HasSubstr("Zlib::Error"));
  EXPECT_THAT(told.effects.at(0).text, HasSubstr(R"("error_type":"unknown")"));
}

TEST(SidekiqAddress, NamesAServerAndADialect) {
  auto plain = parse_address("sidekiq+redis://h:7000/2");
  EXPECT_EQ(plain.dialect->prefix, "sidekiq:async_http");
  EXPECT_EQ(plain.redis.database, 2);
  auto later = parse_address("sidekiq+rediss://h?db=3&dialect=patient_http&user=x");
  EXPECT_EQ(later.dialect->prefix, "sidekiq:patient_http");
  EXPECT_EQ(later.redis.database, 3);
  EXPECT_EQ(later.redis.user, "x");
  EXPECT_EQ(parse_address("sidekiq+redis://h?dialect=patient_http").dialect, later.dialect);
  EXPECT_THROW(parse_address("sidekiq+redis://h?dialect=other"), ConfigError);
  EXPECT_THROW(parse_address("sidekiq+sqlite:x"), ConfigError);
  EXPECT_THROW(parse_address("sidekiq+redis://h?prefix=mine"), ConfigError);
}

TEST(SidekiqOptions, ThatMakeNoSenseAreRefused) {
  http::SidekiqOptions options;
  EXPECT_NO_THROW(validate(options));
  options.processor.signing_keys["a"] = {{std::string(32, 'k')}};
  EXPECT_THROW(validate(options), ConfigError);
  options.processor.signing_keys.clear();
  options.orphan_threshold = options.heartbeat_interval;
  try {
    validate(options);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("orphan threshold"));
  }
}

}  // namespace
}  // namespace holdfast::sidekiq
