#include "batches/presence.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "recovery/kill_point.hpp"

namespace holdfast {

namespace {

/// What comes in quick succession is said at once.
constexpr std::chrono::milliseconds between_words{20};
constexpr std::chrono::milliseconds after_trouble{1'000};
/// So many ends of batches wait to be told; they can be read in the store.
constexpr std::size_t most_batches = 1'000;

std::vector<std::int64_t> list(std::unordered_set<std::int64_t>& rows) {
  std::vector<std::int64_t> taken{rows.begin(), rows.end()};
  rows.clear();
  return taken;
}

}  // namespace

void note_in(Liveness& liveness, BatchStore& store, const BatchRecord& batch) {
  std::optional<std::string> result;
  if (batch.done_at && batch.rows.all() == 1) {
    auto rows = store.rows({.batch = batch.id});
    if (rows.size() == 1 && rows[0].line == 0)
      result = rows[0].result.empty() ? "null" : rows[0].result;
  }
  liveness.cache(batch, result);
}

Presence::Presence(std::shared_ptr<Liveness> liveness, BatchStore& store, const Events& events,
                   const Liveness::Times& times)
    : liveness_{std::move(liveness)}, store_{store}, events_{events}, times_{times} {}

Presence::~Presence() {
  {
    std::lock_guard lock{mutex_};
    stop_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Presence::begin(WorkerId worker) {
  std::lock_guard lock{mutex_};
  if (!worker_.empty()) former_.push_back(std::move(worker_));
  worker_ = worker.text();
  held_.clear();
  fresh_.clear();
  beat_ = true;
  if (!thread_.joinable()) thread_ = std::thread{[this] { tell(); }};
  changed_.notify_one();
}

void Presence::beat(std::span<const TaskId> units) {
  std::unordered_set<std::int64_t> rows;
  for (const auto& unit : units)
    if (auto row = row_of(unit)) rows.insert(*row);
  std::lock_guard lock{mutex_};
  // Leases that were lost end without a word. The list was made a moment ago: what has come and
  // gone since is known better here.
  std::erase_if(held_, [&](auto row) { return !rows.contains(row) && !fresh_.contains(row); });
  fresh_.clear();
  beat_ = true;
  changed_.notify_one();
}

void Presence::changed(std::span<const Claimed> begun, std::span<const Settlement> ended) {
  if (begun.empty() && ended.empty()) return;
  std::lock_guard lock{mutex_};
  for (const auto& settlement : ended) {
    auto row = row_of(settlement.lease.id);
    if (!row) continue;
    held_.erase(*row);
    fresh_.erase(*row);
    // What nobody was told of need not be taken back.
    if (begun_.erase(*row) == 0) ended_.insert(*row);
  }
  for (const auto& claimed : begun) {
    auto row = row_of(claimed.lease.id);
    if (!row) continue;
    held_.insert(*row);
    fresh_.insert(*row);
    ended_.erase(*row);
    begun_.insert(*row);
  }
  changed_.notify_one();
}

void Presence::summed_up(BatchId batch) {
  std::lock_guard lock{mutex_};
  if (batches_.size() >= most_batches) batches_.pop_front();
  batches_.push_back(batch);
  changed_.notify_one();
}

void Presence::end() {
  {
    std::lock_guard lock{mutex_};
    leave_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool Presence::anything() const {
  return stop_ || leave_ || beat_ || !former_.empty() || !begun_.empty() || !ended_.empty() ||
         !batches_.empty();
}

Presence::News Presence::take() {
  News news{.worker = worker_, .beat = beat_, .leave = leave_};
  news.former.swap(former_);
  news.batches.swap(batches_);
  if (beat_) news.held.assign(held_.begin(), held_.end());
  news.begun = list(begun_);
  news.ended = list(ended_);
  beat_ = false;
  return news;
}

void Presence::tell() {
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [&] { return anything(); });
    if (stop_) return;
    auto news = take();
    lock.unlock();
    say(news);
    lock.lock();
    if (news.leave) return;
    if (in_trouble_) beat_ = true;
    changed_.wait_for(lock, in_trouble_ ? after_trouble : between_words,
                      [&] { return stop_ || leave_; });
  }
}

void Presence::say(const News& news) {
  try {
    say_all(news);
    in_trouble_ = false;
  } catch (const Error& error) {
    if (!in_trouble_)
      events_.emit(StoreTrouble{fmt::format("telling {} about this worker", liveness_->name()),
                                error.what()});
    in_trouble_ = true;
  }
}

void Presence::say_all(const News& news) {
  for (const auto& former : news.former) liveness_->leave(former);
  // What a heartbeat says is newer than what came before it.
  if (!news.begun.empty()) kill_point(KillPoint::liveness_before_track);
  if (!news.ended.empty()) kill_point(KillPoint::liveness_before_untrack);
  if (news.beat)
    liveness_->beat(news.worker, news.held, times_);
  else
    liveness_->track(news.worker, news.begun, news.ended, times_);
  kill_point(KillPoint::liveness_after_track);
  for (auto batch : news.batches) {
    // It may have been left for later, because somebody else was at it.
    auto found = store_.find({.id = batch});
    if (!found.empty() && found.front().done_at) note_in(*liveness_, store_, found.front());
  }
  if (news.leave) liveness_->leave(news.worker);
}

}  // namespace holdfast
