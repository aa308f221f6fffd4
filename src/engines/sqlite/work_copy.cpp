#include "engines/sqlite/work_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/mapped_file.hpp"
#include "engines/sqlite/page_bytes.hpp"
#include "engines/sqlite/page_file.hpp"
#include "engines/sqlite/wal_scan.hpp"
#include "engines/sqlite/whole_file.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::size_t header_size = 100;
using Header = std::array<std::uint8_t, header_size>;

void write_u32(Header& header, std::size_t at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i)
    header[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

void put_within(Header& header, std::size_t at, std::uint32_t low, std::uint32_t high,
                std::uint32_t otherwise) {
  auto value = read_u32(header, at);
  if (value < low || value > high) write_u32(header, at, otherwise);
}

/// The header as it must be, where that is known.
Header corrected(Header header, const PageFile& file) {
  std::memcpy(header.data(), "SQLite format 3", 16);
  auto size = file.page_size();
  header[16] = static_cast<std::uint8_t>(size == 65'536 ? 0 : size >> 8);
  header[17] = size == 65'536 ? 1 : 0;
  bool rollback = header[18] == 1 && header[19] == 1;
  header[18] = header[19] = rollback ? 1 : 2;
  header[20] = static_cast<std::uint8_t>(size - file.usable_size());
  header[21] = 64;
  header[22] = header[23] = 32;
  // How many pages there are counts only if it was written with the last change.
  if (read_u32(header, 24) == read_u32(header, 92))
    put_within(header, 28, 1, file.pages(), file.pages());
  put_within(header, 44, 1, 4, 4);
  put_within(header, 56, 1, 3, 1);
  return header;
}

/// What the disk does not give back becomes zeros: a bad sector must not keep us from saving the
/// rest.
void copy_bytes(const ByteFile& from, const std::string& to) {
  constexpr std::size_t large = 1 << 20, small = 4096;
  auto read = from.reader();
  auto can_read = [&](std::uint64_t at, std::span<std::uint8_t> into) {
    try {
      return read(at, into) == into.size();
    } catch (const StoreError&) {
      return false;
    }
  };
  WholeFile copy{to};
  std::vector<std::uint8_t> bytes(large);
  for (std::uint64_t at = 0; at < from.size;) {
    auto part = std::span{bytes}.first(std::min<std::uint64_t>(large, from.size - at));
    if (!can_read(at, part)) {
      part = part.first(std::min(part.size(), small));
      if (!can_read(at, part)) std::ranges::fill(part, std::uint8_t{0});
    }
    copy.append({reinterpret_cast<const char*>(part.data()), part.size()});
    at += part.size();
  }
}

/// Writes what was committed to the log into the database, as a checkpoint would. Not by SQLite,
/// which may not be able to read either.
void work_log_in(const std::string& log_path, const std::string& database) {
  auto log = ByteFile::open(log_path, O_RDONLY);
  if (!log) return;
  auto read = log->reader();
  auto scan = scan_wal(read, log->size);
  if (scan.frames == 0) return;
  auto file = open_file(database, O_RDWR);
  std::vector<std::uint8_t> frame(FrameHeader::bytes + scan.header.page_size);
  FrameHeader header;
  for (int number = 1; number <= scan.frames; ++number) {
    if (read(scan.offset_of(number), frame) != frame.size()) return;
    header = FrameHeader::parse(frame);
    auto at = static_cast<off_t>(header.page - 1) * static_cast<off_t>(scan.header.page_size);
    auto size = static_cast<ssize_t>(scan.header.page_size);
    if (::pwrite(file.get(), frame.data() + FrameHeader::bytes, scan.header.page_size, at) != size)
      throw StoreError{fmt::format("cannot write {}: {}", database, std::strerror(errno))};
  }
  auto pages = static_cast<off_t>(header.pages_after_commit);
  if (::ftruncate(file.get(), pages * static_cast<off_t>(scan.header.page_size)) != 0)
    throw StoreError{fmt::format("cannot write {}: {}", database, std::strerror(errno))};
}

}  // namespace

WorkCopy::WorkCopy(const DatabaseFile& original, const std::string& path, const SideFiles& files)
    : original_{original}, original_path_{path}, path_{files.folder() + "/repair.db"} {
  make_anew();
}

WorkCopy::~WorkCopy() {
  for (const char* end : {"", "-wal", "-shm", "-journal"}) ::unlink((path_ + end).c_str());
}

void WorkCopy::make_anew() const {
  remove_database(path_);
  copy_bytes(original_.bytes(), path_);
  copy_file(original_path_ + "-journal", path_ + "-journal");
  work_log_in(original_path_ + "-wal", path_);
}

bool WorkCopy::correct_header() const {
  Header header, right;
  {
    MappedFile bytes{path_};
    if (bytes.bytes().size() < header_size) return false;
    std::ranges::copy(bytes.bytes().first(header_size), header.begin());
    right = corrected(header, PageFile{bytes.bytes()});
  }
  if (right == header) return false;
  auto file = open_file(path_, O_WRONLY);
  if (::pwrite(file.get(), right.data(), right.size(), 0) != header_size)
    throw StoreError{fmt::format("cannot write {}", path_)};
  return true;
}

void WorkCopy::become(const std::string& other) const {
  remove_database(other);
  move_file(path_ + "-wal", other + "-wal");
  move_file(path_, other);
}

void finish_database(const std::string& path) {
  {
    Connection db{path, Connection::Mode::read_write, Durability::power_safe};
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  remove_side_files(path);
  sync_file(path);
}

void remove_side_files(const std::string& path) {
  for (const char* end : {"-wal", "-shm", "-journal"}) ::unlink((path + end).c_str());
}

}  // namespace holdfast::sqlite
