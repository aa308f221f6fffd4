#include "server/audit_head.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

/// A page each, so that no torn write reaches both.
constexpr std::size_t slot_size = 4'096;
constexpr std::size_t slots = 2;

std::string checksum(const std::string& text) { return fingerprint("head " + text).substr(0, 16); }

std::string slot_of(const AuditHead& head) {
  const auto text = fmt::format("{} {}", head.lines, head.hash.empty() ? "-" : head.hash);
  auto slot = fmt::format("{} {}", text, checksum(text));
  slot.resize(slot_size - 1, ' ');
  return slot + "\n";
}

std::optional<AuditHead> head_in(std::string_view slot) {
  const auto first = slot.find(' ');
  if (first == slot.npos) return {};
  const auto second = slot.find(' ', first + 1);
  if (second == slot.npos) return {};
  AuditHead head;
  const auto read = std::from_chars(slot.data(), slot.data() + first, head.lines);
  if (read.ec != std::errc{} || read.ptr != slot.data() + first || head.lines < 0) return {};
  head.hash = slot.substr(first + 1, second - first - 1);
  if (head.hash == "-") head.hash.clear();
  return slot == slot_of(head) ? std::optional{head} : std::nullopt;
}

}  // namespace

AuditHeadFile::~AuditHeadFile() {
  if (file_ >= 0) ::close(file_);
}

AuditHeadFile::Found AuditHeadFile::read() const {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return {.is_there = ::access(path_.c_str(), F_OK) == 0};
  Found found{.is_there = true};
  std::array<char, slots * slot_size> text{};
  const auto size = ::pread(file, text.data(), text.size(), 0);
  ::close(file);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto begin = slot * slot_size;
    if (size < 0 || static_cast<std::size_t>(size) < begin + slot_size) break;
    const auto head = head_in({text.data() + begin, slot_size});
    if (head && (!found.head || head->lines > found.head->lines)) found.head = head;
  }
  return found;
}

void AuditHeadFile::create(const AuditHead& head) {
  write_private_file(path_, slot_of(head) + slot_of(head));
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

bool AuditHeadFile::write(const AuditHead& head) {
  if (file_ < 0) file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file_ < 0) return false;
  const auto slot = slot_of(head);
  const auto place = static_cast<off_t>(static_cast<std::size_t>(head.lines) % slots * slot_size);
  return ::pwrite(file_, slot.data(), slot.size(), place) == static_cast<ssize_t>(slot.size()) &&
         ::fdatasync(file_) == 0;
}

}  // namespace holdfast::server
