#include "engines/sqlite/lost_tasks.hpp"

#include <fcntl.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/page_bytes.hpp"
#include "engines/sqlite/page_file.hpp"
#include "engines/sqlite/schema.hpp"
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

std::size_t bytes_of(std::uint64_t serial_type) {
  constexpr std::size_t fixed[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return serial_type < 12 ? fixed[serial_type] : static_cast<std::size_t>((serial_type - 12) / 2);
}

/// The first values of a row that continues on another page; nothing if it has not as many values
/// as rows of the table have.
std::optional<Record> beginning_of_record(Bytes page, std::size_t at, const TableShape& table,
                                          std::size_t wanted) {
  if (!read_varint(page, at) || !read_varint(page, at)) return {};
  auto header_at = at;
  auto header_bytes = read_varint(page, at);
  if (!header_bytes || *header_bytes > page.size() - header_at) return {};
  auto values_at = header_at + static_cast<std::size_t>(*header_bytes), end = values_at;
  Blob part{0};
  std::size_t seen = 0;
  while (at < values_at) {
    auto type_at = at;
    auto type = read_varint(page, at);
    if (!type || ++seen > table.columns().size()) return {};
    if (seen > wanted) continue;
    part.insert(part.end(), page.begin() + static_cast<std::ptrdiff_t>(type_at),
                page.begin() + static_cast<std::ptrdiff_t>(at));
    end += bytes_of(*type);
  }
  if (!table.may_have(seen) || end > page.size() || part.size() > 127) return {};
  part[0] = static_cast<std::uint8_t>(part.size());
  part.insert(part.end(), page.begin() + static_cast<std::ptrdiff_t>(values_at),
              page.begin() + static_cast<std::ptrdiff_t>(end));
  return decode_record(part);
}

/// Rows of tasks on one page of the log. Pages are read as the second of a file, because the first
/// one has a header.
class TaskPages {
 public:
  explicit TaskPages(std::uint32_t page_size) : page_size_{page_size}, bytes_(2 * page_size) {
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
      auto record = cell ? shape_.read(cell->payload) : std::nullopt;
      if (record && !shape_.fits(*record)) continue;
      if (!record) record = beginning_of_record(page, at, shape_, shape_.place_of("token") + 1);
      if (record) note(*record, into);
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

  static TableShape shape_as_made() {
    Connection made{":memory:", Connection::Mode::read_write, Durability::crash_safe};
    make_tables(made);
    return TableShape{made, "holdfast_tasks"};
  }

  TableShape shape_ = shape_as_made();  // of this version's: the database may have none any more
  std::uint32_t page_size_;
  std::vector<std::uint8_t> bytes_;
};

Damage added(TaskId id, const Version& lost) {
  return {Damage::Kind::lost,
          fmt::format("Task {} was added by a commit that is lost; it was {}.", id.text(),
                      to_string(lost.state)),
          id};
}

std::optional<Damage> compare(Connection& db, TaskId id, const Version& lost) {
  auto left = db.use("SELECT state, token FROM holdfast_tasks WHERE id = ?");
  left.bind(id);
  if (!left.step()) return added(id, lost);
  auto state = static_cast<TaskState>(left.integer(0));
  if (state == lost.state && left.integer(1) == lost.token) return {};
  return Damage{Damage::Kind::lost,
                fmt::format("Task {} was {} by a commit that is lost, and is {} again.", id.text(),
                            to_string(lost.state), to_string(state)),
                id};
}

Versions versions_behind_gap(const std::string& path) {
  Versions versions;
  auto log = ByteFile::open(path + "-wal", O_RDONLY);
  if (!log) return versions;
  auto read = log->reader();
  auto scan = scan_wal(read, log->size);
  if (scan.beyond.frames == 0) return versions;
  TaskPages pages{scan.header.page_size};
  scan_wal(read, log->size, [&](Bytes page) { pages.read(page, versions); });
  return versions;
}

}  // namespace

std::vector<Damage> lost_tasks(const std::string& path, Connection* left) {
  std::vector<Damage> losses;
  for (const auto& [id, version] : versions_behind_gap(path)) {
    auto loss = left ? compare(*left, id, version) : added(id, version);
    if (loss) losses.push_back(std::move(*loss));
  }
  if (losses.empty())
    losses.push_back({Damage::Kind::wal,
                      "None of the tasks that the lost commits were about can be named: compare "
                      "what was enqueued, and what ran, since the recovery point."});
  return losses;
}

}  // namespace holdfast::sqlite
