#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct redisReply;

namespace holdfast::redis {

/// A part of what a server answered. Lives as long as the `Reply` that it is of.
class Value {
 public:
  explicit Value(const redisReply* reply) : reply_{reply} {}

  bool is_nil() const;
  bool is_error() const;
  /// Of texts, statuses and errors; empty for anything else.
  std::string_view text() const;
  std::string string() const { return std::string{text()}; }
  /// Of integers, and of texts that are one; 0 for anything else.
  std::int64_t number() const;
  double real() const;

  std::size_t size() const;
  Value operator[](std::size_t place) const;

 private:
  const redisReply* reply_;
};

/// What a server answered to one command.
class Reply : public Value {
 public:
  explicit Reply(redisReply* reply);

 private:
  std::shared_ptr<redisReply> owned_;
};

}  // namespace holdfast::redis
