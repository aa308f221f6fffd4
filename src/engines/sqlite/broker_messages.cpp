#include "engines/sqlite/broker_messages.hpp"

#include <boost/json.hpp>

#include <holdfast/payload.hpp>

namespace holdfast::sqlite {

std::optional<std::int64_t> find_queue(Connection& db, const std::string& name) {
  auto find = db.use("SELECT queue FROM holdfast_queues WHERE name = ?");
  if (!find.bind(name).step()) return {};
  return find.integer(0);
}

std::int64_t make_queue(Connection& db, const std::string& name, WallTime now) {
  if (auto there = find_queue(db, name)) return *there;
  db.use("INSERT INTO holdfast_queues (name, created_at) VALUES (?, ?)").bind(name, now).run();
  return db.last_insert();
}

std::string headers_text(const MessageHeaders& headers) {
  return boost::json::serialize(boost::json::value_from(headers));
}

MessageHeaders parse_headers(const std::string& text) { return from_payload<MessageHeaders>(text); }

void insert_message(Connection& db, const MessageRow& row) {
  const auto& message = *row.message;
  auto headers = headers_text(message.headers);
  std::optional<std::string> file;
  std::optional<std::span<const std::uint8_t>> body;
  if (row.file.empty())
    body =
        std::span{reinterpret_cast<const std::uint8_t*>(message.body.data()), message.body.size()};
  else
    file = row.file;
  db.use(
        "INSERT INTO holdfast_messages (queue, id, headers, bytes, body, file, deliveries)"
        " VALUES (?, ?, ?, ?, ?, ?, 0)")
      .bind(row.queue, message.id, headers, static_cast<std::int64_t>(message.body.size()), body,
            file)
      .run();
}

bool bury_message(Connection& db, const TakenMessage& message, const std::string& consumer,
                  const std::string& reason, WallTime now) {
  auto headers = message.headers;
  headers[dead_letter_reason] = reason;
  headers[dead_letter_origin] = message.queue;
  auto text = headers_text(headers);
  auto grave = make_queue(db, dead_letter_queue, now);
  db.use(
        "UPDATE holdfast_messages SET queue = ?, headers = ?, deliveries = 0, consumer = NULL,"
        " lease_until = NULL WHERE n = ? AND consumer = ?")
      .bind(grave, text, message.number, consumer)
      .run();
  return db.changes() > 0;
}

}  // namespace holdfast::sqlite
