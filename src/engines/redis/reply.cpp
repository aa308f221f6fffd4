#include "engines/redis/reply.hpp"

#include <charconv>

#include <hiredis/hiredis.h>

namespace holdfast::redis {

bool Value::is_nil() const { return reply_->type == REDIS_REPLY_NIL; }
bool Value::is_error() const { return reply_->type == REDIS_REPLY_ERROR; }

std::string_view Value::text() const {
  switch (reply_->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
      return {reply_->str, static_cast<std::size_t>(reply_->len)};
    default:
      return {};
  }
}

std::int64_t Value::number() const {
  if (reply_->type == REDIS_REPLY_INTEGER) return reply_->integer;
  auto digits = text();
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

double Value::real() const {
  auto digits = text();
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::size_t Value::size() const { return reply_->type == REDIS_REPLY_ARRAY ? reply_->elements : 0; }

Value Value::operator[](std::size_t place) const { return Value{reply_->element[place]}; }

Reply::Reply(redisReply* reply)
    : Value{reply}, owned_{reply, [](redisReply* one) { ::freeReplyObject(one); }} {}

}  // namespace holdfast::redis
