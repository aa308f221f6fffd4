#include "engines/sqlite/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sqlite/file_lock.hpp"

namespace holdfast::sqlite {

MappedFile::MappedFile(const std::string& path) {
  auto file = open_file(path, O_RDONLY);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || info.st_size == 0) return;
  auto size = static_cast<std::size_t>(info.st_size);
  auto at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED)
    throw StoreError{fmt::format("cannot map {}: {}", path, std::strerror(errno))};
  bytes_ = {static_cast<const std::uint8_t*>(at), size};
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace holdfast::sqlite
