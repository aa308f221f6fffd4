#include "server/spool.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>

#include "server/problem.hpp"

namespace holdfast::server {

namespace {

/// Callers may be slow, and each open file takes room on the disk; while it is written it also
/// takes a thread of those that answer.
constexpr int most_open = 4;
constexpr std::uint64_t largest_spool = 4ULL << 30;
constexpr std::size_t piece_bytes = 256 * 1024;

Problem no_room(int error) {
  return {507, "no_room",
          fmt::format("the server has no room to prepare the file: {}",
                      std::generic_category().message(error))};
}

/// A file system that has no files without names takes one that is removed at once.
int nameless_file(const std::string& folder) {
  if (const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); file >= 0)
    return file;
  auto pattern = folder + "/spool-XXXXXX";
  const int file = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(pattern.c_str());
  return file;
}

}  // namespace

SpooledFile::SpooledFile(const std::string& folder, std::shared_ptr<std::atomic<int>> open)
    : open_{std::move(open)}, file_{nameless_file(folder)} {
  if (file_ < 0) throw no_room(errno);
  ++*open_;
}

SpooledFile::~SpooledFile() {
  ::close(file_);
  --*open_;
}

void SpooledFile::add(std::string_view piece) {
  if (size_ + piece.size() > largest_spool)
    throw Problem{413, "too_large",
                  fmt::format("the file has more than {} bytes; read it with 'holdfast batch "
                              "output', or from where it is kept",
                              largest_spool)};
  while (!piece.empty()) {
    const auto written = ::write(file_, piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw no_room(errno);
    size_ += static_cast<std::uint64_t>(written);
    piece.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string SpooledFile::next() {
  std::string piece(std::min<std::uint64_t>(piece_bytes, size_ - read_), '\0');
  const auto got =
      piece.empty() ? 0 : ::pread(file_, piece.data(), piece.size(), static_cast<off_t>(read_));
  if (got < 0 || (got == 0 && !piece.empty()))
    throw std::system_error{got < 0 ? errno : EIO, std::generic_category(), "reading a spool"};
  piece.resize(static_cast<std::size_t>(got));
  read_ += piece.size();
  return piece;
}

std::shared_ptr<SpooledFile> Spool::file() const {
  if (*open_ >= most_open)
    throw Problem{503, "busy", "too many files are being downloaded; try again later"};
  return std::make_shared<SpooledFile>(folder_, open_);
}

}  // namespace holdfast::server
