#include "transactions/message_body.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <holdfast/broker.hpp>

namespace holdfast {

std::size_t MessageBody::read(std::uint64_t offset, std::span<char> into,
                              const std::string& id) const {
  if (offset >= size) return 0;
  auto wanted = std::min<std::uint64_t>(into.size(), size - offset);
  if (!file) return bytes.copy(into.data(), wanted, offset);
  std::size_t got = 0;
  while (got < wanted) {
    auto some =
        ::pread(file.get(), into.data() + got, wanted - got, static_cast<off_t>(offset + got));
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0)
      throw BrokerError{fmt::format("the body of message {} cannot be read: {}", id,
                                    some < 0 ? std::strerror(errno) : "its file is too short")};
    got += static_cast<std::size_t>(some);
  }
  return got;
}

}  // namespace holdfast
