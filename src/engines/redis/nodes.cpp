#include "engines/redis/nodes.hpp"

#include <fmt/format.h>

#include "engines/redis/server.hpp"

namespace holdfast::redis {

namespace {

constexpr std::size_t most_homes = 10'000;
constexpr std::chrono::seconds moment{1};

const Reply* first_error(const std::vector<Reply>& replies) {
  for (const auto& reply : replies)
    if (reply.is_error()) return &reply;
  return nullptr;
}

}  // namespace

Connection* Nodes::connect(const Endpoint& endpoint) {
  auto& connection = connections_[endpoint.text()];
  // One that broke while nobody used it tells so before anything is sent.
  if (connection && !connection->quiet()) connection.reset();
  if (!connection) connection = std::make_unique<Connection>(address_, endpoint, patience_);
  return connection.get();
}

Connection& Nodes::any_connection() {
  for (std::size_t tried = 0;; ++tried) {
    try {
      return *connect(address_.endpoints[tried]);
    } catch (const Disconnected&) {
      if (tried + 1 >= address_.endpoints.size()) throw;
    }
  }
}

Connection& Nodes::connection_for(const std::string& tag) {
  auto home = homes_.find(tag);
  if (home == homes_.end()) return any_connection();
  try {
    return *connect(home->second);
  } catch (const Disconnected&) {
    homes_.erase(home);
    return any_connection();
  }
}

std::vector<Reply> Nodes::talk(Connection& connection, std::span<const Command> commands) {
  auto place = connection.endpoint().text();
  try {
    for (const auto& command : commands) connection.send(command);
    std::vector<Reply> replies;
    for (std::size_t i = 0; i < commands.size(); ++i) replies.push_back(connection.receive());
    return replies;
  } catch (const StoreError&) {
    // An answer may still come on it.
    connections_.erase(place);
    throw;
  }
}

std::vector<Reply> Nodes::call(const std::string& tag, std::span<const Command> commands) {
  std::lock_guard lock{mutex_};
  if (std::chrono::steady_clock::now() < away_until_) throw Disconnected{why_away_};
  try {
    for (int redirections = 0;; ++redirections) {
      auto& connection = connection_for(tag);
      auto from = connection.endpoint();
      auto replies = talk(connection, commands);
      const auto* wrong = first_error(replies);
      if (!wrong) return replies;
      auto home = moved_to(wrong->text(), from);
      if (!home || redirections >= most_redirections) {
        homes_.erase(tag);
        throw StoreError{fmt::format("the Redis server at {} refused: {}{}", from.text(),
                                     wrong->text(), rights_hint(wrong->text()))};
      }
      if (homes_.size() >= most_homes) homes_.clear();
      homes_[tag] = *home;
    }
  } catch (const Disconnected& error) {
    homes_.erase(tag);
    why_away_ = error.what();
    away_until_ = std::chrono::steady_clock::now() + moment;
    throw;
  }
}

Reply Nodes::call(const std::string& tag, const Command& command) {
  return std::move(call(tag, std::span{&command, 1}).front());
}

}  // namespace holdfast::redis
