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
      size_{size},
      // Classic queues do not count: all they say is that it is not the first time.
      deliveries_{std::max(properties_.returns, redelivered ? 1 : 0) + 1} {}

void RabbitDelivery::prepare(const std::string& folder) {
  if (folder.empty()) {
    body_.reserve(size_);
    return;
  }
  file_ = FileDescriptor{::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
  if (!file_)
    throw BrokerError{fmt::format("cannot make a file for a large message in {}: {}", folder,
                                  std::strerror(errno))};
}

void RabbitDelivery::append(std::string_view piece) {
  written_ += piece.size();
  if (!file_) {
    body_.append(piece);
    return;
  }
  while (!piece.empty()) {
    auto some = ::write(file_.get(), piece.data(), piece.size());
    if (some < 0 && errno == EINTR) continue;
    if (some < 0)
      throw BrokerError{
          fmt::format("cannot write a large message to its file: {}", std::strerror(errno))};
    piece.remove_prefix(static_cast<std::size_t>(some));
  }
}

std::size_t RabbitDelivery::read(std::uint64_t offset, std::span<char> into) {
  if (offset >= size_) return 0;
  auto wanted = std::min<std::uint64_t>(into.size(), size_ - offset);
  if (!file_) return body_.copy(into.data(), wanted, offset);
  std::size_t got = 0;
  while (got < wanted) {
    auto some =
        ::pread(file_.get(), into.data() + got, wanted - got, static_cast<off_t>(offset + got));
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0)
      throw BrokerError{fmt::format("the body of message {} cannot be read: {}", properties_.id,
                                    some < 0 ? std::strerror(errno) : "its file is too short")};
    got += static_cast<std::size_t>(some);
  }
  return got;
}

}  // namespace holdfast::rabbitmq
