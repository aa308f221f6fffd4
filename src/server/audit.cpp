#include "server/audit.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "recovery/clock.hpp"
#include "recovery/kill_point.hpp"
#include "recovery/private_files.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_in_memory = 10'000;

std::vector<std::string> sentences(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& name : sealed_audits(folder))
    found.push_back(fmt::format(
        "The audit log was changed by something other than the server and was sealed "
        "as {}/{}; the number in its name is the first wrong line. Find out who changed "
        "it, then move the file out of the folder.",
        folder, name));
  return found;
}

bool has_server(const std::string& folder) {
  const int lock = ::open((folder + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0) return false;
  const bool held = ::flock(lock, LOCK_SH | LOCK_NB) != 0;
  ::close(lock);  // at once: a server that starts now is not to be refused
  return held;
}

}  // namespace

Audit::Audit(const std::string& path) : place_{path}, head_file_{place_.head} {
  finish_sealing(place_);
  read();
}

Audit::~Audit() { ::close(file_); }

void Audit::refuse(const char* what) const {
  throw ConfigError{
      fmt::format("the audit log {} cannot be {}: {}", place_.log, what, std::strerror(errno))};
}

void Audit::open_log() {
  try {
    file_ = open_private(place_.log, O_RDWR | O_APPEND | O_CREAT).release();
  } catch (const StoreError& error) {
    throw ConfigError{fmt::format("the audit log cannot be opened: {}", error.what())};
  }
}

void Audit::read() {
  auto head = head_file_.read();
  const auto each = [this](AuditEntry entry) { remember(std::move(entry)); };
  auto check = check_audit(place_.log, head, each);
  if (!check.fault.empty()) {
    found_ = fmt::format("the audit log {} is broken at line {}: {}", place_.log, check.line,
                         check.fault);
    const auto sealed = seal_audit(place_, check, system_clock().wall());
    entries_.clear();
    last_ = 0;
    head = head_file_.read();
    check = check_audit(place_.log, head, each);
    found_ += fmt::format("; it was sealed as {}, and a new chain begins", sealed);
  }
  open_log();
  end_ = check.end;
  bytes_ = check.bytes;
  // A part of a line is what a crash cut off: what it was about was not begun.
  if (::ftruncate(file_, bytes_) != 0) refuse("cut");
  if (!head.is_there) {
    head_file_.create(end_);
    sync_folder(place_.folder);
    // A log of an earlier version. The entry says that there is a head record from now on.
    if (end_.lines > 0)
      note({.at = system_clock().wall(),
            .who = std::string{head_begun_by},
            .what = std::string{head_begun},
            .details = JsonObject{}.number("lines", end_.lines).str()},
           "there was none");
  } else {
    head_behind_ = head.head && head.head->lines != end_.lines;
  }
}

void Audit::remember(AuditEntry entry) {
  if (entry.n > last_) {
    last_ = entry.n;
    entries_.push_back(std::move(entry));
    if (entries_.size() > most_in_memory) entries_.pop_front();
  } else if (auto* known = find(entry.n)) {
    *known = std::move(entry);
  }
}

AuditEntry* Audit::find(std::int64_t n) {
  const auto known = std::find_if(entries_.rbegin(), entries_.rend(),
                                  [&](const AuditEntry& each) { return each.n == n; });
  return known == entries_.rend() ? nullptr : &*known;
}

/// The log is never more than one line ahead of its head, so that more than that is a finding.
void Audit::settle() {
  if (half_line_ && ::ftruncate(file_, bytes_) == 0) half_line_ = false;
  if (!half_line_ && head_behind_) head_behind_ = !head_file_.write(end_);
  if (half_line_ || head_behind_)
    throw StoreError{fmt::format("the audit log cannot be written: {}", std::strerror(errno))};
}

void Audit::append(AuditEntry entry) {
  settle();
  entry = as_kept(std::move(entry));
  chain_to(end_.lines == 0 ? before_first_line : end_.hash, entry);
  const auto line = audit_json(entry) + "\n";
  errno = ENOSPC;  // what a write that is too short means
  const bool kept = ::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                    ::fdatasync(file_) == 0;
  half_line_ = !kept;
  if (!kept)
    throw StoreError{fmt::format("the audit log cannot be written: {}", std::strerror(errno))};
  bytes_ += static_cast<std::int64_t>(line.size());
  end_ = {end_.lines + 1, entry.hash};
  head_behind_ = true;
  remember(std::move(entry));
  kill_point(KillPoint::audit_before_head);
  settle();
}

std::int64_t Audit::asked(AuditEntry entry) {
  std::lock_guard lock{mutex_};
  entry.n = last_ + 1;
  append(std::move(entry));
  return last_;
}

void Audit::note(AuditEntry entry, std::string outcome) {
  std::lock_guard lock{mutex_};
  entry.n = last_ + 1;
  entry.outcome = std::move(outcome);
  append(std::move(entry));
}

void Audit::ended(std::int64_t n, const std::string& outcome) {
  std::lock_guard lock{mutex_};
  const auto* known = find(n);
  if (!known) return;
  auto entry = *known;
  entry.outcome = outcome;
  append(std::move(entry));
}

std::vector<AuditEntry> Audit::list(std::size_t limit, std::int64_t before) const {
  std::lock_guard lock{mutex_};
  std::vector<AuditEntry> found;
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && found.size() < limit; ++entry)
    if (entry->n < before) found.push_back(*entry);
  return found;
}

std::vector<std::string> Audit::findings() const { return sentences(place_.folder); }

std::vector<std::string> audit_findings(const std::string& folder) {
  auto found = sentences(folder);
  // A server that runs has checked the log, and is writing it: looking again tells nothing.
  if (has_server(folder)) return found;
  const AuditPlace place{folder + "/audit.jsonl"};
  // Another user's: that says nothing about the log.
  if (::access(place.log.c_str(), R_OK) != 0 && errno == EACCES) return found;
  const auto check =
      check_audit(place.log, AuditHeadFile{place.head}.read(), [](const AuditEntry&) {});
  if (!check.fault.empty() && !has_server(folder))
    found.push_back(fmt::format(
        "The audit log {} is broken at line {}: {}. The next start of 'holdfast serve' seals it "
        "and begins a new one.",
        place.log, check.line, check.fault));
  return found;
}

}  // namespace holdfast::server
