#include "corruption/specimen.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <holdfast/holdfast.hpp>

#include "engines/sqlite/connection.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {

namespace {

using sqlite::Connection;

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

Image photograph(const std::string& database) {
  return {read_file(database), read_file(database + "-wal"), read_file(database + "-shm")};
}

std::string payload(int number) {
  // Every ninth is longer than a page.
  auto length = static_cast<std::size_t>(number % 9 == 0 ? 5'000 + number * 10 : number * 7 % 200);
  return fmt::format(R"({{"number":{},"text":"{}"}})", number, std::string(length, 'a'));
}

/// Does everything to a store that leaves a trace in it.
class Making {
 public:
  explicit Making(Engine engine) : parts_{engine.parts()}, inspector_{engine}, tasks_{engine} {}

  void add(int count, const std::string& kind, const TaskOptions& options = {}) {
    std::vector<NewTask> some;
    for (int i = 0; i < count; ++i) some.push_back({kind, payload(++number_), options});
    last_ = tasks_.enqueue_all(std::move(some)).back();
  }
  TaskId last() const { return last_; }

  /// Claims from all kinds, and ends what `ends` says: the rest stays with the worker.
  void work(int count, int completed, int failed) {
    enlistments_.push_back(parts_.workers().enlist({{}, {"mail", "bill", "scan"}, 4}));
    ClaimRequest request{
        .worker = enlistments_.back()->id(), .kinds = {"mail", "bill", "scan"}, .limit = count};
    auto claimed = parts_.tasks().exchange({.claim = request}).claimed;
    Exchange ends;
    for (const auto& one : claimed) {
      note(one);
      if (completed-- > 0) {
        ends.settle.push_back({.lease = one.lease, .result = R"({"ok":true})", .attempt = 1});
      } else if (failed-- > 0) {
        ends.settle.push_back({.lease = one.lease,
                               .to = TaskState::failed,
                               .reason = "The printer is on fire.",
                               .attempt = 3});
      }
    }
    parts_.tasks().exchange(ends);
  }

  Inspector& inspector() { return inspector_; }

 private:
  void note(const Claimed& one) {
    std::vector<Note> notes{{one.lease, LogNote{"a line", 1}},
                            {one.lease, ProgressNote{0.5, "half"}},
                            {one.lease, EffectNote{"charge", "4711"}}};
    parts_.tasks().record(notes);
  }

  EngineParts& parts_;
  Inspector inspector_;
  Tasks tasks_;
  std::vector<std::unique_ptr<Enlistment>> enlistments_;
  TaskId last_;
  int number_ = 0;
};

void add_notes(const std::string& database, int from, int to) {
  Connection db{database, Connection::Mode::read_write, Durability::crash_safe};
  db.execute(
      "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, note TEXT NOT NULL);"
      "CREATE INDEX IF NOT EXISTS notes_by_text ON notes (note)");
  for (int i = from; i < to; ++i)
    db.execute(fmt::format("INSERT INTO notes VALUES ({}, 'note number {}')", i, i));
}

void first_half(Making& making) {
  making.add(40, "mail");
  making.add(15, "bill", {.queue = "money", .priority = 1, .tags = {"red", "blue"}});
  making.work(25, 18, 4);
  making.add(6, "scan", {.unique_key = ""});
  for (int i = 0; i < 4; ++i)
    making.add(1, "scan", {.delay = std::chrono::hours{5}, .unique_key = fmt::format("key {}", i)});
  auto before = making.last();
  making.add(6, "mail", {.after = {before}});
}

void second_half(Making& making) {
  making.work(10, 4, 2);
  making.inspector().cancel({.queue = "money"});
  making.add(12, "mail");
  auto held =
      making.inspector().tasks({.states = {TaskState::pending}, .kind = "mail"}, {.limit = 3});
  for (const auto& task : held) making.inspector().hold({.ids = {task.id}}, "wait");
  making.inspector().pause("money");
  making.add(5, "bill", {.queue = "money"});
}

}  // namespace

Specimen make_specimen(bool with_log) {
  TempStore store;
  Settings settings;
  settings.durability = Durability::crash_safe;
  auto engine = open(store.address(), settings);
  Making making{engine};
  first_half(making);
  add_notes(store.database(), 0, 60);
  Specimen specimen;
  auto checkpoint = [&] {
    Connection db{store.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute("PRAGMA wal_checkpoint(RESTART)");
  };
  if (with_log) checkpoint();
  specimen.older = photograph(store.database());
  second_half(making);
  add_notes(store.database(), 60, 90);
  if (!with_log) checkpoint();
  specimen.image = photograph(store.database());
  if (!with_log) specimen.image = {specimen.image.database, {}, {}};
  for (const auto& task : making.inspector().tasks({}, {.limit = 1'000}))
    specimen.tasks.emplace(task.id, task);
  specimen.notes = read_notes(store.database());
  return specimen;
}

std::string lay_out(const Image& image, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  auto path = folder + "/work.db";
  auto write = [](const std::string& to, const std::vector<std::uint8_t>& bytes) {
    std::ofstream file{to, std::ios::binary};
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  write(path, image.database);
  if (!image.log.empty()) write(path + "-wal", image.log);
  if (!image.shared.empty()) write(path + "-shm", image.shared);
  // Where a store is, its folder is.
  std::filesystem::create_directory(path + ".holdfast");
  return path;
}

std::map<std::int64_t, std::string> read_notes(const std::string& database) {
  std::map<std::int64_t, std::string> notes;
  Connection db{database, Connection::Mode::read_only, Durability::crash_safe};
  auto query = db.use("SELECT id, note FROM notes NOT INDEXED");
  while (query.step()) notes.emplace(query.integer(0), query.text(1));
  return notes;
}

}  // namespace holdfast::test
