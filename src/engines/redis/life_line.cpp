#include "engines/redis/life_line.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engines/redis/store.hpp"

namespace holdfast::redis {

namespace {

constexpr Millis first_pause{5};
constexpr Millis longest_pause{500};
constexpr int look_after{500};
constexpr std::string_view life_begins = "connection ";
constexpr std::string_view life_goes_on = " of server ";

std::string run_of(std::string_view info) {
  constexpr std::string_view name = "run_id:";
  auto at = info.find(name);
  if (at == std::string_view::npos) return {};
  info.remove_prefix(at + name.size());
  return std::string{info.substr(0, std::min<std::size_t>(info.find('\r'), 12))};
}

std::string number_of(const std::string& life) {
  auto end = life.find(life_goes_on);
  if (!life.starts_with(life_begins) || end == std::string::npos) return {};
  return life.substr(life_begins.size(), end - life_begins.size());
}

}  // namespace

std::string life_of(Connection& connection) {
  auto id = connection.call({"CLIENT", "ID"});
  auto info = connection.call({"INFO", "server"});
  if (id.is_error() || info.is_error()) return {};
  // Without the right to ask for others, nothing proves anything: age alone decides.
  auto list = connection.call({"CLIENT", "LIST", "ID", std::to_string(id.number())});
  if (list.is_error()) return {};
  return fmt::format("{}{}{}{}", life_begins, id.number(), life_goes_on, run_of(info.text()));
}

bool Living::knows(const std::string& life) const {
  return !server.empty() && life.ends_with(fmt::format("{}{}", life_goes_on, server));
}

bool Living::has(const std::string& life) const {
  return connections.find(fmt::format(",{},", number_of(life))) != std::string::npos;
}

Living ask_for(Server& server, const std::vector<std::string>& lives) {
  Command list{"CLIENT", "LIST", "ID"};
  for (const auto& life : lives)
    if (auto number = number_of(life); !number.empty()) list.push_back(number);
  Living living;
  if (list.size() == 3) return living;
  // Both on one connection, so that both are about the same server.
  std::array commands{Command{"INFO", "server"}, list};
  std::vector<Reply> replies;
  try {
    replies = server.call_all(commands);
  } catch (const Disconnected&) {
    throw;
  } catch (const StoreError&) {
    return living;  // who may not ask knows nothing, and age decides
  }
  living.server = run_of(replies[0].text());
  living.connections = ",";
  auto text = replies[1].text();
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("id=")) {
      living.connections += line.substr(3, line.find(' ') - 3);
      living.connections += ',';
    }
  }
  return living;
}

LifeLine::LifeLine(Store& store, WorkerId worker)
    : store_{store}, worker_{worker}, connection_{store.server.connect()} {
  connection_->call({"CLIENT", "SETNAME", "holdfast-worker-" + worker.text()});
  first_life_ = life_of(*connection_);
}

LifeLine::~LifeLine() {
  if (watcher_.joinable()) {
    watcher_.request_stop();
    watcher_.join();
  }
  if (connection_) connection_->hang_up();
}

void LifeLine::keep() {
  watcher_ = std::jthread{[this](std::stop_token stop) { watch(std::move(stop)); }};
}

/// Nothing comes on this connection but its end. Where the store has moved away from the server
/// that it leads to, it proves nothing any more.
void LifeLine::watch(std::stop_token stop) {
  auto pause = Millis{0};
  while (!stop.stop_requested()) {
    if (connection_) {
      std::stop_callback end{stop, [&] { ::shutdown(connection_->fd(), SHUT_WR); }};
      pollfd source{connection_->fd(), POLLIN, 0};
      bool quiet = ::poll(&source, 1, look_after) == 0;
      if (stop.stop_requested()) return;
      if (quiet && store_.server.is_current(*connection_)) continue;
    }
    connection_.reset();
    ::poll(nullptr, 0, static_cast<int>(pause.count()));
    try {
      if (!connect_again()) return;
      pause = first_pause;
    } catch (const StoreError&) {
      // The worker meets the same trouble with its next heartbeat and tells it.
      connection_.reset();
      pause = std::clamp(pause * 2, first_pause, longest_pause);
    }
  }
}

bool LifeLine::connect_again() {
  connection_ = store_.server.connect();
  connection_->call({"CLIENT", "SETNAME", "holdfast-worker-" + worker_.text()});
  auto life = life_of(*connection_);
  auto known =
      store_.run(scripts::new_life, store_.arguments().add(worker_.text()).add(life)).number() == 1;
  return known;
}

}  // namespace holdfast::redis
