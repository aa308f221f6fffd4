#include "engines/sqlite/tree_walk.hpp"

#include <limits>

namespace holdfast::sqlite {

namespace {

constexpr int deepest = 40;

}  // namespace

TreeWalk::TreeWalk(const PageFile& file) : file_{file}, claimed_(file.pages() + 1, false) {
  auto free = file.free_list();
  free_list_sound_ = free.sound;
  for (auto number : free.pages) claimed_[number] = true;
}

bool TreeWalk::claim(std::uint32_t number) {
  if (number == 0 || number > file_.pages() || claimed_[number]) return false;
  claimed_[number] = true;
  return true;
}

bool TreeWalk::read_cell(std::uint32_t number, const TreePage& page, std::uint16_t at, Cell& into) {
  place_ = {number, at};
  auto cell = file_.cell(number, page, at);
  if (!cell) return false;
  into = std::move(*cell);
  // Two records cannot share an overflow page: one of them has the wrong one.
  bool own = true;
  for (auto overflow : into.overflow) own = claim(overflow) && own;
  return own;
}

bool TreeWalk::walk(std::uint32_t root, bool table, const OnRecord& on_record) {
  struct Level {
    std::uint32_t number = 0;
    TreePage page{};
    std::size_t next = 0;
  };
  std::vector<Level> path;
  bool sound = true;
  auto enter = [&](std::uint32_t number) {
    auto page = file_.tree_page(number);
    if (path.size() >= deepest || !page || page->is_table() != table || !claim(number)) {
      sound = false;
      return;
    }
    sound = sound && page->sound;
    path.push_back({number, std::move(*page), 0});
  };
  auto last = std::numeric_limits<std::int64_t>::min();
  bool first = true;
  enter(root);
  while (!path.empty()) {
    auto& at = path.back();
    if (at.next > at.page.cells.size() || (at.page.is_leaf() && at.next == at.page.cells.size())) {
      path.pop_back();
      continue;
    }
    if (at.next == at.page.cells.size()) {
      ++at.next;
      enter(at.page.right_child);
      continue;
    }
    Cell cell;
    if (!read_cell(at.number, at.page, at.page.cells[at.next++], cell)) {
      sound = false;
      if (at.page.is_leaf() && table) on_record(0, {});
      if (at.page.is_leaf() || cell.child == 0) continue;
    }
    bool leaf = at.page.is_leaf();
    // In an index the record of an inner cell comes after what is left of it. The order matters to
    // nobody here, so it is reported at once.
    bool has_record = leaf || !table;
    if (has_record && !cell.payload.empty()) {
      if (table && !first && cell.rowid <= last) sound = false;
      last = cell.rowid;
      first = false;
      on_record(table ? cell.rowid : 0, cell.payload);
    }
    if (!leaf) enter(cell.child);
  }
  return sound;
}

bool TreeWalk::read_stray(std::uint32_t number, const OnRecord& on_record) {
  auto page = file_.tree_page(number);
  if (!page || !page->is_leaf() || page->cells.empty() || !claim(number)) return false;
  bool whole = page->sound;
  for (auto at : page->cells) {
    Cell cell;
    if (read_cell(number, *page, at, cell))
      on_record(page->is_table() ? cell.rowid : 0, cell.payload);
    else
      whole = false;
  }
  return whole;
}

std::optional<SchemaRow> as_schema_row(const Record& record) {
  if (record.size() != 5) return {};
  auto type = std::get_if<std::string>(&record[0]);
  auto name = std::get_if<std::string>(&record[1]);
  auto table = std::get_if<std::string>(&record[2]);
  auto root = std::get_if<std::int64_t>(&record[3]);
  if (!type || !name || !table) return {};
  if (*type != "table" && *type != "index" && *type != "view" && *type != "trigger") return {};
  SchemaRow row{*type, *name, *table, 0, {}};
  if (root && *root > 0 && *root < std::numeric_limits<std::uint32_t>::max())
    row.root = static_cast<std::uint32_t>(*root);
  if (auto sql = std::get_if<std::string>(&record[4])) row.sql = *sql;
  return row;
}

}  // namespace holdfast::sqlite
