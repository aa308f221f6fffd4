#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/broker.hpp>

#include "engines/sqlite/store.hpp"

/// Steps with messages, each inside a transaction that the caller has begun.
namespace holdfast::sqlite {

/// Larger bodies are in files: a database is no place for them, and neither is memory.
constexpr std::size_t largest_body_in_table = 64 * 1024;

std::optional<std::int64_t> find_queue(Connection& db, const std::string& name);
std::int64_t make_queue(Connection& db, const std::string& name, WallTime now);

std::string headers_text(const MessageHeaders& headers);
MessageHeaders parse_headers(const std::string& text);

/// A message as it goes into a table; a large body was written to the file before.
struct MessageRow {
  std::int64_t queue = 0;
  const Message* message = nullptr;
  std::string file{};  ///< empty: the body is in the row
};
void insert_message(Connection& db, const MessageRow& row);

/// A message that was taken.
struct TakenMessage {
  std::int64_t number = 0;
  std::string queue{};
  std::string id{};
  MessageHeaders headers{};
  std::uint64_t bytes = 0;
  std::string body{};
  std::string file{};
  int deliveries = 1;
};

/// Moves a message of this consumer's to the dead letters, as it is. False: it is not his any more.
bool bury_message(Connection& db, const TakenMessage& message, const std::string& consumer,
                  const std::string& reason, WallTime now);

}  // namespace holdfast::sqlite
