#include "server/login_audit.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "recovery/clock.hpp"
#include "server/users.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_lines_waiting = 256;
constexpr std::size_t most_lines = 4;

AuditEntry entry_of(const FailedLogins::Line& line) {
  JsonObject details;
  if (!line.user.empty()) details.text("user", line.user);
  details.number("failed", line.failed).number("refused", line.refused);
  return {.at = system_clock().wall(),
          .who = "unknown",
          .from = line.from.empty() ? "several addresses" : line.from,
          .what = line.way,
          .details = details.str()};
}

}  // namespace

void FailedLogins::add(const std::string& way, const std::string& user, const std::string& from,
                       bool refused) {
  // What is not a name may be a password that was typed into the wrong field.
  const auto name = user.empty() || is_user_name(user) ? user : "(not a user name)";
  put_back({name, from, way, refused ? 0 : 1, refused ? 1 : 0});
}

void FailedLogins::put_back(const Line& line) {
  const auto key = fmt::format("{} {} {}", line.from, line.way, line.user);
  auto place = lines_.find(key);
  if (place == lines_.end() && !line.from.empty() && lines_.size() < most_lines_waiting)
    place = lines_.emplace(key, Line{line.user, line.from, line.way}).first;
  auto& sum = place == lines_.end() ? others_ : place->second;
  sum.failed += line.failed;
  sum.refused += line.refused;
}

std::optional<Millis> FailedLogins::due() const {
  if (lines_.empty() && others_.failed + others_.refused == 0) return {};
  return next_;
}

std::vector<FailedLogins::Line> FailedLogins::take(Millis now) {
  std::vector<Line> taken;
  for (auto& [key, line] : lines_) taken.push_back(std::move(line));
  lines_.clear();
  std::ranges::stable_sort(taken, std::ranges::greater{},
                           [](const Line& line) { return line.failed + line.refused; });
  for (; taken.size() > most_lines; taken.pop_back()) {
    others_.failed += taken.back().failed;
    others_.refused += taken.back().refused;
  }
  if (others_.failed + others_.refused > 0) {
    taken.push_back(others_);
    taken.back().way = "POST /v1/login";
  }
  others_ = {};
  next_ = now + pause;
  return taken;
}

LoginAudit::LoginAudit(Audit& audit, std::function<void(const std::string&)> trouble)
    : audit_{audit}, trouble_{std::move(trouble)}, thread_{[this](std::stop_token stop) {
        run(stop);
      }} {}

LoginAudit::~LoginAudit() {
  thread_.request_stop();
  thread_.join();
  std::lock_guard lock{mutex_};
  if (waiting_.due()) flush();
}

void LoginAudit::in(const std::string& way, const std::string& user, const std::string& from) {
  audit_.note({.at = system_clock().wall(), .who = "operator/" + user, .from = from, .what = way},
              "logged in");
}

void LoginAudit::out(const std::string& user, const std::string& from) {
  audit_.note({.at = system_clock().wall(),
               .who = "operator/" + user,
               .from = from,
               .what = "POST /v1/logout"},
              "logged out");
}

void LoginAudit::failed(const std::string& way, const std::string& user, const std::string& from,
                        bool refused) {
  std::lock_guard lock{mutex_};
  waiting_.add(way, user, from, refused);
  if (*waiting_.due() <= system_clock().steady())
    flush();
  else
    changed_.notify_all();
}

void LoginAudit::flush() {
  const auto lines = waiting_.take(system_clock().steady());
  std::string trouble;
  for (const auto& line : lines) {
    try {
      if (trouble.empty()) audit_.note(entry_of(line), "refused");
    } catch (const StoreError& error) {
      trouble = error.what();
    }
    if (!trouble.empty()) waiting_.put_back(line);
  }
  if (!trouble.empty()) trouble_(trouble);
}

void LoginAudit::run(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    const auto due = waiting_.due();
    if (!due) {
      changed_.wait(lock, stop, [this] { return waiting_.due().has_value(); });
      continue;
    }
    const auto left = *due - system_clock().steady();
    if (left <= Millis{0})
      flush();
    else
      changed_.wait_for(lock, stop, left, [] { return false; });
  }
}

}  // namespace holdfast::server
