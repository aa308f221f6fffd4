#include "tasks/watch.hpp"

#include <algorithm>

namespace holdfast {

Watch::Watch(EngineParts& parts)
    : parts_{parts},
      recovery_{recovery_of(parts)},
      every_{parts.settings().heartbeat.detection_interval},
      next_look_{parts.clock().steady() + every_} {}

void Watch::start_up(std::stop_token stop) {
  if (!found_) found_ = parts_.take_start_up();
  recovery_.run_once("start-up", stop, found_);
  next_look_ = now() + every_;
}

void Watch::run_once(std::stop_token stop, Millis until) {
  const auto look = std::min(next_look_, recovery_.look_again());
  const bool death =
      parts_.workers().wait_for_death(std::max(std::min(look, until) - now(), Millis{0}), stop);
  if (stop.stop_requested()) return;
  if (death || now() >= look) recovery_.run_once("watch", stop);
  if (now() >= next_look_) next_look_ = now() + every_;
}

}  // namespace holdfast
