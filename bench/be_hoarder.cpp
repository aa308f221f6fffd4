#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <stdexcept>

#include "board.hpp"
#include "tasks.hpp"
#include "tasks/engine_parts.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

int be_hoarder(const std::vector<std::string>& arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::filesystem::path folder{arguments.at(0)};
  auto engine = open("sqlite:" + (folder / "work.db").string() + "?durability=" + arguments.at(1));
  auto& parts = engine.parts();
  auto enlistment = parts.workers().enlist({.queues = {}, .kinds = {noop_kind}});
  for (int left = std::stoi(arguments.at(2)); left > 0;) {
    ClaimRequest claim{.worker = enlistment->id(), .kinds = {noop_kind}};
    claim.limit = std::min(left, 1'000);
    auto claimed = static_cast<int>(parts.tasks().exchange({.claim = claim}).claimed.size());
    if (claimed == 0) throw std::runtime_error{"there is not so much to claim"};
    left -= claimed;
  }
  ++Board { folder / "board" } -> enlisted;
  for (;;) ::pause();
}

}  // namespace holdfast::bench
