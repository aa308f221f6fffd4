#pragma once

#include <exception>
#include <mutex>
#include <semaphore>
#include <utility>
#include <vector>

namespace holdfast {

/// Lets threads that write at the same time share a commit: the first becomes the leader and
/// commits for all who came meanwhile, so a sync to disk pays for many. What a commit is, the
/// engine knows; `Job` is what it keeps of a write, with a member `std::exception_ptr error`.
template <class Job>
class GroupCommit {
 public:
  using Jobs = std::vector<Job*>;

  /// Returns when the job is done, or throws its error. `commit(const Jobs&)` must do every job or
  /// set its error, and never throws: the others sleep until they are told. One thread at a time.
  template <class F>
  void submit(Job& job, F commit) {
    Member own{&job};
    {
      std::unique_lock lock{mutex_};
      waiting_.push_back(&own);
      if (std::exchange(busy_, true)) {
        lock.unlock();
        own.woken.acquire();
      } else {
        own.leads = true;
      }
    }
    if (own.leads) lead(own, commit);
    if (job.error) std::rethrow_exception(job.error);
  }

  /// Does every job, all of them together if that can be. `try_commit(const Jobs&)` returns false
  /// if one of them failed and took the others with it; then each is tried on its own, so that only
  /// the one to blame is told.
  template <class F>
  static void together_or_each(const Jobs& jobs, F try_commit) {
    if (try_commit(jobs) || jobs.size() == 1) return;
    for (Job* job : jobs) {
      job->error = nullptr;
      try_commit(Jobs{job});
    }
  }

 private:
  struct Member {
    Job* job;
    bool leads = false;  ///< woken to commit for the others, not because it is done
    std::binary_semaphore woken{0};
  };

  template <class F>
  void lead(const Member& own, F& commit) {
    std::vector<Member*> members;
    {
      std::lock_guard lock{mutex_};
      members.swap(waiting_);
    }
    Jobs jobs;
    for (const auto* member : members) jobs.push_back(member->job);
    commit(jobs);
    {
      std::lock_guard lock{mutex_};
      if (waiting_.empty()) {
        busy_ = false;
      } else {
        waiting_.front()->leads = true;
        waiting_.front()->woken.release();
      }
    }
    for (auto* member : members)
      if (member != &own) member->woken.release();
  }

  std::mutex mutex_;
  std::vector<Member*> waiting_;
  bool busy_ = false;
};

}  // namespace holdfast
