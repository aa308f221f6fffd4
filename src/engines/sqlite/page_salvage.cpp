#include "engines/sqlite/page_salvage.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace holdfast::sqlite {

namespace {

constexpr std::uint32_t schema_root = 1;

bool is_table_root(const PageFile& file, std::uint32_t root) {
  auto page = file.tree_page(root);
  return page && page->is_table();
}

/// Tables whose rows nobody else's can be taken for: an entry of an index, or a row of a table of
/// the user's, may well look like a row of the smaller ones.
bool is_known_anywhere(const TableShape& table) {
  constexpr std::string_view known[] = {"holdfast_tasks",   "holdfast_workers", "holdfast_lanes",
                                        "holdfast_history", "holdfast_log",     "holdfast_effects"};
  return std::ranges::find(known, table.name()) != std::end(known);
}

}  // namespace

PageSalvage::PageSalvage(const PageFile& file) : file_{file} { read_schema(); }

void PageSalvage::read_schema() {
  auto add = [&](std::int64_t, const Blob& bytes) {
    auto record = decode_record(bytes);
    auto row = record ? as_schema_row(*record) : std::nullopt;
    if (!row) {
      schema_sound_ = false;
      return;
    }
    auto same = [&](const SchemaRow& other) { return other.name == row->name; };
    if (std::ranges::none_of(schema_, same)) schema_.push_back(std::move(*row));
  };
  TreeWalk walk{file_};
  schema_sound_ = walk.walk(schema_root, true, add) && schema_sound_;
  if (schema_sound_) return;
  for (std::uint32_t number = 2; number <= file_.pages(); ++number) {
    auto page = file_.tree_page(number);
    if (!page || page->kind != TreePage::Kind::leaf_table || walk.is_claimed(number)) continue;
    // Only pages of the list itself, not whatever has five columns.
    auto cell = page->cells.empty() ? std::nullopt : file_.cell(number, *page, page->cells[0]);
    auto record = cell ? decode_record(cell->payload) : std::nullopt;
    if (record && as_schema_row(*record)) walk.read_stray(number, add);
  }
}

std::uint32_t PageSalvage::root_of(std::string_view name) const {
  auto found = std::ranges::find(schema_, name, &SchemaRow::name);
  return found == schema_.end() ? 0 : found->root;
}

std::map<std::string, std::optional<PageSalvage::Content>> PageSalvage::contents() {
  std::map<std::string, std::optional<Content>> contents;
  TreeWalk walk{file_};
  walk.walk(schema_root, true, [](std::int64_t, const Blob&) {});
  for (const auto& row : schema_) {
    if (row.type != "table" || row.root == 0) continue;
    Content content;
    bool sound = walk.walk(
        row.root, is_table_root(file_, row.root), [&](std::int64_t rowid, const Blob& record) {
          ++content.rows;
          content.sum +=
              XXH3_64bits_withSeed(record.data(), record.size(), static_cast<std::uint64_t>(rowid));
        });
    contents[row.name] = sound ? std::optional{content} : std::nullopt;
  }
  return contents;
}

/// What belongs to the list of tables, to indexes and to tables of the user's is no stray.
void PageSalvage::walk_others(TreeWalk& walk, const std::vector<TableShape>& tables) const {
  auto ignore = [](std::int64_t, const Blob&) {};
  walk.walk(schema_root, true, ignore);
  for (const auto& row : schema_) {
    if (std::ranges::find(tables, row.name, &TableShape::name) != tables.end()) continue;
    if (row.root != 0) walk.walk(row.root, is_table_root(file_, row.root), ignore);
  }
}

std::set<std::string> PageSalvage::each_row(const std::vector<TableShape>& tables,
                                            const std::function<void(Row)>& on_row) {
  TreeWalk walk{file_};
  std::set<std::string> damaged;
  for (const auto& table : tables) {
    bool sound = walk.walk(root_of(table.name()), !table.without_rowid(),
                           [&](std::int64_t rowid, const Blob& record) {
                             on_row({table, rowid, record, Found::in_tree, walk.place(), this});
                           });
    if (!sound) damaged.insert(table.name());
  }
  if (!damaged.empty()) {
    walk_others(walk, tables);
    each_stray(walk, tables, on_row);
  }
  return damaged;
}

void PageSalvage::each_stray(TreeWalk& walk, const std::vector<TableShape>& tables,
                             const std::function<void(Row)>& on_row) const {
  auto found = walk.free_list_sound() ? Found::stray : Found::doubtful;
  for (std::uint32_t number = 2; number <= file_.pages(); ++number) {
    if (walk.is_claimed(number)) continue;
    auto page = file_.tree_page(number);
    if (!page || !page->is_leaf()) continue;
    walk.read_stray(number, [&](std::int64_t rowid, const Blob& bytes) {
      for (const auto& table : tables) {
        if (table.without_rowid() == page->is_table() || !is_known_anywhere(table)) continue;
        auto record = table.read(bytes);
        if (record && table.fits(*record)) on_row({table, rowid, bytes, found, walk.place(), this});
      }
    });
  }
}

std::optional<Cell> PageSalvage::Row::with_flipped(unsigned bit) const {
  const auto& file = source->file_;
  auto page = file.tree_page(place.page);
  auto original = file.page(place.page);
  std::size_t at = place.cell + bit / 8;
  if (!page || at >= original.size()) return {};
  Blob changed(original.begin(), original.end());
  changed[at] ^= static_cast<std::uint8_t>(1 << bit % 8);
  return file.cell_in(changed, *page, place.cell);
}

std::vector<std::pair<TaskId, std::int64_t>> PageSalvage::indexed_tasks() {
  std::vector<std::pair<TaskId, std::int64_t>> tasks;
  each_entry("sqlite_autoindex_holdfast_tasks_1", [&](const Record& entry) {
    if (entry.size() != 2) return;
    auto id = std::get_if<Blob>(&entry[0]);
    auto seq = std::get_if<std::int64_t>(&entry[1]);
    TaskId task;
    if (!id || !seq || id->size() != task.bytes.size()) return;
    std::ranges::copy(*id, task.bytes.begin());
    tasks.emplace_back(task, *seq);
  });
  return tasks;
}

bool PageSalvage::each_entry(std::string_view index,
                             const std::function<void(const Record&)>& on_entry) {
  bool readable = true;
  TreeWalk walk{file_};
  bool sound = walk.walk(root_of(index), false, [&](std::int64_t, const Blob& bytes) {
    auto entry = decode_record(bytes);
    if (entry) on_entry(*entry);
    readable = readable && entry.has_value();
  });
  return sound && readable;
}

}  // namespace holdfast::sqlite
