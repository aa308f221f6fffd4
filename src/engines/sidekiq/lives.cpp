#include "engines/sidekiq/lives.hpp"

#include <utility>

#include <fmt/format.h>

#include "engines/redis/life_line.hpp"

namespace holdfast::sidekiq {

Lives::Lives(redis::Server& server, const Dialect& dialect, std::string process)
    : server_{server},
      key_{fmt::format("{}:holdfast:lives", dialect.prefix)},
      process_{std::move(process)} {}

Lives::~Lives() {
  if (connection_) connection_->hang_up();
}

void Lives::keep() {
  if (connection_ && connection_->quiet() && server_.is_current(*connection_)) return;
  connection_.reset();
  auto connection = server_.connect();
  connection->call({"CLIENT", "SETNAME", "holdfast-sidekiq"});
  life_ = redis::life_of(*connection);
  connection_ = std::move(connection);
  tell();
}

void Lives::tell() {
  if (!life_.empty()) server_.call({"HSET", key_, process_, life_});
}

std::map<std::string, std::string> Lives::look() {
  auto all = server_.call({"HGETALL", key_});
  std::map<std::string, std::string> others;
  std::vector<std::string> lives;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    if (all[i].text() == process_) continue;
    others[all[i].string()] = all[i + 1].string();
    lives.push_back(all[i + 1].string());
  }
  auto before = std::exchange(missing_, {});
  if (others.empty()) return {};
  auto living = redis::ask_for(server_, lives);
  for (const auto& [process, life] : others)
    if (living.knows(life) && !living.has(life)) missing_[process] = life;
  std::erase_if(before, [&](const auto& one) {
    auto still = missing_.find(one.first);
    return still == missing_.end() || still->second != one.second;
  });
  return before;
}

}  // namespace holdfast::sidekiq
