#include "engines/postgres/writer.hpp"

#include <poll.h>

#include <chrono>
#include <string>

namespace holdfast::postgres {

namespace {

constexpr int tries = 4;
constexpr std::chrono::seconds longest_search{10};

}  // namespace

struct Writer::Job {
  KillPoints points;
  std::function<void(Connection&)> work;
  std::exception_ptr error{};
  bool leads = false;  ///< woken to commit for the others, not because it is done
  std::binary_semaphore woken{0};
};

void Writer::submit(KillPoints points, std::function<void(Connection&)> work) {
  Job job{points, std::move(work)};
  {
    std::unique_lock lock{mutex_};
    waiting_.push_back(&job);
    if (busy_) {
      lock.unlock();
      job.woken.acquire();
    } else {
      busy_ = true;
      job.leads = true;
    }
  }
  if (job.leads) lead(job);
  if (job.error) std::rethrow_exception(job.error);
}

void Writer::lead(Job& own) {
  std::vector<Job*> jobs;
  {
    std::lock_guard lock{mutex_};
    jobs.swap(waiting_);
  }
  if (!try_commit(jobs) && jobs.size() > 1) {
    // One of them failed and took the others with it. Each on its own then, so that only the one
    // to blame is told.
    for (Job* job : jobs) {
      job->error = nullptr;
      try_commit({job});
    }
  }
  {
    std::lock_guard lock{mutex_};
    if (waiting_.empty()) {
      busy_ = false;
    } else {
      waiting_.front()->leads = true;
      waiting_.front()->woken.release();
    }
  }
  for (Job* job : jobs) {
    if (job != &own) job->woken.release();
  }
}

bool Writer::try_commit(const std::vector<Job*>& jobs) {
  std::exception_ptr error;
  for (int attempt = 1; attempt <= tries; ++attempt) {
    try {
      run_in_transaction(jobs);
      return true;
    } catch (const ConnectionLost&) {
      error = std::current_exception();
      link_.drop();
      // Twice for connections that had died while nobody used them, or were ended by somebody.
      if (attempt > 2) break;
    } catch (const Conflict&) {
      error = std::current_exception();
      roll_back();
    } catch (const StoreReadOnly&) {
      // Another of the hosts that the address names may be the one to write to by now.
      error = std::current_exception();
      link_.drop();
      break;
    } catch (const std::exception&) {
      error = std::current_exception();
      roll_back();
      break;
    }
  }
  for (Job* job : jobs) job->error = error;
  return false;
}

void Writer::run_in_transaction(const std::vector<Job*>& jobs) {
  auto& db = link_.get();
  db.queue("BEGIN");
  db.tell_time();
  if (db.is_pooled())
    db.queue(
        "SELECT set_config('lock_timeout', '10s', true),"
        " set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),"
        " set_config('enable_mergejoin', 'off', true)");
  for (Job* job : jobs) {
    job->work(db);
    kill_point(job->points.before_commit);
  }
  commit(db);
  for (Job* job : jobs) kill_point(job->points.after_commit);
}

void Writer::commit(Connection& db) {
  auto row = db.run("SELECT pg_current_xact_id_if_assigned()");
  row.next();
  bool wrote = !row.is_null(0);
  auto transaction = wrote ? row.integer(0) : 0;
  try {
    db.run("COMMIT");
  } catch (const ConnectionLost&) {
    if (!wrote) return;
    link_.drop();
    switch (fate_of(transaction)) {
      case Fate::committed:
        return;
      case Fate::not_committed:
        throw;  // and it is done again
      case Fate::unknown:
        throw StoreError{
            "the server was lost while it committed, and cannot be asked whether it did"};
    }
  }
}

Writer::Fate Writer::fate_of(std::int64_t transaction) {
  auto deadline = std::chrono::steady_clock::now() + longest_search;
  do {
    try {
      auto row =
          link_.get().run("SELECT pg_xact_status($1::text::xid8)", std::to_string(transaction));
      if (!row.next() || row.is_null(0)) return Fate::unknown;
      auto status = row.text(0);
      if (status == "committed") return Fate::committed;
      if (status == "aborted") return Fate::not_committed;
    } catch (const ConnectionLost&) {
      link_.drop();
    } catch (const StoreError&) {
      return Fate::unknown;
    }
    ::poll(nullptr, 0, 20);
  } while (std::chrono::steady_clock::now() < deadline);
  return Fate::unknown;
}

void Writer::roll_back() {
  try {
    if (link_.is_up()) link_.get().run("ROLLBACK");
  } catch (const StoreError&) {
    link_.drop();
  }
}

}  // namespace holdfast::postgres
