#include "server/history.hpp"

#include "engines/sqlite/connection.hpp"

namespace holdfast::server {

struct History::Level {
  int resolution_s;
  std::size_t most;
  std::deque<Point> points{};
  std::vector<Point> unwritten{};
  std::vector<Point> not_averaged{};  ///< for the next level
};

/// Where points are kept: one row each.
class History::File {
 public:
  explicit File(const std::string& path)
      : db_{path, sqlite::Connection::Mode::read_write, Durability::crash_safe} {
    db_.execute("PRAGMA wal_autocheckpoint=1000");
    db_.execute(
        "CREATE TABLE IF NOT EXISTS points (store TEXT NOT NULL, resolution INTEGER NOT NULL,"
        " at INTEGER NOT NULL, point TEXT NOT NULL, PRIMARY KEY (store, resolution, at))"
        " WITHOUT ROWID");
  }

  void read(const std::string& store, Level& level) {
    auto rows = db_.use("SELECT point FROM points WHERE store = ? AND resolution = ? ORDER BY at");
    rows.bind(store, level.resolution_s);
    while (rows.step()) level.points.push_back(point_from_json(rows.text(0)));
  }

  void write(const std::string& store, const Level& level, const std::vector<Point>& points) {
    db_.execute("BEGIN IMMEDIATE");
    auto put = db_.use("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)");
    for (const auto& point : points) {
      const auto json = point_json(point);
      put.bind(store, level.resolution_s, point.at, json).run();
    }
    if (!level.points.empty())
      db_.use("DELETE FROM points WHERE store = ? AND resolution = ? AND at < ?")
          .bind(store, level.resolution_s, level.points.front().at)
          .run();
    db_.execute("COMMIT");
  }

 private:
  sqlite::Connection db_;
};

History::History(const std::string& path, std::string store)
    : store_{std::move(store)}, file_{std::make_unique<File>(path)} {
  levels_.push_back({.resolution_s = 1, .most = 3'600});
  levels_.push_back({.resolution_s = 60, .most = 2 * 24 * 60});
  levels_.push_back({.resolution_s = 3'600, .most = 365 * 24});
  for (auto& level : levels_) file_->read(store_, level);
}

History::~History() = default;

void History::add(const Point& point) {
  std::lock_guard lock{mutex_};
  add_to(0, point);
}

void History::add_to(std::size_t which, const Point& point) {
  auto& level = levels_[which];
  level.points.push_back(point);
  level.unwritten.push_back(point);
  // Where the disk is full for long, the oldest are lost first.
  if (level.unwritten.size() > level.most) level.unwritten.erase(level.unwritten.begin());
  if (level.points.size() > level.most) level.points.pop_front();
  if (which + 1 == levels_.size()) return;
  // A minute ends with the clock's, so that points of two runs of the server do not overlap.
  const Millis next{1'000 * levels_[which + 1].resolution_s};
  auto& waiting = level.not_averaged;
  if (!waiting.empty() &&
      waiting.front().at.time_since_epoch() / next != point.at.time_since_epoch() / next) {
    add_to(which + 1, average(waiting));
    waiting.clear();
  }
  waiting.push_back(point);
}

void History::flush() {
  std::lock_guard lock{mutex_};
  for (auto& level : levels_) {
    if (level.unwritten.empty()) continue;
    file_->write(store_, level, level.unwritten);
    level.unwritten.clear();
  }
}

History::Read History::since(WallTime since, WallTime now) const {
  std::lock_guard lock{mutex_};
  const auto asked = now - since;
  std::size_t which = 0;
  while (which + 1 < levels_.size() && asked > std::chrono::seconds{levels_[which].resolution_s} *
                                                   static_cast<std::int64_t>(levels_[which].most))
    ++which;
  Read read{.resolution_s = levels_[which].resolution_s};
  for (const auto& point : levels_[which].points)
    if (point.at >= since) read.points.push_back(point);
  // What is too young to be averaged is shown all the same.
  if (which > 0 && !levels_[which - 1].not_averaged.empty())
    read.points.push_back(average(levels_[which - 1].not_averaged));
  return read;
}

}  // namespace holdfast::server
