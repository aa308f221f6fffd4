#include <algorithm>

#include "transactions/runner_state.hpp"

namespace holdfast {

namespace {

/// So many are one commit at the most, so that none waits long for the others.
constexpr std::size_t most_at_once = 250;

}  // namespace

// A handler need not wait until its move is written: other transactions have something to do. So
// many more moves than there are handlers come together, and share a commit.
void TransactionRunner::Impl::write_moves(std::stop_token stop) {
  while (true) {
    std::vector<HeldPtr> some;
    {
      std::unique_lock lock{mutex_};
      moves_changed_.wait(lock, stop, [&] { return !moves_.empty(); });
      if (stop.stop_requested()) return;
      auto end = moves_.begin() + std::min(std::ssize(moves_), std::ptrdiff_t{most_at_once});
      some.assign(moves_.begin(), end);
      moves_.erase(moves_.begin(), end);
    }
    write_together(some);
    std::lock_guard lock{mutex_};
    ready_.insert(ready_.end(), some.begin(), some.end());
    ready_changed_.notify_all();
  }
}

void TransactionRunner::Impl::write_together(std::span<const HeldPtr> moves) {
  try {
    std::vector<Step> steps;
    for (const auto& held : moves)
      steps.push_back(held->transaction.move_step(held->going->state, held->going->reason));
    auto stepped = store_.step(steps);
    for (std::size_t i = 0; i < moves.size(); ++i)
      if (!stepped[i].accepted)
        moves[i]->did_not_go = std::make_exception_ptr(moves[i]->transaction.lost());
  } catch (const std::exception&) {
    // What is wrong with one of them must not keep the others.
    for (std::size_t i = 0; moves.size() > 1 && i < moves.size(); ++i)
      write_together(moves.subspan(i, 1));
    if (moves.size() == 1) moves[0]->did_not_go = std::current_exception();
  }
}

}  // namespace holdfast
