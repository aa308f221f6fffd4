#include "engines/sqlite/lost_tasks.hpp"

#include <fcntl.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/page_file.hpp"
#include "engines/sqlite/table_shape.hpp"

namespace holdfast::sqlite {

namespace {

/// More would be read by nobody.
constexpr std::size_t enough = 10'000;

struct Version {
  TaskState state{};
  std::int64_t token = 0;
};
using Versions = std::map<TaskId, Version>;

std::int64_t number_in(const Record& record, std::size_t column) {
  auto number = std::get_if<std::int64_t>(&record[column]);
  return number ? *number : 0;
}

/// Rows of tasks on one page of the log. Pages are read as the second of a file, because the first
/// one has a header.
class TaskPages {
 public:
  TaskPages(Connection& db, std::uint32_t page_size)
      : shape_{db, "holdfast_tasks"}, page_size_{page_size}, bytes_(2 * page_size) {
    auto said = page_size == 65'536 ? 1 : page_size;
    bytes_[16] = static_cast<std::uint8_t>(said >> 8);
    bytes_[17] = static_cast<std::uint8_t>(said);
  }

  void read(Bytes page, Versions& into) {
    if (page.size() != page_size_) return;
    std::ranges::copy(page, bytes_.begin() + page_size_);
    PageFile file{bytes_};
    auto tree = file.tree_page(2);
    if (!tree || tree->kind != TreePage::Kind::leaf_table) return;
    for (auto at : tree->cells) {
      auto cell = file.cell(2, *tree, at);
      auto record = cell ? decode_record(cell->payload) : std::nullopt;
      if (record && shape_.fits(*record)) note(*record, into);
    }
  }

 private:
  void note(const Record& record, Versions& into) {
    auto bytes = std::get_if<Blob>(&record[shape_.place_of("id")]);
    auto state = number_in(record, shape_.place_of("state"));
    TaskId id;
    if (!bytes || bytes->size() != id.bytes.size() || state < 0 || state >= task_state_count)
      return;
    std::ranges::copy(*bytes, id.bytes.begin());
    if (into.size() < enough || into.contains(id))
      into[id] = {static_cast<TaskState>(state), number_in(record, shape_.place_of("token"))};
  }

  TableShape shape_;
  std::uint32_t page_size_;
  std::vector<std::uint8_t> bytes_;
};

std::optional<Damage> compare(Connection& db, TaskId id, const Version& lost) {
  auto left = db.use("SELECT state, token FROM holdfast_tasks WHERE id = ?");
  left.bind(id);
  if (!left.step())
    return Damage{Damage::Kind::lost,
                  fmt::format("Task {} was added by a commit that is lost; it was {}.", id.text(),
                              to_string(lost.state)),
                  id};
  auto state = static_cast<TaskState>(left.integer(0));
  if (state == lost.state && left.integer(1) == lost.token) return {};
  return Damage{Damage::Kind::lost,
                fmt::format("Task {} was {} by a commit that is lost, and is {} again.", id.text(),
                            to_string(lost.state), to_string(state)),
                id};
}

}  // namespace

std::vector<Damage> lost_tasks(const std::string& path, Connection& db) {
  std::vector<Damage> losses;
  auto log = ByteFile::open(path + "-wal", O_RDONLY);
  auto page_size = db.number("PRAGMA page_size");
  if (!log || page_size <= 0) return losses;
  TaskPages pages{db, static_cast<std::uint32_t>(page_size)};
  Versions versions;
  scan_wal(log->reader(), log->size, [&](Bytes page) { pages.read(page, versions); });
  for (const auto& [id, version] : versions)
    if (auto loss = compare(db, id, version)) losses.push_back(std::move(*loss));
  return losses;
}

}  // namespace holdfast::sqlite
