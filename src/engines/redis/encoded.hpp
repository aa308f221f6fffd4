#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Parts of a command as they go over the wire. A script may have thousands of arguments: they are
/// written once, into one piece of memory.
class Encoded {
 public:
  Encoded& add(std::string_view part) {
    add_head('$', part.size());
    bytes_ += part;
    bytes_ += "\r\n";
    ++parts_;
    return *this;
  }

  std::size_t parts() const { return parts_; }
  const std::string& bytes() const { return bytes_; }

  /// What a command of so many parts begins with.
  static std::string begin(std::size_t parts) {
    Encoded head;
    head.add_head('*', parts);
    return std::move(head.bytes_);
  }

 private:
  void add_head(char what, std::size_t number) {
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    bytes_ += what;
    bytes_.append(digits, end);
    bytes_ += "\r\n";
  }

  std::string bytes_;
  std::size_t parts_ = 0;
};

}  // namespace holdfast::redis
