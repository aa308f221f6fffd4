#include "faults/snapshot.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

namespace holdfast::test {

namespace {

constexpr const char* tables[] = {"tasks",    "lanes", "paused",  "blocks",  "history",
                                  "progress", "log",   "effects", "workers", "counts"};

class Database {
 public:
  explicit Database(const std::string& path) {
    check(sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE, "unix"), "open");
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  ~Database() { sqlite3_close_v2(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Calls `row` with the columns as text, blobs in hexadecimal.
  template <class F>
  void query(const std::string& sql, F row) {
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(db_, sql.c_str(), -1, &prepared, nullptr), sql);
    std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement{prepared,
                                                                         sqlite3_finalize};
    int code = SQLITE_OK;
    while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
      std::vector<std::string> columns;
      for (int i = 0; i < sqlite3_column_count(prepared); ++i)
        columns.push_back(column(prepared, i));
      row(columns);
    }
    check(code == SQLITE_DONE ? SQLITE_OK : code, sql);
  }

 private:
  void check(int code, const std::string& doing) {
    if (code != SQLITE_OK)
      throw std::runtime_error{fmt::format("{}: {}", doing, sqlite3_errmsg(db_))};
  }

  static std::string column(sqlite3_stmt* statement, int i) {
    if (sqlite3_column_type(statement, i) == SQLITE_NULL) return "NULL";
    bool blob = sqlite3_column_type(statement, i) == SQLITE_BLOB;
    auto data = static_cast<const char*>(sqlite3_column_blob(statement, i));
    if (!data) return "";
    std::string text{data, static_cast<std::size_t>(sqlite3_column_bytes(statement, i))};
    if (!blob) return text;
    std::string digits;
    for (unsigned char byte : text) digits += fmt::format("{:02X}", byte);
    return digits;
  }

  sqlite3* db_ = nullptr;
};

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), with);
}

void read_workers(Database& db, Snapshot& into) {
  db.query("SELECT id FROM holdfast_workers ORDER BY seq", [&](const auto& columns) {
    auto& id = into.workers.emplace_back();
    for (std::size_t i = 0; i < id.bytes.size(); ++i)
      id.bytes[i] = static_cast<std::uint8_t>(std::stoi(columns[0].substr(2 * i, 2), nullptr, 16));
  });
}

/// Both forms of each worker's id, and what stands for it.
std::vector<std::pair<std::string, std::string>> worker_names(const Snapshot& taken) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& id : taken.workers) {
    auto name = fmt::format("worker {}", names.size() / 2);
    names.emplace_back(fmt::format("{:02X}", fmt::join(id.bytes, "")), name);
    names.emplace_back(id.text(), name);
  }
  return names;
}

void read_rows(Database& db, Snapshot& into) {
  auto names = worker_names(into);
  for (const char* table : tables) {
    db.query(fmt::format("SELECT * FROM holdfast_{} ORDER BY 1, 2", table),
             [&](const auto& columns) {
               auto line = fmt::format("{}: {}", table, fmt::join(columns, "|"));
               for (const auto& [id, name] : names) replace_all(line, id, name);
               into.rows.push_back(std::move(line));
             });
  }
}

void read_tasks(Database& db, Snapshot& into) {
  db.query("SELECT id, state, payload, result FROM holdfast_tasks", [&](const auto& columns) {
    into.tasks[columns[0]] = {std::stoi(columns[1]), columns[2], columns[3], {}};
  });
  db.query(
      "SELECT t.id, e.key || '=' || e.value FROM holdfast_effects e"
      " JOIN holdfast_tasks t ON t.seq = e.task ORDER BY 1, 2",
      [&](const auto& columns) { into.tasks[columns[0]].effects.push_back(columns[1]); });
}

}  // namespace

Snapshot snapshot(const std::string& path, bool check) {
  Snapshot taken;
  if (!std::filesystem::exists(path)) return taken;
  Database db{path};
  if (check) {
    std::string verdict;
    db.query("PRAGMA integrity_check", [&](const auto& columns) { verdict += columns[0] + "\n"; });
    if (verdict != "ok\n") throw std::runtime_error{"integrity_check: " + verdict};
  }
  bool tables_exist = false;
  db.query("SELECT 1 FROM sqlite_schema WHERE name = 'holdfast_meta'",
           [&](const auto&) { tables_exist = true; });
  if (!tables_exist) return taken;
  read_workers(db, taken);
  read_rows(db, taken);
  read_tasks(db, taken);
  return taken;
}

std::string difference(const Snapshot& expected, const Snapshot& found) {
  if (expected == found) return "";
  auto [was, is] = std::mismatch(expected.rows.begin(), expected.rows.end(), found.rows.begin(),
                                 found.rows.end());
  constexpr std::size_t enough = 300;
  auto show = [&](const auto& rows, auto at) {
    return at == rows.end() ? std::string{"(no more rows)"} : at->substr(0, enough);
  };
  return fmt::format("expected {}\n   found {}", show(expected.rows, was), show(found.rows, is));
}

}  // namespace holdfast::test
