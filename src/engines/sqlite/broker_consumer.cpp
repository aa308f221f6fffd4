#include "engines/sqlite/broker_consumer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "transactions/message_body.hpp"

namespace holdfast::sqlite {

namespace {

/// Whoever lives but is silent for so long (a process that was stopped) loses what it took.
constexpr Millis lease{60'000};
constexpr Millis renew_after{15'000};
constexpr Millis look_at_others_after{500};
constexpr int at_once =
    64;  ///< of one queue, so that one that is full does not keep others waiting

/// A body in memory, or an open file: it can be read even when the queue is gone.
class SqliteDelivery final : public Delivery {
 public:
  SqliteDelivery(TakenMessage message, FileDescriptor file)
      : message_{std::move(message)},
        body_{message_.bytes, std::move(message_.body), std::move(file)} {}

  const std::string& queue() const override { return message_.queue; }
  const std::string& id() const override { return message_.id; }
  const MessageHeaders& headers() const override { return message_.headers; }
  std::uint64_t size() const override { return message_.bytes; }
  int deliveries() const override { return message_.deliveries; }
  const TakenMessage& message() const { return message_; }

  std::size_t read(std::uint64_t offset, std::span<char> into) override {
    return body_.read(offset, into, message_.id);
  }

 private:
  TakenMessage message_;
  MessageBody body_;
};

const TakenMessage& taken(const DeliveryPtr& delivery) {
  return dynamic_cast<const SqliteDelivery&>(*delivery).message();
}

std::vector<std::int64_t> numbers_of(std::span<const DeliveryPtr> deliveries) {
  std::vector<std::int64_t> numbers;
  for (const auto& delivery : deliveries) numbers.push_back(taken(delivery).number);
  return numbers;
}

std::string list_of(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

}  // namespace

SqliteConsumer::SqliteConsumer(std::shared_ptr<SqliteBroker> broker, const ConsumerOptions& options)
    : broker_{std::move(broker)},
      store_{broker_->store()},
      options_{options},
      id_{TaskId::make().text()} {
  // Locked before it has its name, or somebody might see it and think that we are dead.
  auto path = store_.files.consumers() + "/" + id_;
  auto unnamed = path + ".new";
  life_ = open_private(unnamed, O_RDWR | O_CREAT);
  try_lock(life_.get());
  if (::rename(unnamed.c_str(), path.c_str()) != 0)
    throw BrokerError{fmt::format("cannot make {}: {}", path, std::strerror(errno))};
  renewed_at_ = store_.clock.steady();
}

SqliteConsumer::~SqliteConsumer() {
  // What we had is given back by whoever sees that our lock is free.
  ::unlink((store_.files.consumers() + "/" + id_).c_str());
}

void SqliteConsumer::listen(const std::string& queue) {
  auto number = store_.reader.read([&](Connection& db) { return find_queue(db, queue); });
  if (!number) throw QueueMissing{fmt::format("there is no queue '{}'", queue)};
  {
    std::lock_guard lock{mutex_};
    queues_[*number] = queue;
    removals_seen_ = -1;
  }
  interrupt();  // there may be something in it already
}

void SqliteConsumer::ignore(const std::string& queue) {
  std::vector<std::int64_t> numbers;
  {
    std::lock_guard lock{mutex_};
    std::erase_if(queues_, [&](const auto& each) { return each.second == queue; });
    for (const auto& [number, held] : held_)
      if (held.queue == queue) numbers.push_back(number);
  }
  if (!numbers.empty()) put_back(numbers);
}

SqliteConsumer::Queues SqliteConsumer::queues() const {
  std::lock_guard lock{mutex_};
  return queues_;
}

SqliteConsumer::Room SqliteConsumer::room() const {
  std::lock_guard lock{mutex_};
  auto used = std::min(options_.prefetch_bytes, held_bytes_);
  bool nothing_held = held_.empty();
  return {options_.prefetch_bytes - used, options_.prefetch - static_cast<int>(held_.size()),
          nothing_held};
}

Consumer::News SqliteConsumer::receive(Millis timeout) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    auto news = look();
    if (!news.deliveries.empty() || !news.missing.empty()) return news;
    auto left = std::chrono::ceil<Millis>(deadline - std::chrono::steady_clock::now());
    if (left <= Millis{0}) return news;
    // `interrupt` looks like the end of the time, so the caller decides whether to go on.
    auto wait = std::min(left, look_at_others_after);
    if (broker_->mail().wait(wait) == Wake::nothing && wait == left) return look();
  }
}

Consumer::News SqliteConsumer::look() {
  mind_others();
  renew();
  News news;
  for (auto& message : take()) news.deliveries.push_back(delivery_of(std::move(message)));
  news.missing = missing_queues();
  return news;
}

bool SqliteConsumer::anything_waits(const Queues& queues) {
  return store_.reader.read([&](Connection& db) {
    // From one queue with messages to the next, of which there are few.
    std::int64_t queue = 0;
    while (true) {
      auto next = db.use(
          "SELECT queue FROM holdfast_messages INDEXED BY holdfast_waiting_messages"
          " WHERE consumer IS NULL AND queue > ? ORDER BY queue LIMIT 1");
      if (!next.bind(queue).step()) return false;
      queue = next.integer(0);
      if (queues.contains(queue)) return true;
    }
  });
}

std::vector<TakenMessage> SqliteConsumer::take() {
  auto listened = queues();
  auto available = room();
  if (listened.empty() || available.messages <= 0) return {};
  if (available.bytes == 0 && !available.for_anything) return {};
  if (!anything_waits(listened)) return {};
  auto messages = store_.writer.write(message_points, [&](Connection& db) {
    std::vector<TakenMessage> into;
    auto left = available;
    // In turn, beginning after the one that was served last.
    auto first = listened.upper_bound(last_queue_);
    for (auto at = first; at != listened.end(); ++at)
      take_from(db, at->first, at->second, left, into);
    for (auto at = listened.begin(); at != first; ++at)
      take_from(db, at->first, at->second, left, into);
    return into;
  });
  std::lock_guard lock{mutex_};
  for (const auto& message : messages) {
    held_[message.number] = {message.queue, message.bytes};
    held_bytes_ += message.bytes;
  }
  if (!messages.empty())
    for (const auto& [number, name] : listened)
      if (name == messages.back().queue) last_queue_ = number;
  return messages;
}

void SqliteConsumer::take_from(Connection& db, std::int64_t queue, const std::string& name,
                               Room& room, std::vector<TakenMessage>& into) {
  if (room.messages <= 0) return;
  std::vector<TakenMessage> found;
  {
    auto query = db.use(
        "SELECT n, id, headers, bytes, body, file, deliveries FROM holdfast_messages"
        " WHERE queue = ? AND consumer IS NULL ORDER BY n LIMIT ?");
    query.bind(queue, std::min(room.messages, at_once));
    while (query.step()) {
      auto bytes = static_cast<std::uint64_t>(query.integer(3));
      if (bytes > room.bytes && !room.for_anything) break;
      room.for_anything = false;
      found.push_back({query.integer(0), name, query.text(1), parse_headers(query.text(2)), bytes,
                       query.text(4), query.text(5), static_cast<int>(query.integer(6)) + 1});
      room.bytes -= std::min(bytes, room.bytes);
      --room.messages;
    }
  }
  auto until = store_.clock.steady() + lease;
  for (auto& message : found) {
    db.use(
          "UPDATE holdfast_messages SET consumer = ?, lease_until = ?, deliveries = deliveries + 1"
          " WHERE n = ?")
        .bind(id_, until, message.number)
        .run();
    into.push_back(std::move(message));
  }
}

std::vector<std::string> SqliteConsumer::missing_queues() {
  auto removals = store_.reader.read([](Connection& db) {
    return db.number("SELECT value FROM holdfast_meta WHERE key = 'queues_removed'");
  });
  auto listened = queues();
  {
    std::lock_guard lock{mutex_};
    if (std::exchange(removals_seen_, removals) == removals) return {};
  }
  std::vector<std::string> missing;
  store_.reader.read([&](Connection& db) {
    for (const auto& [number, name] : listened) {
      auto find = db.use("SELECT 1 FROM holdfast_queues WHERE queue = ?");
      if (!find.bind(number).step()) missing.push_back(name);
    }
  });
  std::lock_guard lock{mutex_};
  for (const auto& name : missing)
    std::erase_if(queues_, [&](const auto& each) { return each.second == name; });
  return missing;
}

DeliveryPtr SqliteConsumer::delivery_of(TakenMessage message) {
  FileDescriptor file;
  if (!message.file.empty()) {
    file = look_at_private(broker_->file_of(message.file));
    if (!file)
      throw BrokerError{fmt::format("the body of message {} is gone: cannot open {}", message.id,
                                    broker_->file_of(message.file))};
  }
  return std::make_shared<SqliteDelivery>(std::move(message), std::move(file));
}

void SqliteConsumer::forget(const std::vector<std::int64_t>& numbers) {
  std::lock_guard lock{mutex_};
  for (auto number : numbers) {
    auto at = held_.find(number);
    if (at == held_.end()) continue;
    held_bytes_ -= at->second.bytes;
    held_.erase(at);
  }
}

void SqliteConsumer::acknowledge(std::span<const DeliveryPtr> deliveries) {
  if (deliveries.empty()) return;
  auto numbers = numbers_of(deliveries);
  auto list = list_of(numbers);
  store_.writer.write(message_points, [&](Connection& db) {
    db.use(
          "DELETE FROM holdfast_messages WHERE n IN (SELECT value FROM json_each(?))"
          " AND consumer = ?")
        .bind(list, id_)
        .run();
  });
  std::vector<std::string> files;
  for (const auto& delivery : deliveries)
    if (!taken(delivery).file.empty()) files.push_back(taken(delivery).file);
  if (!files.empty()) {
    // One that went to somebody else in the meantime still has its row, and needs its file.
    std::erase_if(files, [&](const std::string& file) {
      return store_.reader.read([&](Connection& db) {
        auto find = db.use("SELECT 1 FROM holdfast_messages WHERE file = ?");
        return find.bind(file).step();
      });
    });
    broker_->remove_files(files);
  }
  forget(numbers);
  interrupt();  // there is room again
}

void SqliteConsumer::reject(const DeliveryPtr& delivery, const std::string& reason) {
  const auto& message = taken(delivery);
  store_.writer.write(message_points, [&](Connection& db) {
    return bury_message(db, message, id_, reason, store_.clock.wall());
  });
  forget({message.number});
  broker_->mail().announce_work();
}

void SqliteConsumer::give_back(std::span<const DeliveryPtr> deliveries) {
  put_back(numbers_of(deliveries));
}

void SqliteConsumer::put_back(const std::vector<std::int64_t>& numbers) {
  auto list = list_of(numbers);
  store_.writer.write(message_points, [&](Connection& db) {
    db.use(
          "UPDATE holdfast_messages SET consumer = NULL, lease_until = NULL,"
          " deliveries = max(deliveries - 1, 0)"
          " WHERE n IN (SELECT value FROM json_each(?)) AND consumer = ?")
        .bind(list, id_)
        .run();
  });
  forget(numbers);
  broker_->mail().announce_work();
}

void SqliteConsumer::renew() {
  auto now = store_.clock.steady();
  if (now - renewed_at_ < renew_after) return;
  renewed_at_ = now;
  store_.writer.write(message_points, [&](Connection& db) {
    db.use("UPDATE holdfast_messages SET lease_until = ? WHERE consumer = ?")
        .bind(now + lease, id_)
        .run();
  });
}

bool SqliteConsumer::is_gone(const std::string& consumer) const {
  auto file = look_at_private(store_.files.consumers() + "/" + consumer);
  return !file || !is_locked(file.get());
}

void SqliteConsumer::mind_others() {
  auto now = store_.clock.steady();
  if (now - minded_at_ < look_at_others_after && minded_at_ != Millis{0}) return;
  minded_at_ = now;
  std::vector<std::string> losers;
  store_.reader.read([&](Connection& db) {
    auto query = db.use(
        "SELECT consumer, min(lease_until) FROM holdfast_messages INDEXED BY holdfast_delivered"
        " WHERE consumer IS NOT NULL AND consumer <> ? GROUP BY consumer");
    query.bind(id_);
    while (query.step())
      if (is_gone(query.text(0)) || Millis{query.integer(1)} < now) losers.push_back(query.text(0));
  });
  for (const auto& loser : losers) {
    store_.writer.write(message_points, [&](Connection& db) {
      // The lease is compared again: whoever renewed it since keeps what he has.
      bool gone = is_gone(loser);
      db.use(
            "UPDATE holdfast_messages SET consumer = NULL, lease_until = NULL WHERE consumer = ?"
            " AND (? OR lease_until < ?)")
          .bind(loser, gone, now)
          .run();
    });
    if (is_gone(loser)) ::unlink((store_.files.consumers() + "/" + loser).c_str());
  }
}

}  // namespace holdfast::sqlite
