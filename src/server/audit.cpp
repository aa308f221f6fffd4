#include "server/audit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"
#include "server/fields.hpp"
#include "server/problem.hpp"
#include "server/secrets.hpp"
#include "tasks/json_text.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_in_memory = 10'000;

std::string without_hash(const AuditEntry& entry) {
  return JsonObject{}
      .number("n", entry.n)
      .text("at", iso8601(entry.at))
      .text("who", entry.who)
      .text("from", entry.from)
      .text("what", entry.what)
      .text("store", entry.store)
      .text("details", entry.details)
      .text("outcome", entry.outcome)
      .str();
}

std::string chained(const std::string& before, const AuditEntry& entry) {
  return fingerprint(before + "\n" + without_hash(entry));
}

AuditEntry read_entry(const std::string& line) {
  const Fields fields{line};
  AuditEntry entry;
  entry.n = fields.required_number("n", 1, INT64_MAX);
  entry.at = parse_iso8601(fields.required_text("at")).value_or(WallTime{});
  entry.who = fields.required_text("who");
  entry.from = fields.required_text("from");
  entry.what = fields.required_text("what");
  entry.store = fields.required_text("store");
  entry.details = fields.required_text("details");
  entry.outcome = fields.required_text("outcome");
  entry.hash = fields.required_text("hash");
  return entry;
}

}  // namespace

std::string audit_json(const AuditEntry& entry) {
  auto text = without_hash(entry);
  text.pop_back();
  return text + ",\"hash\":" + json_string(entry.hash) + "}";
}

Audit::Audit(std::string path) : path_{std::move(path)} {
  try {
    file_ = open_private(path_, O_RDWR | O_APPEND | O_CREAT).release();
  } catch (const StoreError& error) {
    throw ConfigError{fmt::format("the audit log cannot be opened: {}", error.what())};
  }
  read();
}

Audit::~Audit() { ::close(file_); }

void Audit::read() {
  std::ifstream file{path_};
  std::string line;
  off_t whole = 0;
  for (int number = 1; std::getline(file, line); ++number) {
    // A line without its end is one that a crash cut off: what it was about was not begun.
    if (file.eof()) break;
    if (!json_fault(line).empty())
      throw ConfigError{
          fmt::format("{}:{}: this is no line of an audit log; keep the file for "
                      "whoever looks into it, and move it away",
                      path_, number)};
    auto entry = read_entry(line);
    if (entry.hash != chained(chain_, entry))
      throw ConfigError{
          fmt::format("{}:{}: the audit log was changed here; keep the file for "
                      "whoever looks into it, and move it away",
                      path_, number)};
    chain_ = entry.hash;
    last_ = std::max(last_, entry.n);
    whole += static_cast<off_t>(line.size()) + 1;
    const auto known = std::find_if(entries_.rbegin(), entries_.rend(),
                                    [&](const AuditEntry& each) { return each.n == entry.n; });
    if (entry.outcome != "asked" && known != entries_.rend())
      *known = std::move(entry);
    else
      entries_.push_back(std::move(entry));
    if (entries_.size() > most_in_memory) entries_.pop_front();
  }
  if (::ftruncate(file_, whole) != 0)
    throw ConfigError{fmt::format("{} cannot be cut: {}", path_, std::strerror(errno))};
}

void Audit::append(AuditEntry& entry) {
  entry.hash = chained(chain_, entry);
  const auto line = audit_json(entry) + "\n";
  const auto before = ::lseek(file_, 0, SEEK_END);
  const bool kept = ::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                    ::fdatasync(file_) == 0;
  if (!kept) {
    const std::string why = std::strerror(errno);
    if (::ftruncate(file_, before) != 0) entries_.clear();
    throw StoreError{fmt::format("the audit log {} cannot be written: {}", path_, why)};
  }
  chain_ = entry.hash;
}

std::int64_t Audit::asked(AuditEntry entry) {
  std::lock_guard lock{mutex_};
  entry.n = last_ + 1;
  append(entry);
  ++last_;
  entries_.push_back(std::move(entry));
  if (entries_.size() > most_in_memory) entries_.pop_front();
  return last_;
}

void Audit::ended(std::int64_t n, const std::string& outcome) {
  std::lock_guard lock{mutex_};
  const auto known = std::find_if(entries_.rbegin(), entries_.rend(),
                                  [&](const AuditEntry& entry) { return entry.n == n; });
  if (known == entries_.rend()) return;
  known->outcome = outcome;
  append(*known);
}

std::vector<AuditEntry> Audit::list(std::size_t limit, std::int64_t before) const {
  std::lock_guard lock{mutex_};
  std::vector<AuditEntry> found;
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && found.size() < limit; ++entry)
    if (entry->n < before) found.push_back(*entry);
  return found;
}

}  // namespace holdfast::server
