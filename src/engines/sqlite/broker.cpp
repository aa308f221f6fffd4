#include "engines/sqlite/broker.hpp"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "engines/sqlite/broker_consumer.hpp"
#include "engines/sqlite/broker_messages.hpp"
#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/whole_file.hpp"
#include "tasks/names.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

/// A file that nothing names may be one whose message is about to be committed.
constexpr std::chrono::hours until_abandoned{1};

[[noreturn]] void refuse_missing(const std::string& queue) {
  throw QueueMissing{fmt::format("there is no queue '{}'; declare it first", queue)};
}

}  // namespace

SqliteBroker::SqliteBroker(Engine engine)
    : engine_{std::move(engine)},
      store_{store_of(engine_)},
      mail_{store_.files.mail(), store_.files.control(), engine_.events(),
            store_.level == RunLevel::normal} {
  if (store_.level != RunLevel::normal) throw StoreReadOnly{store_.why_read_only};
  make_private_subfolder(store_.files.messages());
  make_private_subfolder(store_.files.consumers());
  remove_abandoned_files();
}

void SqliteBroker::declare(const std::string& queue) {
  check_name("queue name", queue, longest_name);
  if (exists(queue)) return;
  store_.writer.write(message_points,
                      [&](Connection& db) { make_queue(db, queue, store_.clock.wall()); });
}

std::optional<std::int64_t> SqliteBroker::messages(const std::string& queue) {
  return store_.reader.read([&](Connection& db) -> std::optional<std::int64_t> {
    auto number = find_queue(db, queue);
    if (!number) return {};
    auto count = db.use("SELECT count(*) FROM holdfast_messages WHERE queue = ?");
    count.bind(*number).step();
    return count.integer(0);
  });
}

bool SqliteBroker::remove(const std::string& queue) {
  std::vector<std::string> files;
  bool removed = store_.writer.write(message_points, [&](Connection& db) {
    files.clear();
    auto number = find_queue(db, queue);
    if (!number) return false;
    {
      auto find = db.use("SELECT file FROM holdfast_messages WHERE queue = ? AND file IS NOT NULL");
      find.bind(*number);
      while (find.step()) files.push_back(find.text(0));
    }
    db.use("DELETE FROM holdfast_messages WHERE queue = ?").bind(*number).run();
    db.use("DELETE FROM holdfast_queues WHERE queue = ?").bind(*number).run();
    db.use(
          "INSERT INTO holdfast_meta (key, value) VALUES ('queues_removed', 1)"
          " ON CONFLICT (key) DO UPDATE SET value = value + 1")
        .run();
    return true;
  });
  remove_files(files);
  if (removed) mail_.announce_work();
  return removed;
}

std::string SqliteBroker::write_file(const std::string& body) const {
  auto name = TaskId::make().text();
  WholeFile file{file_of(name)};
  file.append(body);
  file.sync();
  return name;
}

void SqliteBroker::publish(std::span<const Message> messages) {
  if (messages.empty()) return;
  std::vector<MessageRow> rows;
  bool any_file = false;
  for (const auto& message : messages) {
    auto& row = rows.emplace_back(MessageRow{.message = &message});
    if (message.body.size() <= largest_body_in_table) continue;
    row.file = write_file(message.body);
    any_file = true;
  }
  if (any_file) sync_folder_of(file_of("any"));
  store_.writer.write(message_points, [&](Connection& db) {
    for (auto& row : rows) {
      auto queue = find_queue(db, row.message->queue);
      if (!queue) refuse_missing(row.message->queue);
      row.queue = *queue;
      insert_message(db, row);
    }
  });
  mail_.announce_work();
}

std::unique_ptr<Consumer> SqliteBroker::consume(const ConsumerOptions& options) {
  return std::make_unique<SqliteConsumer>(shared_from_this(), options);
}

void SqliteBroker::remove_files(const std::vector<std::string>& files) const {
  for (const auto& file : files) ::unlink(file_of(file).c_str());
}

void SqliteBroker::remove_abandoned_files() {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator{store_.files.messages(), gone}) {
    auto written = fs::last_write_time(entry.path(), gone);
    if (gone || fs::file_time_type::clock::now() - written < until_abandoned) continue;
    auto name = entry.path().filename().string();
    bool named = store_.reader.read([&](Connection& db) {
      auto find = db.use("SELECT 1 FROM holdfast_messages WHERE file = ?");
      return find.bind(name).step();
    });
    if (!named) ::unlink(entry.path().c_str());
  }
}

}  // namespace holdfast::sqlite
