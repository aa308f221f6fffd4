#include "engines/redis/server.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace holdfast::redis {

namespace {

constexpr Millis patience{10'000};
constexpr std::size_t idle_kept = 32;

/// False where that is not to be learned.
bool only_replicates(Connection& connection) {
  auto role = connection.call({"ROLE"});
  return !role.is_error() && role.size() > 0 && role[0].text() == "slave";
}

}  // namespace

std::optional<Endpoint> moved_to(std::string_view text, const Endpoint& from) {
  if (!text.starts_with("MOVED ")) return {};
  auto space = text.rfind(' ');
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon < space) return {};
  Endpoint to;
  to.host = text.substr(space + 1, colon - space - 1);
  if (to.host.empty()) to.host = from.host;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), to.port);
  return to;
}

Server::Server(Address address)
    : address_{std::move(address)}, current_{address_.endpoints.front()} {}

std::unique_ptr<Connection> Server::connect() {
  ConnectionPtr replica;
  for (std::size_t tried = 0;; ++tried) {
    Endpoint endpoint;
    {
      std::lock_guard lock{mutex_};
      endpoint = current_;
    }
    bool last = tried >= address_.endpoints.size();
    try {
      auto connection = std::make_unique<Connection>(address_, endpoint, patience);
      if (address_.endpoints.size() == 1 || !only_replicates(*connection)) return connection;
      replica = std::move(connection);
    } catch (const Disconnected&) {
      if (last && !replica) throw;
    }
    if (last && replica) return replica;  // it can be looked at, at least
    look_elsewhere();
  }
}

/// The node that we were told of is gone, or is not the one that takes writes any more.
void Server::look_elsewhere() {
  std::lock_guard lock{mutex_};
  idle_.clear();
  next_endpoint_ = (next_endpoint_ + 1) % address_.endpoints.size();
  current_ = address_.endpoints[next_endpoint_];
}

bool Server::is_current(const Connection& connection) const {
  std::lock_guard lock{mutex_};
  return connection.endpoint() == current_;
}

Server::ConnectionPtr Server::borrow() {
  for (;;) {
    ConnectionPtr connection;
    {
      std::lock_guard lock{mutex_};
      if (idle_.empty()) break;
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    // One that broke while nobody used it tells so before anything is sent.
    if (connection->quiet()) return connection;
  }
  return connect();
}

void Server::give_back(ConnectionPtr connection) {
  std::lock_guard lock{mutex_};
  if (idle_.size() < idle_kept && connection->endpoint() == current_)
    idle_.push_back(std::move(connection));
}

bool Server::redirected(const Value& answer) {
  // It has done nothing, so another may be asked for the same.
  if (answer.text().starts_with("READONLY") && address_.endpoints.size() > 1) {
    look_elsewhere();
    return true;
  }
  std::lock_guard lock{mutex_};
  auto to = moved_to(answer.text(), current_);
  if (!to) return false;
  current_ = *to;
  idle_.clear();
  return true;
}

void Server::fail(const Value& answer, std::string_view what) {
  auto text = answer.text();
  if (text.starts_with("OOM"))
    // How much of it is history, and how much of others, cannot be known.
    throw StoreFull{fmt::format("the Redis server's memory is used up (maxmemory); new tasks are "
                                "refused, running ones can still be settled. Raise maxmemory of {} "
                                "or lower the retention limits",
                                address_.name()),
                    false};
  // Nobody refused: who has the store could not be asked, so others were, again and again.
  if (text.starts_with("MOVED ")) {
    std::lock_guard lock{mutex_};
    auto home = moved_to(text, current_);
    throw StoreError{
        fmt::format("cannot reach {}, the node of the cluster that has the store in {}; it can be "
                    "used again when that node is back or a replica has taken its place",
                    home ? home->text() : std::string{text}, address_.name())};
  }
  // A node that is cut off from most others says so; those may be well.
  if (text.starts_with("CLUSTERDOWN")) look_elsewhere();
  // Following it would run a script where only some of the keys have arrived.
  if (text.starts_with("ASK "))
    throw StoreError{
        fmt::format("the store in {} is being moved to another node of the cluster; it can be used "
                    "again when all of it has arrived",
                    address_.name())};
  if (text.starts_with("READONLY"))
    throw StoreReadOnly{
        fmt::format("the Redis server at {} is a replica, which takes no writes; name its primary "
                    "in the address, or both: {}",
                    address_.name(), text)};
  throw StoreError{fmt::format("the Redis server at {} refused {}: {}{}", address_.name(), what,
                               text, rights_hint(text))};
}

/// A connection on which something went wrong is not used again: an answer may still come.
template <class F>
auto Server::with_connection(F&& talk) {
  auto connection = borrow();
  try {
    auto answer = talk(*connection);
    give_back(std::move(connection));
    return answer;
  } catch (const Disconnected& error) {
    throw Disconnected{fmt::format("{}: {}", address_.name(), error.what())};
  }
}

Reply Server::call(const Command& command) {
  for (int redirections = 0;; ++redirections) {
    auto reply = with_connection([&](Connection& connection) { return connection.call(command); });
    if (!reply.is_error()) return reply;
    if (redirections >= most_redirections || !redirected(reply)) fail(reply, command.front());
  }
}

std::vector<Reply> Server::call_all(std::span<const Command> commands) {
  if (commands.empty()) return {};
  for (int redirections = 0;; ++redirections) {
    auto replies = with_connection([&](Connection& connection) {
      for (const auto& command : commands) connection.send(command);
      std::vector<Reply> answers;
      for (std::size_t i = 0; i < commands.size(); ++i) answers.push_back(connection.receive());
      return answers;
    });
    auto wrong = std::ranges::find_if(replies, &Reply::is_error);
    if (wrong == replies.end()) return replies;
    if (redirections >= most_redirections || !redirected(*wrong))
      fail(*wrong, commands[static_cast<std::size_t>(wrong - replies.begin())].front());
  }
}

Reply Server::run(const Script& script, const Encoded& key_and_arguments) {
  constexpr const char* one_key = "1";
  for (int redirections = 0;; ++redirections) {
    auto reply = with_connection([&](Connection& connection) {
      connection.send(Encoded{}.add("EVALSHA").add(script.sha()).add(one_key), key_and_arguments);
      auto answer = connection.receive();
      if (!answer.is_error() || !answer.text().starts_with("NOSCRIPT")) return answer;
      connection.send(Encoded{}.add("EVAL").add(script.text()).add(one_key), key_and_arguments);
      return connection.receive();
    });
    if (!reply.is_error()) return reply;
    if (redirections >= most_redirections || !redirected(reply))
      fail(reply, fmt::format("the script {}", script.name()));
  }
}

Reply Server::run(const Script& script, const Command& key_and_arguments) {
  Encoded parts;
  for (const auto& part : key_and_arguments) parts.add(part);
  return run(script, parts);
}

}  // namespace holdfast::redis
