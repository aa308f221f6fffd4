#include "support/network.hpp"

#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include <fmt/format.h>

#include "support/process.hpp"

namespace holdfast::test {

namespace {

constexpr const char* ip = "/sbin/ip";

void run_ip(const std::string& words) {
  std::vector<std::string> command{ip};
  for (std::size_t at = 0; at < words.size();) {
    auto end = std::min(words.find(' ', at), words.size());
    command.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  auto finished = run(command);
  if (!finished.ending.ok()) throw std::runtime_error{"ip " + words + ": " + finished.err};
}

/// Cables have names and addresses of their own in every process that makes some.
int next_number() {
  static std::atomic<int> made{0};
  return (::getpid() * 4 + made++ % 4) % (64 * 256);
}

}  // namespace

NetworkHost::NetworkHost() : number_{next_number()}, name_{fmt::format("hf{}", number_)} {
  run_ip(fmt::format("netns add {}", name_));
  try {
    run_ip(fmt::format("link add {0} type veth peer name far netns {0}", name_));
    run_ip(fmt::format("addr add {}/30 dev {}", our_address(), name_));
    run_ip(fmt::format("link set {} up", name_));
    auto theirs = fmt::format("198.18.{}.{}", number_ / 64, number_ % 64 * 4 + 2);
    run_ip(fmt::format("-netns {} addr add {}/30 dev far", name_, theirs));
    run_ip(fmt::format("-netns {} link set far up", name_));
    run_ip(fmt::format("-netns {} link set lo up", name_));
  } catch (const std::exception&) {
    run({ip, "netns", "del", name_});
    throw;
  }
}

NetworkHost::~NetworkHost() {
  // The cable first: a namespace lasts for as long as somebody runs in it.
  run({ip, "link", "del", name_});
  run({ip, "netns", "del", name_});
}

/// Of the range that is set aside for such tests (RFC 2544), four addresses to a cable.
std::string NetworkHost::our_address() const {
  return fmt::format("198.18.{}.{}", number_ / 64, number_ % 64 * 4 + 1);
}

std::vector<std::string> NetworkHost::there(const std::vector<std::string>& command) const {
  std::vector<std::string> words{ip, "netns", "exec", name_};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

void NetworkHost::pull_the_cable() { run_ip(fmt::format("link set {} down", name_)); }

void NetworkHost::put_the_cable_back() { run_ip(fmt::format("link set {} up", name_)); }

}  // namespace holdfast::test
