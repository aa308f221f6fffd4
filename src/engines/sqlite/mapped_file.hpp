#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace holdfast::sqlite {

/// The bytes of a file that nobody changes meanwhile, for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace holdfast::sqlite
