#include "engines/redis/connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

namespace holdfast::redis {

namespace {

bool readable(int fd, int timeout) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, timeout) > 0;
}

}  // namespace

std::string_view rights_hint(std::string_view answer) {
  // The second is about a command within a script, which versions before 7.2 do not name.
  if (answer.starts_with("NOPERM") || answer.find("executing the script can't") != answer.npos ||
      answer.find("has no permissions to") != answer.npos)
    return ". The user lacks this right; docs/redis.md#rights lists those that it needs, and ACL "
           "LOG "
           "on the server shows what was refused";
  return {};
}

void Connection::FreeReader::operator()(redisReader* reader) const { ::redisReaderFree(reader); }

Connection::Connection(const Address& address, const Endpoint& endpoint, Millis timeout)
    : endpoint_{endpoint},
      transport_{connect(address, endpoint, timeout)},
      reader_{::redisReaderCreate()} {
  log_in(address);
}

void Connection::log_in(const Address& address) {
  if (!address.password.empty() || !address.user.empty()) {
    auto reply = address.user.empty() ? call({"AUTH", address.password})
                                      : call({"AUTH", address.user, address.password});
    if (reply.is_error())
      throw StoreError{fmt::format(
          "the Redis server at {} does not accept the user or the password", endpoint_.text())};
  }
  if (address.database != 0)
    expect({"SELECT", std::to_string(address.database)}, "cannot use the database");
}

void Connection::expect(const Command& command, const std::string& trouble) {
  auto reply = call(command);
  if (!reply.is_error()) return;
  auto why = reply.text();
  if (why.starts_with("NOAUTH"))
    throw StoreError{fmt::format("the Redis server at {} asks for a password", endpoint_.text())};
  throw StoreError{fmt::format("{} of the Redis server at {}: {}{}", trouble, endpoint_.text(), why,
                               rights_hint(why))};
}

void Connection::send(std::span<const std::string> command) {
  Encoded parts;
  for (const auto& part : command) parts.add(part);
  send(parts, {});
}

void Connection::send(const Encoded& first_parts, const Encoded& others) {
  unsent_ += Encoded::begin(first_parts.parts() + others.parts());
  unsent_ += first_parts.bytes();
  unsent_ += others.bytes();
}

bool Connection::parse(void** reply) {
  if (::redisReaderGetReply(reader_.get(), reply) != REDIS_OK)
    throw Disconnected{fmt::format("the server at {} does not speak Redis' protocol: {}",
                                   endpoint_.text(), reader_->errstr)};
  return *reply != nullptr;
}

void Connection::flush() {
  if (unsent_.empty()) return;
  transport_->write(unsent_);
  unsent_.clear();
}

Reply Connection::receive() {
  flush();
  void* reply = nullptr;
  while (!parse(&reply)) {
    std::array<char, 65'536> bytes;
    auto got = transport_->read(bytes.data(), bytes.size());
    ::redisReaderFeed(reader_.get(), bytes.data(), got);
  }
  return Reply{static_cast<redisReply*>(reply)};
}

Reply Connection::call(const Command& command) {
  send(command);
  return receive();
}

bool Connection::ready() const {
  return reader_->pos < reader_->len || transport_->has_unread() || readable(fd(), 0);
}

bool Connection::quiet() const { return !ready(); }

void Connection::hang_up() {
  constexpr int moment_ms = 200;
  ::shutdown(fd(), SHUT_WR);
  readable(fd(), moment_ms);
}

}  // namespace holdfast::redis
