#include "engines/sqlite/repair.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/foreign_tables.hpp"
#include "engines/sqlite/mapped_file.hpp"
#include "engines/sqlite/replace_file.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/store_rebuild.hpp"
#include "engines/sqlite/whole_file.hpp"
#include "engines/sqlite/work_copy.hpp"
#include "recovery/clock.hpp"

namespace holdfast::sqlite {

namespace {

using How = Repair::How;

/// Everything is looked at: every page and index, every checksum.
IntegrityResult check_all(const std::string& path) {
  try {
    Connection db{path, Connection::Mode::read_write, Durability::crash_safe};
    return check_integrity(db, {.full = true});
  } catch (const StoreError& error) {
    IntegrityResult result;
    result.passed = false;
    result.damage.push_back({Damage::Kind::file, error.what()});
    return result;
  }
}

bool rows_are_sound(const IntegrityResult& check) {
  return std::ranges::none_of(check.damage, [](const Damage& damage) {
    return damage.kind == Damage::Kind::row || damage.kind == Damage::Kind::lost;
  });
}

std::map<std::string, std::optional<PageSalvage::Content>> contents_of(const std::string& path) {
  MappedFile bytes{path};
  PageFile file{bytes.bytes()};
  return PageSalvage{file}.contents();
}

bool every_table_is_readable(const std::string& path) {
  MappedFile bytes{path};
  PageFile file{bytes.bytes()};
  PageSalvage salvage{file};
  auto contents = salvage.contents();
  return salvage.schema_sound() && !contents.empty() &&
         std::ranges::all_of(contents, [](const auto& table) { return table.second.has_value(); });
}

/// Runs `statement` on the copy; true if the copy is sound afterwards and no row has changed.
/// Making an index anew gives its old pages back, and if those were not what they seemed it would
/// take rows with it: so the rows are compared.
bool helps(const std::string& copy, const char* statement) {
  auto before = contents_of(copy);
  try {
    {
      Connection db{copy, Connection::Mode::read_write, Durability::crash_safe};
      db.execute("PRAGMA journal_mode=MEMORY");
      db.execute(statement);
    }
    return check_all(copy).passed && contents_of(copy) == before;
  } catch (const StoreError&) {
    return false;
  }
}

bool agrees_with_indexes(const std::string& path) {
  MappedFile bytes{path};
  PageFile file{bytes.bytes()};
  Connection db{path, Connection::Mode::read_only, Durability::crash_safe};
  // Which of the two is wrong, an index made anew would not ask.
  bool same_blocks = true;
  find_damaged_blocks(db, [&](const Damage&) { same_blocks = false; });
  return same_blocks && rows_and_indexes_agree(file, db);
}

/// Nothing is wrong but the counts of tasks, which the tasks say: they are counted anew.
std::optional<How> mend_counts(const std::string& copy, const IntegrityResult& check) {
  Connection db{copy, Connection::Mode::read_write, Durability::crash_safe};
  std::size_t wrong = 0;
  find_wrong_counts(db, [&](const std::string&) { ++wrong; });
  if (wrong != check.damage.size()) return {};
  db.execute("PRAGMA journal_mode=MEMORY; BEGIN");
  recount(db);
  db.execute("COMMIT");
  return How::corrected;
}

/// The indexes and the order of pages are wrong, the rows are not.
std::optional<How> mend_around_rows(const std::string& copy, const IntegrityResult& check) {
  try {
    if (!every_table_is_readable(copy) || !agrees_with_indexes(copy)) return {};
    if (auto mended = mend_counts(copy, check)) return mended;
  } catch (const StoreError&) {
    return {};  // SQLite does not even know which tables there are
  }
  if (helps(copy, "REINDEX")) return How::reindexed;
  if (helps(copy, "VACUUM")) return How::vacuumed;
  return {};
}

Repair rebuild(const std::string& copy, const std::string& fresh) {
  auto now = system_clock().wall();
  remove_database(fresh);
  MappedFile bytes{copy};
  PageFile old{bytes.bytes()};
  Connection db{fresh, Connection::Mode::read_write, Durability::crash_safe};
  db.execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN");
  make_tables(db);
  auto rebuilt = StoreRebuild{old, db, now}.run();
  db.execute("COMMIT");
  PageSalvage tables{old};
  auto missing = copy_foreign_tables(db, copy, tables);
  bool whole = rebuilt.whole && missing.empty();
  rebuilt.losses.insert(rebuilt.losses.end(), missing.begin(), missing.end());
  return {whole ? How::rebuilt : How::salvaged,
          {},
          std::move(rebuilt.losses),
          std::move(rebuilt.mended)};
}

/// Something of ours must have been in the file, or an empty store would take the place of
/// whatever it was.
void expect_a_store(const std::string& copy, const std::string& fresh, const std::string& path) {
  MappedFile bytes{copy};
  PageFile old{bytes.bytes()};
  PageSalvage salvage{old};
  for (const auto& row : salvage.schema())
    if (is_ours(row.name)) return;
  Connection db{fresh, Connection::Mode::read_only, Durability::crash_safe};
  if (db.number("SELECT count(*) FROM holdfast_tasks") > 0) return;
  throw StoreUnusable{fmt::format(
      "{} is damaged beyond repair: nothing of a store can be found in it. Put a backup in its "
      "place with 'holdfast restore'",
      path)};
}

}  // namespace

std::string_view to_string(How how) {
  switch (how) {
    case How::nothing:
      return "nothing";
    case How::corrected:
      return "corrected";
    case How::reindexed:
      return "reindexed";
    case How::vacuumed:
      return "vacuumed";
    case How::rebuilt:
      return "rebuilt";
    case How::salvaged:
      break;
  }
  return "salvaged";
}

Repair repair(const std::string& path, const SideFiles& files) {
  finish_replacement(path, files);
  DatabaseFile original{path};
  if (original.found() != DatabaseFile::Found::taken) {
    throw StoreError{fmt::format(
        "{} is damaged, and cannot be repaired while another program has it open; close that "
        "program and start again",
        path)};
  }
  WorkCopy copy{original, path, files};
  bool corrected = copy.correct_header();
  auto check = check_all(copy.path());
  if (check.passed && !corrected) return {};

  Repair repair;
  auto fresh = fresh_database(files);
  std::optional<How> mended;
  if (check.passed) {
    mended = How::corrected;
  } else if (rows_are_sound(check)) {
    mended = mend_around_rows(copy.path(), check);
  }
  if (mended) {
    repair.how = *mended;
    copy.become(fresh);
  } else {
    copy.make_anew();
    copy.correct_header();
    repair = rebuild(copy.path(), fresh);
    expect_a_store(copy.path(), fresh, path);
  }
  finish_database(fresh);
  if (auto left = check_all(fresh); !left.passed) {
    throw StoreUnusable{
        fmt::format("{} is damaged and could not be repaired ({}); put a backup in its place with "
                    "'holdfast restore'",
                    path, left.damage.front().what)};
  }
  remove_side_files(fresh);
  repair.kept_aside = replace_database(path, files, "damaged");
  return repair;
}

}  // namespace holdfast::sqlite
