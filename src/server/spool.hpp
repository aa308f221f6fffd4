#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::server {

/// Something too large for memory, on its way to a caller: written once, then read once. It is a
/// file without a name, so nothing is left of it however this process ends.
class SpooledFile {
 public:
  /// Of files like this one, those that are open. Throws `Problem` if it cannot be made.
  SpooledFile(const std::string& folder, std::shared_ptr<std::atomic<int>> open);
  ~SpooledFile();
  SpooledFile(const SpooledFile&) = delete;
  SpooledFile& operator=(const SpooledFile&) = delete;

  /// Throws `Problem` if there is no room, or it would become larger than is allowed.
  void add(std::string_view piece);
  std::uint64_t size() const { return size_; }
  /// The next bytes; empty at the end. Throws `std::system_error` if they cannot be read.
  std::string next();

 private:
  std::shared_ptr<std::atomic<int>> open_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t read_ = 0;
};

/// Makes them, so many at a time. Safe to use from many threads.
class Spool {
 public:
  explicit Spool(std::string folder) : folder_{std::move(folder)} {}
  /// Throws `Problem` where too many are open.
  std::shared_ptr<SpooledFile> file() const;

 private:
  std::string folder_;
  std::shared_ptr<std::atomic<int>> open_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace holdfast::server
