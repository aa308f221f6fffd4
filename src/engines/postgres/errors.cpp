#include "engines/postgres/errors.hpp"

#include <libpq-fe.h>

#include <fmt/format.h>

namespace holdfast::postgres {

namespace {

std::string field(const pg_result* result, int which) {
  const char* text = PQresultErrorField(result, which);
  return text ? text : "";
}

/// What libpq says ends with a line feed, and may have several lines.
std::string one_line(std::string_view message) {
  std::string line;
  for (char c : message) line += c == '\n' || c == '\t' ? ' ' : c;
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

void throw_connection_lost(const char* message, const std::string& store) {
  throw ConnectionLost{fmt::format("cannot reach {}: {}", store, one_line(message))};
}

void throw_server_error(const pg_result* result, const std::string& store) {
  auto code = field(result, PG_DIAG_SQLSTATE);
  auto said = one_line(field(result, PG_DIAG_MESSAGE_PRIMARY));
  if (said.empty()) said = one_line(PQresultErrorMessage(result));
  auto message = fmt::format("{}: {}{}", store, said, code.empty() ? "" : " (" + code + ")");
  auto in_class = [&](std::string_view which) { return code.starts_with(which); };
  // Rows that are deleted leave their room to later ones of the same table, and none to the log.
  if (code == "53100") throw StoreFull{message + "; free some space on the server's disk", false};
  if (code == "25006")
    throw StoreReadOnly{message + "; this server takes no writes: a standby, or set read-only"};
  if (code == "40001" || code == "40P01" || code == "23505") throw Conflict{message};
  if (code == "55P03")
    throw StoreError{message + "; another transaction has had a task locked for long"};
  if (code == "57014")
    throw StoreError{message +
                     "; ask for less, or raise statement_timeout for this role (ALTER ROLE ... SET "
                     "statement_timeout); where nothing is set, questions may take 30 s"};
  if (code == "42501") throw NotAllowed{message};
  if (code == "42P01" || code == "3F000" || code == "42703")
    throw StoreUnusable{message +
                        "; the tables of the store are not there any more, or not those "
                        "of this version. Run `holdfast migrate`"};
  if (code == "XX001" || code == "XX002")
    throw StoreUnusable{message + "; the database is damaged. Restore it from a backup"};
  // Ended by an administrator, shutting down, or a plan that a migration made useless.
  if (code.empty() || in_class("08") || in_class("57P") || code == "0A000")
    throw ConnectionLost{message};
  throw StoreError{message};
}

}  // namespace holdfast::postgres
