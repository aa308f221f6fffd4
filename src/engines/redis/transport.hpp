#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "engines/redis/address.hpp"

namespace holdfast::redis {

/// The connection broke or could not be made. Whether the last command was carried out is not
/// known.
class Disconnected : public StoreError {
  using StoreError::StoreError;
};

/// Bytes to and from a server. Every step ends within the timeout that it was made with.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void write(std::string_view bytes) = 0;
  /// At least one byte; throws `Disconnected` if the other side has closed or nothing comes.
  virtual std::size_t read(char* into, std::size_t room) = 0;
  /// Bytes may be waiting that `fd` does not show any more.
  virtual bool has_unread() const { return false; }
  virtual int fd() const = 0;
};

/// Throws `Disconnected` if the server cannot be reached, `ConfigError` for files that cannot be
/// used.
std::unique_ptr<Transport> connect(const Address& address, const Endpoint& endpoint,
                                   Millis timeout);
/// Takes over a connected socket.
std::unique_ptr<Transport> secure(int fd, const Address& address, const Endpoint& endpoint);

}  // namespace holdfast::redis
