#include "board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::bench {

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Board::Board(const std::string& file) {
  int fd = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  void* place = MAP_FAILED;
  if (fd >= 0 && ::ftruncate(fd, sizeof(Notices)) == 0)
    place = ::mmap(nullptr, sizeof(Notices), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (place == MAP_FAILED)
    throw std::system_error{errno, std::generic_category(), "share memory by " + file};
  ::close(fd);
  notices_ = static_cast<Notices*>(place);
}

Board::~Board() { ::munmap(notices_, sizeof(Notices)); }

}  // namespace holdfast::bench
