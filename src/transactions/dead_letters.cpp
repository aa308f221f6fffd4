#include "transactions/dead_letters.hpp"

#include <fmt/format.h>

#include "transactions/message_attempts.hpp"

namespace holdfast {

namespace {

constexpr std::uint64_t most_bytes = 64u << 20;
/// Nothing has come for so long: the rest is in other hands.
constexpr Millis last_wait{3'000};

}  // namespace

std::string DeadLetters::Letter::header(const char* which) const {
  auto at = delivery->headers().find(which);
  return at == delivery->headers().end() ? std::string{} : at->second;
}

std::vector<DeadLetters::Letter> DeadLetters::take(int most) {
  std::vector<Letter> letters;
  const auto there = broker_->messages(dead_letter_queue).value_or(0);
  if (there == 0) return letters;
  consumer_ = broker_->consume({.prefetch_bytes = most_bytes, .prefetch = most});
  consumer_->listen(dead_letter_queue);
  while (std::ssize(letters) < std::min<std::int64_t>(most, there)) {
    auto some = consumer_->receive(last_wait).deliveries;
    if (some.empty()) break;
    for (auto& delivery : some) {
      auto name = fmt::format("{:016x}", static_cast<std::uint64_t>(attempts_line_of(*delivery)));
      letters.push_back({std::move(name), std::move(delivery)});
    }
  }
  return letters;
}

void DeadLetters::replay(const Letter& letter) {
  const auto queue = letter.queue();
  if (queue.empty())
    throw InvalidRequest{fmt::format(
        "dead letter {} does not say which queue it came from, so it cannot be replayed",
        letter.name)};
  auto headers = letter.delivery->headers();
  headers.erase(dead_letter_reason);
  headers.erase(dead_letter_origin);
  broker_->publish(Message{queue, letter.delivery->body(), letter.delivery->id(), headers});
  discard(letter);
}

void DeadLetters::discard(const Letter& letter) {
  consumer_->acknowledge(std::span{&letter.delivery, 1});
}

}  // namespace holdfast
