#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "recovery/file_lock.hpp"

namespace holdfast {

/// The bytes of a message that was delivered: in memory, or in a file where they are many.
struct MessageBody {
  std::uint64_t size = 0;
  std::string bytes{};
  FileDescriptor file{};  ///< if it is open, they are there

  /// See `Delivery::read`; `id` is that of the message, for the error.
  std::size_t read(std::uint64_t offset, std::span<char> into, const std::string& id) const;
};

}  // namespace holdfast
