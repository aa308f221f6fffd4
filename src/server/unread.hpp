#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace holdfast::server {

/// Counts the bytes of answers that wait for their callers to read them, so that who asks and reads
/// nothing cannot take all memory. Safe to use from many threads.
class Unread {
 public:
  /// All callers together, and one of them.
  static constexpr std::size_t most = 64 * 1024 * 1024;
  static constexpr std::size_t most_of_one = 16 * 1024 * 1024;

  explicit Unread(std::size_t together = most, std::size_t of_one = most_of_one)
      : most_{together}, most_of_one_{of_one} {}

  /// Whether an answer may be made for this caller. Asked before the work is done; how large an
  /// answer becomes is known after, so each thread that answers may exceed this by one answer.
  bool has_room(const std::string& caller) const;

  /// Bytes that are counted until it is destroyed. It may outlive the connection, not this.
  class Held {
   public:
    Held(Unread& counts, std::string caller, std::size_t bytes);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Unread& counts_;
    std::string caller_;
    std::size_t bytes_;
  };
  std::shared_ptr<Held> hold(const std::string& caller, std::size_t bytes);
  std::size_t bytes() const;

 private:
  std::size_t most_;
  std::size_t most_of_one_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> of_caller_{};
  std::size_t bytes_ = 0;
};

}  // namespace holdfast::server
