#include "recovery/kill_point.hpp"

#ifdef HOLDFAST_KILL_POINTS

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

namespace holdfast {

namespace {

struct Order {
  std::string name;
  int visits_left = 1;
};

Order order_in(const char* variable) {
  const char* text = std::getenv(variable);
  Order parsed{text ? text : "", 1};
  if (auto colon = parsed.name.find(':'); colon != std::string::npos) {
    parsed.visits_left = std::atoi(parsed.name.c_str() + colon + 1);
    parsed.name.resize(colon);
  }
  return parsed;
}

bool is_reached(KillPoint point, const Order& order, std::atomic<int>& visits) {
  return !order.name.empty() && kill_point_names[static_cast<std::size_t>(point)] == order.name &&
         ++visits == order.visits_left;
}

}  // namespace

void kill_point(KillPoint point) {
  static const Order kill = order_in("HOLDFAST_KILL_AT"), crash = order_in("HOLDFAST_CRASH_AT"),
                     stop = order_in("HOLDFAST_STOP_AT");
  static std::atomic<int> before_kill{0}, before_crash{0}, before_stop{0};
  if (is_reached(point, kill, before_kill)) std::raise(SIGKILL);
  if (is_reached(point, crash, before_crash)) __builtin_trap();  // a signal that nobody sent
  if (is_reached(point, stop, before_stop)) std::raise(SIGSTOP);
}

}  // namespace holdfast

#endif
