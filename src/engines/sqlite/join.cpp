#include "engines/sqlite/join.hpp"

#include <fmt/format.h>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/loss_note.hpp"
#include "engines/sqlite/processes.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/upgrade.hpp"

namespace holdfast::sqlite {

namespace {

/// Whoever made the store ready was there for a moment only, and left the check to others. Repair
/// is for who is alone with the file.
void check_for_all(const std::string& path, Opened& opened) {
  auto found = check_integrity(*opened.connection, {.within = check_limit});
  if (found.passed) return opened.lock->note_checked(true);
  note_suspicion(opened.files, found.damage.front().what);
  const auto others = names_of(processes_with_open(opened.files.open_lock()));
  throw StoreUnusable{
      fmt::format("{} is damaged: {} It can only be repaired by who is alone with it: end whatever "
                  "else has it open{}, then start again",
                  path, found.damage.front().what, others.empty() ? "" : ", process " + others)};
}

/// A command can show the store; who stays would keep the others from upgrading it.
void leave_as_it_is(const std::string& why, Stay stay, Opened& opened) {
  if (stay != Stay::brief) throw StoreUnusable{why};
  opened.connection.reset();
  opened.level = RunLevel::read_only;
  opened.reason = why;
  opened.trouble = trouble_of(why);
}

}  // namespace

StartUp trouble_of(const std::string& reason) {
  StartUp trouble;
  trouble.integrity.completed = false;
  trouble.level = RunLevel::read_only;
  trouble.reason = reason;
  return trouble;
}

void join(const std::string& path, const Settings& settings, Stay stay, Opened& opened) {
  if (auto note = LossNote::read(opened.files)) {
    opened.level = RunLevel::read_only;
    opened.reason = note->reason;
    opened.trouble = trouble_of(note->reason);
    opened.trouble->losses = note->losses;
    return;
  }
  opened.connection =
      std::make_unique<Connection>(path, Connection::Mode::read_write, settings.durability);
  if (!has_schema(*opened.connection)) return;
  if (auto version = known_version(*opened.connection, path); version < schema_version)
    return leave_as_it_is(why_not_upgraded(path, opened.files, version), stay, opened);
  bool asked = settings.recovery.integrity_check_on_startup && stay != Stay::brief;
  if (asked && !opened.lock->is_checked()) check_for_all(path, opened);
}

}  // namespace holdfast::sqlite
