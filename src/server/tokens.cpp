#include "server/tokens.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "recovery/clock.hpp"
#include "recovery/private_content.hpp"
#include "recovery/time_text.hpp"
#include "server/problem.hpp"
#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_tokens = 1'000;
constexpr off_t largest_file = 8 * 1024 * 1024;
constexpr Millis longest_wait_for_lock{10'000};
constexpr std::string_view heading =
    "# Credentials of programs for 'holdfast serve'; 'holdfast token' changes this file.";

std::string look_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return fmt::format("{} {} {} {} {} {}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

struct Descriptor {
  explicit Descriptor(int opened) : file{opened} {}
  ~Descriptor() {
    if (file >= 0) ::close(file);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int file;
};

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw ConfigError{fmt::format("the tokens in {} cannot be used: {}", path, why)};
}

/// Whoever can write the file can make tokens, so it must be a file of ours.
std::string content_of(const std::string& path) {
  const Descriptor opened{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (opened.file < 0 && errno == ENOENT) return {};
  if (opened.file < 0)
    refuse(path, errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
  if (const auto why = why_untrusted(opened.file, path); !why.empty()) refuse(path, why);
  struct stat status {};
  if (::fstat(opened.file, &status) != 0) refuse(path, std::strerror(errno));
  if (status.st_size > largest_file)
    refuse(path,
           fmt::format("it has {} bytes; at most {} are allowed", status.st_size, largest_file));
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t got = 0;
  while (got < content.size()) {
    const auto read = ::read(opened.file, content.data() + got, content.size() - got);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) refuse(path, std::strerror(errno));
    if (read == 0) break;
    got += static_cast<std::size_t>(read);
  }
  content.resize(got);
  return content;
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path{path}.parent_path();
  return folder.empty() ? "." : folder.string();
}

/// One writer at a time, on the folder itself: a file for it could belong to another user than the
/// next one who wants it.
class WriteLock {
 public:
  explicit WriteLock(const std::string& path)
      : folder_{::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)} {
    if (folder_.file < 0)
      refuse(path, fmt::format("its folder cannot be opened: {}", std::strerror(errno)));
    const auto until = system_clock().steady() + longest_wait_for_lock;
    while (::flock(folder_.file, LOCK_EX | LOCK_NB) != 0) {
      if (system_clock().steady() > until)
        refuse(path, "another process has been changing them for 10 seconds; try again");
      std::this_thread::sleep_for(Millis{10});
    }
  }

 private:
  Descriptor folder_;
};

Problem unauthenticated(const std::string& detail) { return {401, "unauthenticated", detail}; }

TokenChange change(const ProgramToken& token, std::string_view verb, WallTime at, std::string who) {
  return {.at = at,
          .who = std::move(who),
          .what = fmt::format("token {} {}", verb, token.name),
          .details = token_json(token, at)};
}

/// What happened to `token` since it was like `before`.
void compare(const ProgramToken* before, const ProgramToken& token, WallTime since,
             std::vector<TokenChange>& found) {
  if (!before && token.created > since)
    found.push_back(change(token, "add", token.created, token.created_by));
  if (token.revoked && !(before && before->revoked) && *token.revoked > since)
    found.push_back(change(token, "revoke", *token.revoked, token.revoked_by));
}

}  // namespace

void Tokens::refresh() {
  const auto look = look_of(path_);
  if (was_read_ && look == read_at_) return;
  was_read_ = false;
  read();
  read_at_ = look;
  was_read_ = true;
}

void Tokens::read() {
  lines_.clear();
  faults_.clear();
  by_fingerprint_.clear();
  const auto content = content_of(path_);
  std::set<std::string> names;
  std::size_t at = 0;
  for (int number = 1; at < content.size(); ++number) {
    const auto end = std::min(content.find('\n', at), content.size());
    Line line{.text = content.substr(at, end - at)};
    at = end + 1;
    if (line.text.empty() || line.text.front() == '#') continue;
    try {
      auto token = std::make_shared<const ProgramToken>(read_token(line.text));
      if (names.contains(token->name) || by_fingerprint_.contains(token->fingerprint))
        throw invalid(fmt::format("there is a line for the token '{}' before it", token->name));
      names.insert(token->name);
      by_fingerprint_[token->fingerprint] = token;
      line.token = std::move(token);
    } catch (const std::exception& error) {
      faults_.push_back(fmt::format("{}, line {}: {}", path_, number, error.what()));
    }
    lines_.push_back(std::move(line));
  }
}

void Tokens::save() {
  std::string text = std::string{heading} + "\n";
  for (const auto& line : lines_) text += (line.token ? token_line(*line.token) : line.text) + "\n";
  write_private_file(path_, text);
  was_read_ = false;
  refresh();
}

Tokens::Listed Tokens::list() {
  std::lock_guard lock{mutex_};
  refresh();
  Listed listed{.faults = faults_};
  for (const auto& line : lines_)
    if (line.token) listed.tokens.push_back(*line.token);
  std::ranges::sort(listed.tokens, {}, &ProgramToken::name);
  return listed;
}

std::shared_ptr<const ProgramToken> Tokens::find(std::string_view secret, WallTime now) {
  // Found by its fingerprint: comparing secrets would tell by its time how near one is.
  const auto key = fingerprint(secret);
  std::lock_guard lock{mutex_};
  refresh();
  const auto found = by_fingerprint_.find(key);
  if (found == by_fingerprint_.end())
    throw unauthenticated(
        "this server does not know that token; 'holdfast token list' names those "
        "that it knows");
  const auto& token = *found->second;
  if (token.revoked)
    throw unauthenticated(
        fmt::format("the token '{}' was revoked at {}", token.name, iso8601(*token.revoked)));
  if (token.state(now) != "active")
    throw unauthenticated(
        fmt::format("the token '{}' expired at {}", token.name, iso8601(*token.expires)));
  used_[key] = now;
  return found->second;
}

bool Tokens::is_active(const ProgramToken& token, WallTime now) {
  std::lock_guard lock{mutex_};
  refresh();
  const auto found = by_fingerprint_.find(token.fingerprint);
  return found != by_fingerprint_.end() && found->second->state(now) == "active";
}

std::optional<WallTime> Tokens::last_used(const ProgramToken& token) {
  std::lock_guard lock{mutex_};
  const auto found = used_.find(token.fingerprint);
  if (found == used_.end()) return {};
  return found->second;
}

Tokens::Made Tokens::add(ProgramToken token) {
  validate(token, token.created);
  Made made{.secret = std::string{token_prefix} + random_secret()};
  token.fingerprint = fingerprint(made.secret);
  if (!std::filesystem::exists(folder_of(path_))) make_private_folder(folder_of(path_));
  std::lock_guard lock{mutex_};
  const WriteLock writing{path_};
  was_read_ = false;  // what it looks like does not tell of a change in the same moment
  refresh();
  for (const auto& line : lines_)
    if (line.token && line.token->name == token.name &&
        line.token->state(token.created) == "active")
      throw InvalidRequest{fmt::format(
          "there is an active token '{}'; revoke it first, or choose another name", token.name)};
  std::erase_if(lines_,
                [&](const auto& line) { return line.token && line.token->name == token.name; });
  if (lines_.size() >= most_tokens)
    std::erase_if(lines_, [&](const auto& line) {
      return line.token && line.token->state(token.created) != "active";
    });
  if (lines_.size() >= most_tokens)
    throw InvalidRequest{
        fmt::format("there are {} tokens; revoke some that are not needed first", lines_.size())};
  made.token = token;
  lines_.push_back({.token = std::make_shared<const ProgramToken>(std::move(token))});
  save();
  if (known_) (*known_)[made.token.fingerprint] = made.token;
  return made;
}

std::optional<ProgramToken> Tokens::revoke(const std::string& name, const std::string& by,
                                           WallTime now) {
  std::lock_guard lock{mutex_};
  const WriteLock writing{path_};
  was_read_ = false;
  refresh();
  for (auto& line : lines_) {
    if (!line.token || line.token->name != name || line.token->revoked) continue;
    auto token = *line.token;
    token.revoked = now;
    token.revoked_by = by;
    line.token = std::make_shared<const ProgramToken>(token);
    save();
    if (known_) (*known_)[token.fingerprint] = token;
    return token;
  }
  return {};
}

std::vector<TokenChange> Tokens::changes(WallTime since) {
  std::lock_guard lock{mutex_};
  refresh();
  std::vector<TokenChange> found;
  std::map<std::string, ProgramToken> now;
  for (const auto& [key, token] : by_fingerprint_) {
    const ProgramToken* before = nullptr;
    if (known_)
      if (const auto at = known_->find(key); at != known_->end()) before = &at->second;
    compare(before, *token, known_ ? WallTime{} : since, found);
    now[key] = *token;
  }
  if (known_)
    for (const auto& [key, token] : *known_)
      if (!now.contains(key) && !token.revoked)
        found.push_back(change(token, "remove", system_clock().wall(), "unknown"));
  known_ = std::move(now);
  std::ranges::stable_sort(found, {}, &TokenChange::at);
  return found;
}

std::vector<std::string> faults_of(Tokens& tokens) {
  try {
    return tokens.list().faults;
  } catch (const ConfigError& error) {
    return {error.what()};
  }
}

}  // namespace holdfast::server
