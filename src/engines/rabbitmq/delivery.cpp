#include "engines/rabbitmq/delivery.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace holdfast::rabbitmq {

RabbitDelivery::RabbitDelivery(std::string queue, Tag tag, ReceivedProperties properties,
                               std::uint64_t size, bool redelivered)
    : queue_{std::move(queue)},
      tag_{tag},
      properties_{std::move(properties)},
      body_{.size = size},
      // Classic queues do not count: all they say is that it is not the first time.
      deliveries_{std::max(properties_.returns, redelivered ? 1 : 0) + 1} {}

void RabbitDelivery::prepare(const std::string& folder) {
  if (folder.empty()) {
    body_.bytes.reserve(body_.size);
    return;
  }
  body_.file = FileDescriptor{::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
  if (!body_.file)
    throw BrokerError{fmt::format("cannot make a file for a large message in {}: {}", folder,
                                  std::strerror(errno))};
}

void RabbitDelivery::append(std::string_view piece) {
  written_ += piece.size();
  if (!body_.file) {
    body_.bytes.append(piece);
    return;
  }
  while (!piece.empty()) {
    auto some = ::write(body_.file.get(), piece.data(), piece.size());
    if (some < 0 && errno == EINTR) continue;
    if (some < 0)
      throw BrokerError{
          fmt::format("cannot write a large message to its file: {}", std::strerror(errno))};
    piece.remove_prefix(static_cast<std::size_t>(some));
  }
}

}  // namespace holdfast::rabbitmq
