#include "tasks.hpp"

#include <algorithm>

namespace holdfast::bench {

Engine open_store(const Scratch& scratch, Durability durability) {
  Settings settings;
  settings.durability = durability;
  return open("sqlite:" + scratch.database(), settings);
}

void fill(Tasks& tasks, int count) {
  constexpr int batch = 1'000;
  for (int left = count; left > 0; left -= batch) {
    auto size = static_cast<std::size_t>(std::min(left, batch));
    tasks.enqueue_all(std::vector<NewTask>(size, NewTask{noop_kind, usual_payload}));
  }
}

}  // namespace holdfast::bench
