#include "engines/postgres/writer.hpp"

#include <poll.h>

#include <chrono>
#include <iterator>
#include <string>

#include "engines/postgres/statements.hpp"
#include "engines/postgres/steps.hpp"

namespace holdfast::postgres {

namespace {

constexpr int tries = 4;
constexpr std::chrono::seconds longest_search{10};

/// The tasks of all of these with one statement, and to each what became of its own.
template <class Job>
void insert_together(Connection& db, const std::vector<Job*>& jobs) {
  if (jobs.size() == 1) {
    jobs.front()->inserted = insert_tasks(db, jobs.front()->tasks);
    return;
  }
  std::vector<NewTask> all;
  for (const auto* job : jobs) all.insert(all.end(), job->tasks.begin(), job->tasks.end());
  auto inserted = insert_tasks(db, all);
  auto next = inserted.begin();
  for (auto* job : jobs) {
    auto end = next + std::ssize(job->tasks);
    job->inserted.assign(next, end);
    next = end;
  }
}

template <class Job>
void step_together(Connection& db, const std::vector<Job*>& jobs) {
  std::vector<const Step*> all;
  for (const auto* job : jobs)
    for (const auto& step : job->steps) all.push_back(&step);
  auto stepped = take_steps(db, all);
  auto next = std::make_move_iterator(stepped.begin());
  for (auto* job : jobs) {
    auto end = next + std::ssize(job->steps);
    job->stepped.assign(next, end);
    next = end;
  }
}

}  // namespace

void Writer::submit(Job& job) {
  group_.submit(job, [this](const Jobs& jobs) {
    GroupCommit<Job>::together_or_each(jobs, [this](const Jobs& some) { return try_commit(some); });
  });
}

std::vector<Inserted> Writer::insert(KillPoints points, std::span<const NewTask> tasks) {
  Job job{points, {}, tasks};
  submit(job);
  return std::move(job.inserted);
}

std::vector<Stepped> Writer::step(KillPoints points, std::span<const Step> steps) {
  if (steps.empty()) return {};
  Job job{.points = points, .steps = steps};
  submit(job);
  return std::move(job.stepped);
}

bool Writer::try_commit(const Jobs& jobs) {
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

void Writer::run_in_transaction(const Jobs& jobs) {
  auto& db = link_.get();
  db.server_run();  // is asked for here, because a question that is refused ends a transaction
  db.counts().forget();
  db.queue("BEGIN");
  db.tell_time();
  if (db.is_pooled())
    db.queue(
        "SELECT set_config('jit', 'off', true), set_config('lock_timeout', '10s', true),"
        " set_config('idle_in_transaction_session_timeout', '60s', true),"
        " set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),"
        " set_config('enable_mergejoin', 'off', true)");
  Jobs inserts, steps;
  for (Job* job : jobs) {
    if (job->work)
      job->work(db);
    else
      (job->steps.empty() ? inserts : steps).push_back(job);
  }
  if (!inserts.empty()) insert_together(db, inserts);
  if (!steps.empty()) step_together(db, steps);
  for (Job* job : jobs) kill_point(job->points.before_commit);
  commit(db);
  for (Job* job : jobs) kill_point(job->points.after_commit);
}

void Writer::commit(Connection& db) {
  db.counts().queue(db);
  auto row = db.run("SELECT pg_current_xact_id_if_assigned()");
  row.next();
  bool wrote = !row.is_null(0);
  auto transaction = wrote ? row.integer(0) : 0;
  auto run = db.server_run();
  try {
    db.run("COMMIT");
  } catch (const ConnectionLost&) {
    if (!wrote) return;
    link_.drop();
    switch (fate_of(transaction, run)) {
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

/// A server that crashed may give the number of a transaction that it had not yet written down to
/// another one. So only the very run that was asked to commit can tell.
Writer::Fate Writer::fate_of(std::int64_t transaction, const std::string& run) {
  auto deadline = std::chrono::steady_clock::now() + longest_search;
  do {
    try {
      auto& db = link_.get();
      if (db.server_run() != run) return Fate::unknown;
      auto row = db.run("SELECT pg_xact_status($1::text::xid8)", std::to_string(transaction));
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
