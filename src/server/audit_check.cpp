#include "server/audit_check.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast::server {

namespace {

class FileHash {
 public:
  FileHash() { crypto_generichash_init(state_.get(), nullptr, 0, crypto_generichash_BYTES); }
  void add(std::string_view text) {
    crypto_generichash_update(state_.get(), reinterpret_cast<const unsigned char*>(text.data()),
                              text.size());
  }
  std::string text() {
    std::array<unsigned char, crypto_generichash_BYTES> hash{};
    crypto_generichash_final(state_.get(), hash.data(), hash.size());
    std::string hex(hash.size() * 2 + 1, '\0');
    sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
    hex.pop_back();
    return hex;
  }

 private:
  // On the heap: it asks for an alignment that not every stack frame has.
  std::unique_ptr<crypto_generichash_state> state_ = std::make_unique<crypto_generichash_state>();
};

class Reader {
 public:
  Reader(const AuditHeadFile::Found& head, const std::function<void(AuditEntry)>& each)
      : head_{head}, each_{each} {}

  void add(std::string_view text) {
    hash_.add(text);
    while (!text.empty() && found_.fault.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      line_ += text.substr(0, end);
      if (line_.size() > longest_audit_line) fail("the line is too long for one of an audit log");
      const bool whole = end < text.size();
      text.remove_prefix(whole ? end + 1 : end);
      if (whole && found_.fault.empty()) take_line();
    }
  }

  AuditCheck finish() {
    if (found_.fault.empty()) compare_with_head();
    found_.file_hash = hash_.text();
    return found_;
  }

 private:
  void fail(std::string why) {
    found_.fault = std::move(why);
    found_.line = found_.end.lines + 1;
  }

  bool is_next() {
    if (found_.end.lines > 0) return is_chained(found_.end.hash, line_);
    needs_head_ = is_chained(before_first_line, line_);
    return needs_head_ || is_chained({}, line_);
  }

  void take_line() {
    if (!is_next()) return fail("the line was changed, or one before it was removed");
    AuditEntry entry;
    try {
      entry = read_audit_line(line_);
    } catch (const std::exception& error) {
      return fail(fmt::format("not a line of an audit log: {}", error.what()));
    }
    ++found_.end.lines;
    found_.end.hash = entry.hash;
    found_.bytes += static_cast<std::int64_t>(line_.size()) + 1;
    if (head_.head && found_.end.lines == head_.head->lines) at_head_ = entry.hash;
    needs_head_ = needs_head_ || (entry.who == head_begun_by && entry.what == head_begun);
    line_.clear();
    each_(std::move(entry));
  }

  void compare_with_head() {
    if (!head_.is_there && needs_head_)
      return fail(
          "the head record beside the log was removed, and lines may be missing at the end");
    if (!head_.is_there) return;
    if (!head_.head) return fail("the head record beside the log cannot be read");
    const auto missing = head_.head->lines - found_.end.lines;
    if (missing > 0)
      return fail(
          fmt::format("{} line{} removed from the end", missing, missing == 1 ? " was" : "s were"));
    if (at_head_ != head_.head->hash)
      return fail(fmt::format("the log is not the one whose line {} the head record names",
                              head_.head->lines));
    if (missing < -1 || (missing == -1 && !line_.empty()))
      return fail(fmt::format("lines were added after line {}, at which the head record ends",
                              head_.head->lines));
  }

  const AuditHeadFile::Found& head_;
  const std::function<void(AuditEntry)>& each_;
  FileHash hash_;
  AuditCheck found_;
  std::string line_;
  std::string at_head_;
  bool needs_head_ = false;
};

}  // namespace

AuditCheck check_audit(const std::string& path, const AuditHeadFile::Found& head,
                       const std::function<void(AuditEntry)>& each) {
  if (sodium_init() < 0) throw ConfigError{"libsodium cannot be initialized"};
  Reader reader{head, each};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0 && errno == ENOENT) return reader.finish();
  std::vector<char> chunk(64 * 1024);
  ssize_t size = file < 0 ? -1 : ::read(file, chunk.data(), chunk.size());
  for (; size > 0; size = ::read(file, chunk.data(), chunk.size()))
    reader.add({chunk.data(), static_cast<std::size_t>(size)});
  const std::string why = std::strerror(errno);
  if (file >= 0) ::close(file);
  if (size < 0) throw ConfigError{fmt::format("the audit log {} cannot be read: {}", path, why)};
  return reader.finish();
}

}  // namespace holdfast::server
