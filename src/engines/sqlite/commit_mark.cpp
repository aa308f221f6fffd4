#include "engines/sqlite/commit_mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::sqlite {

namespace {

constexpr std::uint64_t layout = 0x686f6c6466617301;  // changes with the bytes below

/// What is in the file: numbers, and their checksum as the last one. It is read on the host that
/// wrote it.
using Words = std::array<std::uint64_t, 12>;

std::uint64_t sum_of(const Words& words) {
  auto bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  auto sum = add_to_sum({1, 1}, {bytes, sizeof words - sizeof words.back()}, false);
  return std::uint64_t{sum.first} << 32 | sum.second;
}

Words words_of(const CommitMark& mark) {
  const auto& database = mark.database;
  Words words{layout,
              mark.salt.first,
              mark.salt.second,
              static_cast<std::uint64_t>(mark.frames),
              static_cast<std::uint64_t>(mark.backfilled),
              database.device,
              database.inode,
              static_cast<std::uint64_t>(database.bytes),
              static_cast<std::uint64_t>(database.seconds),
              static_cast<std::uint64_t>(database.nanoseconds),
              mark.telling};
  words.back() = sum_of(words);
  return words;
}

CommitMark mark_of(const Words& words) {
  CommitMark mark;
  mark.salt = {static_cast<std::uint32_t>(words[1]), static_cast<std::uint32_t>(words[2])};
  mark.frames = static_cast<int>(words[3]);
  mark.backfilled = static_cast<int>(words[4]);
  mark.database = {words[5], words[6], static_cast<std::int64_t>(words[7]),
                   static_cast<std::int64_t>(words[8]), static_cast<std::int64_t>(words[9])};
  mark.telling = words[10] != 0;
  return mark;
}

/// Times of files are taken from the clock that is read here, so a write from now on has a later
/// one. Where only seconds are kept, a second may be two.
bool is_past(const FileStamp& stamp) {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (stamp.nanoseconds == 0) return now.tv_sec > stamp.seconds + 2;
  return now.tv_sec > stamp.seconds ||
         (now.tv_sec == stamp.seconds && now.tv_nsec > stamp.nanoseconds);
}

std::optional<WalHeader> header_of(int log) {
  std::uint8_t bytes[WalHeader::bytes] = {};
  if (::pread(log, bytes, sizeof bytes, 0) != sizeof bytes) return {};
  return WalHeader::parse(bytes);
}

/// The salt that a frame of the log has; nothing if it ends no commit.
std::optional<WalSalt> salt_of_commit(int log, int frame, std::uint32_t page_size) {
  std::uint8_t bytes[FrameHeader::bytes] = {};
  auto offset = WalScan{.header = {.page_size = page_size}}.offset_of(frame);
  if (::pread(log, bytes, sizeof bytes, static_cast<off_t>(offset)) != sizeof bytes) return {};
  auto header = FrameHeader::parse(bytes);
  if (header.pages_after_commit == 0) return {};
  return header.salt;
}

std::optional<CommitMark> read_mark(int file) {
  Words words{};
  if (::pread(file, words.data(), sizeof words, 0) != sizeof words) return {};
  if (words.front() != layout || words.back() != sum_of(words)) return {};
  return mark_of(words);
}

}  // namespace

std::optional<FileStamp> FileStamp::of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return FileStamp{info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                   info.st_mtim.tv_nsec};
}

std::optional<CommitMark> CommitMark::read(const SideFiles& files) {
  auto file = look_at_private(files.commits());
  return file ? read_mark(file.get()) : std::nullopt;
}

void CommitMark::forget(const SideFiles& files) {
  if (::unlink(files.commits().c_str()) != 0 && errno != ENOENT)
    throw StoreError{fmt::format("cannot remove {}: {}", files.commits(), std::strerror(errno))};
}

CommitNotes::CommitNotes(const SideFiles& files, std::string database)
    : file_{try_open_private(files.commits(), O_RDWR | O_CREAT)}, database_{std::move(database)} {}

void CommitNotes::before_commit() {
  before_ = FileStamp::of(database_);
  telling_ = before_ && is_past(*before_);
}

void CommitNotes::committed(int frames) {
  if (!file_ || !before_ || !open_log()) return;
  auto salt = salt_of_commit(log_.get(), frames, page_size_);
  if (!salt) return;
  // Others commit to the same log, and copy it.
  if (auto last = read_mark(file_.get())) mark_ = *last;
  if (*salt != mark_.salt) mark_.backfilled = 0;
  mark_.salt = *salt;
  mark_.frames = frames;
  mark_.database = *before_;
  mark_.telling = telling_;
  write();
}

bool CommitNotes::open_log() {
  if (page_size_ != 0) return true;
  log_ = FileDescriptor{::open((database_ + "-wal").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  auto header = log_ ? header_of(log_.get()) : std::nullopt;
  if (header) page_size_ = header->page_size;
  return header.has_value();
}

void CommitNotes::copied(int frames) {
  if (mark_.frames == 0 || frames <= mark_.backfilled) return;
  mark_.backfilled = frames;
  write();
}

void CommitNotes::write() const {
  auto words = words_of(mark_);
  [[maybe_unused]] auto put = ::pwrite(file_.get(), words.data(), sizeof words, 0);
}

}  // namespace holdfast::sqlite
