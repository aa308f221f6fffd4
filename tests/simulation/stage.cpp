#include "simulation/stage.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

constexpr int most_alive = 3;
constexpr int most_alive_in_calm = 2;
constexpr int most_processes = 12;
constexpr int most_rounds = 400;
constexpr Millis heart_interval{40'000};
constexpr Millis recovery_interval{60'000};

Settings::Recovery recovery_settings(Dice& dice) {
  Settings::Recovery settings;
  settings.max_recovery_attempts = 1 + dice.below(3);
  // The ledger knows who ran alone; recovery that has no record can only suppose it.
  settings.max_uncharged_recoveries = 1'000;
  if (dice.percent(10)) settings.action = RecoveryAction::pending;
  if (dice.percent(10)) settings.action = RecoveryAction::fail;
  return settings;
}

}  // namespace

Stage::Stage(World& world)
    : world_{world}, recovery_{recovery_settings(world.dice)}, client_{world}, person_{world} {
  world_.ledger.limit_crashes(recovery_.max_recovery_attempts);
  world_.others = [this] { act(); };
  world_.nudge = [this](WorkerId worker) {
    for (auto& process : processes_) {
      if (process->is(worker) && process->able()) process->heart();
    }
  };
  for (int number = 1; number <= 3; ++number)
    recoverers_.push_back(std::make_unique<Recoverer>(world_, recovery_, number));
}

/// Most histories are short: nearly everything that can go wrong takes few tasks and few steps, and
/// in the same time more of them can be told. The rest go on for longer, for what takes many.
void Stage::play() {
  bool is_short = world_.dice.percent(90);
  client_.plan_for(is_short ? 2 : 6);
  start_process();
  start_process();
  client_.step();
  int steps = is_short ? 5 + world_.dice.below(20) : 20 + world_.dice.below(60);
  while (steps-- > 0 && !defective()) act();
  end_faults();
  for (int round = 0; round < most_rounds && !defective(); ++round) {
    if (world_.ledger.all_over()) break;
    act_in_turn();
  }
  if (defective()) return;
  world_.ledger.check_end();
  constexpr int all = 1'000'000;
  world_.ledger.check_reports(world_.engine.reports().newest(all, all));
}

void Stage::act() {
  if (defective()) return;
  int choice = world_.dice.below(100);
  if (world_.calm || choice < 62) {
    let_a_process_act();
  } else if (choice < 72) {
    client_.step();
  } else if (choice < 82) {
    auto& recoverer = *recoverers_[static_cast<std::size_t>(world_.dice.below(3))];
    if (!recoverer.busy()) recoverer.run_once();
  } else if (choice < 92) {
    let_time_pass();
  } else if (choice < 96) {
    person_.step();
  } else {
    start_process();
  }
}

Process* Stage::any_process() {
  auto chosen = world_.dice.below(static_cast<int>(processes_.size()));
  return processes_[static_cast<std::size_t>(chosen)].get();
}

void Stage::let_a_process_act() {
  auto* process = any_process();
  if (!process->alive()) return;
  if (process->paused()) {
    if (world_.dice.percent(10)) process->pause(false);
    return;
  }
  int choice = world_.dice.below(100);
  if (world_.calm || choice < 94) {
    process->step();
  } else if (choice < 96) {
    process->crash();
  } else if (choice < 98) {
    process->pause(true);
  } else {
    process->drain();
  }
}

void Stage::let_time_pass() {
  auto& dice = world_.dice;
  Millis by{};
  if (dice.percent(70)) {
    by = Millis{1 + dice.below(15'000)};
  } else {
    by = Millis{dice.below(2 * static_cast<int>(lease_length.count()))};
  }
  world_.clock.advance(by);
  if (dice.percent(5)) world_.clock.set_wall_by(Millis{dice.below(200'000) - 100'000});
  world_.trace.say("time passes: {} ms", by.count());
}

void Stage::start_process() {
  auto alive = std::ranges::count_if(processes_, [](const auto& each) { return each->alive(); });
  if (alive >= (world_.calm ? most_alive_in_calm : most_alive) ||
      processes_.size() >= most_processes + (world_.calm ? 100 : 0))
    return;
  Process::Traits traits{.concurrency = 1 + world_.dice.below(3), .quick = world_.dice.percent(15)};
  auto number = static_cast<int>(processes_.size()) + 1;
  processes_.push_back(std::make_unique<Process>(world_, traits, number));
}

void Stage::end_faults() {
  world_.trace.say("faults are over");
  world_.calm = true;
  for (auto& process : processes_) process->pause(false);
  client_.finish();
  person_.resume_all();
}

void Stage::act_in_turn() {
  start_process();
  auto now = world_.clock.steady();
  bool somebody_died = false;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    auto& process = *processes_[i];
    if (!process.alive()) continue;
    for (int more = 0; more < 4 && process.alive(); ++more) {
      process.pump();
      if (process.alive()) process.handlers();
    }
    if (process.alive()) process.timer();
    if (process.alive() && now >= heart_at_) process.heart();
    somebody_died |= !process.alive();
  }
  if (now >= heart_at_) heart_at_ = now + heart_interval;
  if (somebody_died || now >= recovery_at_) {
    recoverers_.front()->run_once();
    recovery_at_ = now + recovery_interval;
  }
  world_.clock.advance(until_something_is_due());
}

/// Nobody needs to watch the clock while all wait for the same moment.
Millis Stage::until_something_is_due() {
  constexpr Millis at_least{5'000}, at_most{30'000};
  auto due = world_.ledger.next_due();
  if (!world_.ledger.quiet() || !due) return at_least;
  return std::clamp(*due - world_.clock.wall(), at_least, at_most);
}

}  // namespace holdfast::sim
