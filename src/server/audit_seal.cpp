#include "server/audit_seal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "recovery/kill_point.hpp"
#include "recovery/time_text.hpp"
#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

constexpr std::string_view sealed_prefix = "audit-BROKEN-";
constexpr std::string_view sealed_suffix = ".jsonl";

[[noreturn]] void refuse_seal(const std::string& path, const char* what) {
  throw ConfigError{fmt::format("{} cannot be {}: {}", path, what, std::strerror(errno))};
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

bool is_sealed_name(std::string_view name) {
  return name.starts_with(sealed_prefix) && name.ends_with(sealed_suffix) &&
         name.find('/') == name.npos;
}

std::string free_name(const AuditPlace& place, const AuditCheck& found, WallTime now) {
  auto when = iso8601(now).substr(0, std::string_view{"2026-03-01T12:00:00"}.size());
  std::erase_if(when, [](char letter) { return letter == '-' || letter == ':'; });
  const auto name = fmt::format("{}{}Z-line-{}", sealed_prefix, when, found.line);
  auto free = fmt::format("{}{}", name, sealed_suffix);
  for (int i = 2; is_there(place.folder + "/" + free); ++i)
    free = fmt::format("{}-{}{}", name, i, sealed_suffix);
  return free;
}

std::string first_line(const AuditCheck& found, const std::string& sealed, WallTime now) {
  AuditEntry entry{.n = 1, .at = now, .who = "holdfast", .what = "seal the audit log"};
  entry.details = JsonObject{}
                      .text("sealed", sealed)
                      .number("line", found.line)
                      .text("fault", found.fault)
                      .text("file_hash", found.file_hash)
                      .number("intact_lines", found.end.lines)
                      .text("last_intact_hash", found.end.hash)
                      .str();
  entry.outcome = "a new chain begins";
  entry = as_kept(std::move(entry));
  chain_to(before_first_line, entry);
  return audit_json(entry);
}

}  // namespace

AuditPlace::AuditPlace(const std::string& path)
    : folder{std::filesystem::path{path}.parent_path().string()},
      log{path},
      head{path + ".head"},
      sealing{path + ".sealing"} {
  if (folder.empty()) folder = ".";
}

void sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = file >= 0 && ::fsync(file) == 0;
  const int why = errno;
  if (file >= 0) ::close(file);
  errno = why;
  if (!synced) refuse_seal(folder, "synced");
}

std::string seal_audit(const AuditPlace& place, const AuditCheck& found, WallTime now) {
  const auto sealed = free_name(place, found, now);
  write_private_file(place.sealing, sealed + "\n" + first_line(found, sealed, now) + "\n");
  sync_folder(place.folder);
  finish_sealing(place);
  return sealed;
}

void finish_sealing(const AuditPlace& place) {
  if (!is_there(place.sealing)) return;
  std::string name, line;
  std::ifstream plan{place.sealing};
  if (!std::getline(plan, name) || !std::getline(plan, line) || !is_sealed_name(name) ||
      !is_chained(before_first_line, line)) {
    // It was written in one step, so it is not ours. The log is checked as always.
    if (::unlink(place.sealing.c_str()) != 0) refuse_seal(place.sealing, "removed");
    return;
  }
  kill_point(KillPoint::audit_before_rename);
  // Once the sealed file is there, the log is the new one: at most its first line.
  const auto sealed = place.folder + "/" + name;
  if (!is_there(sealed)) {
    if (!is_there(place.log))
      write_private_file(sealed, {});  // for a log that was removed
    else if (::rename(place.log.c_str(), sealed.c_str()) != 0)
      refuse_seal(place.log, "renamed");
  }
  sync_folder(place.folder);
  kill_point(KillPoint::audit_after_rename);
  write_private_file(place.log, line + "\n");
  AuditHeadFile{place.head}.create({1, read_audit_line(line).hash});
  sync_folder(place.folder);
  kill_point(KillPoint::audit_after_new_chain);
  if (::unlink(place.sealing.c_str()) != 0) refuse_seal(place.sealing, "removed");
  // Else it could come back after a power failure, and begin the new chain a second time.
  sync_folder(place.folder);
}

std::vector<std::string> sealed_audits(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator each{folder, failed}, end; !failed && each != end;
       each.increment(failed))
    if (auto name = each->path().filename().string(); is_sealed_name(name))
      names.push_back(std::move(name));
  std::ranges::sort(names);
  return names;
}

}  // namespace holdfast::server
