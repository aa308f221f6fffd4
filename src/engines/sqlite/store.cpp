#include "engines/sqlite/store.hpp"

#include <fcntl.h>
#include <sqlite3.h>

#include <fmt/format.h>
#include <filesystem>

#include "engines/sqlite/ballast.hpp"
#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/disk.hpp"
#include "engines/sqlite/open_read_only.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/upgrade.hpp"
#include "recovery/roster.hpp"

namespace holdfast::sqlite {

namespace {

Writer make_writer(const std::string& path, Opened& opened, Stay stay, const std::string& domain,
                   const Events& events) {
  if (!opened.connection) return Writer{opened.reason};
  if (auto patience = patience_of(stay))
    sqlite3_busy_timeout(opened.connection->handle(), static_cast<int>(patience->count()));
  return Writer{Writer::Parts{
      .connection = std::move(opened.connection),
      .lock = std::make_unique<FairLock>(opened.files.write_lock(), patience_of(stay)),
      .notes = {opened.files, path},
      .large_wal_pages = disk_of(opened.files.folder()).large_wal_pages(),
      .mark = boot_of(domain),
      .on_checkpoint_trouble =
          [&events](const std::string& why) {
            events.emit(StoreTrouble{"copying the write-ahead log into the database", why});
          },
      .make_room = [ballast = Ballast{opened.files.ballast()}] { return ballast.throw_off(); },
      .on_damage = [files =
                        opened.files](const std::string& what) { note_suspicion(files, what); }}};
}

std::unique_ptr<Connection> open_as_it_is(const std::string& path, Durability durability,
                                          const std::string& why_read_only) {
  try {
    return open_read_only(path, durability);
  } catch (const StoreUnusable& error) {
    throw StoreUnusable{fmt::format("{}; and {}", why_read_only, error.what())};
  }
}

Reader make_reader(const std::string& path, Writer& writer, const Settings& settings,
                   const std::string& why_read_only, std::optional<int> upgrade_from,
                   WallTime now) {
  // What is opened as it is may be a copy; that is made once.
  if (writer.is_read_only())
    return Reader{open_as_it_is(path, settings.durability, why_read_only), {}};
  auto open = [path, durability = settings.durability] {
    return std::make_unique<Connection>(path, Connection::Mode::read_only, durability);
  };
  auto first = open();
  if (!has_schema(*first)) prepare_schema(writer, path, now);
  if (upgrade_from) upgrade(writer, *upgrade_from);
  return Reader{std::move(first), open};
}

constexpr std::size_t most_readers = 4;

}  // namespace

Reader::Reader(std::unique_ptr<Connection> first, Open another) : another_{std::move(another)} {
  free_.reserve(most_readers);  // giving back must not fail
  free_.push_back(std::move(first));
}

std::unique_ptr<Connection, Reader::GiveBack> Reader::take() {
  std::unique_lock lock{mutex_};
  if (free_.empty() && another_ && opened_ < most_readers) {
    free_.push_back(another_());
    ++opened_;
  }
  returned_.wait(lock, [&] { return !free_.empty(); });
  std::unique_ptr<Connection, GiveBack> taken{free_.back().release(), GiveBack{this}};
  free_.pop_back();
  return taken;
}

void Reader::give_back(Connection* connection) {
  {
    std::lock_guard lock{mutex_};
    free_.emplace_back(connection);
  }
  returned_.notify_one();
}

Store::Store(const std::string& file, Opened opened, const Settings& settings, Stay stay,
             const Clock& a_clock, const Events& events)
    : path{file},
      files{opened.files},
      level{opened.level},
      why_read_only{opened.reason},
      keep_mark{opened.keep_mark},
      open_lock{std::move(opened.lock)},
      clock{a_clock},
      clock_domain{holdfast::clock_domain()},
      writer(make_writer(file, opened, stay, clock_domain, events)),
      reader{make_reader(file, writer, settings, why_read_only, opened.upgrade_from, clock.wall())},
      watch{files, events, level == RunLevel::normal} {
  if (level == RunLevel::normal) Ballast{files.ballast()}.take_on();
  if (level == RunLevel::normal && !std::filesystem::exists(files.made())) {
    kill_point(KillPoint::made_before_marker);
    try_open_private(files.made(), O_WRONLY | O_CREAT);
    kill_point(KillPoint::made_after_marker);
  }
  if (open_lock && open_lock->alone()) open_lock->ready();
}

Store::~Store() {
  // Whoever comes now finds the store closed properly, or waits until it is.
  if (level != RunLevel::normal || keep_mark) return;
  if (open_lock->is_last()) writer.close_properly();
}

}  // namespace holdfast::sqlite
