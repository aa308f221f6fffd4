#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "engines/postgres/statements.hpp"
#include "engines/postgres/transfer.hpp"
#include "recovery/backoff.hpp"
#include "tasks/enqueue_rules.hpp"

namespace holdfast::postgres {

namespace {

/// Inserts many tasks with few statements, whatever is special about some of them.
class Inserting {
 public:
  Inserting(Connection& db, std::span<const NewTask> tasks, InsertAs as)
      : db_{db}, tasks_{tasks}, as_{as} {
    for (const auto& task : tasks)
      answers_.push_back({task.options.id ? *task.options.id : TaskId::make(), false});
  }

  std::vector<Inserted> run() {
    find_repeated_ones();
    find_dependencies();
    // A key may be given up by the one that has it between our insert and our look at it.
    for (int round = 0; insert() > 0; ++round) {
      if (round == 3) throw Conflict{"tasks with the same unique key come and go"};
      explain_refusals();
    }
    insert_blocks();
    return std::move(answers_);
  }

 private:
  /// Of those that wait for others: repetitions of an enqueue that was done before. What they wait
  /// for may have ended since, in whatever way.
  void find_repeated_ones() {
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (!tasks_[i].options.after.empty()) ids.push_back(answers_[i].id);
    open_.assign(tasks_.size(), true);
    if (ids.empty()) return;
    auto existing = find_existing(ids);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      auto found = existing.find(answers_[i].id);
      if (tasks_[i].options.after.empty() || found == existing.end()) continue;
      expect_same(i, found->second);
      open_[i] = false;
    }
  }

  /// Shared locks keep what is waited for from ending before we have said that somebody waits.
  void find_dependencies() {
    std::set<TaskId> wanted;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (open_[i]) wanted.insert(tasks_[i].options.after.begin(), tasks_[i].options.after.end());
    waits_for_.resize(tasks_.size());
    if (wanted.empty()) return;
    std::map<TaskId, TaskState> states;
    auto rows = db_.run("SELECT id, state FROM hf.tasks WHERE id = ANY($1) ORDER BY id FOR SHARE",
                        std::vector<TaskId>{wanted.begin(), wanted.end()});
    while (rows.next()) states[rows.task_id(0)] = rows.state(1);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!open_[i]) continue;
      for (const auto& id : tasks_[i].options.after)
        if (expect_known(states, id) != TaskState::completed) waits_for_[i].push_back(id);
      states.emplace(answers_[i].id, TaskState::pending);
    }
  }

  static TaskState expect_known(const std::map<TaskId, TaskState>& states, TaskId id) {
    auto found = states.find(id);
    if (found == states.end()) refuse_unknown_prerequisite(id.text());
    if (found->second == TaskState::cancelled) refuse_cancelled_prerequisite(id.text());
    return found->second;
  }

  /// Inserts what is still open; returns how much was refused because it is there already.
  std::size_t insert() {
    Array ids{Type::uuid}, queues{Type::text}, kinds{Type::text}, states{Type::bigint},
        priorities{Type::bigint}, at{Type::bigint}, delays{Type::bigint}, attempts{Type::bigint},
        timeouts{Type::bigint}, backoffs{Type::text}, keys{Type::text}, limits{Type::text},
        tags{Type::text}, payloads{Type::text};
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!open_[i]) continue;
      const auto& options = tasks_[i].options;
      ids.add(answers_[i].id);
      queues.add(options.queue);
      kinds.add(tasks_[i].kind);
      states.add(waits_for_[i].empty() ? TaskState::pending : TaskState::blocked);
      priorities.add(options.priority);
      at.add(options.at);
      delays.add(options.delay);
      attempts.add(options.max_attempts);
      timeouts.add(options.timeout);
      is_default(options.backoff) ? backoffs.add_null()
                                  : backoffs.add(backoff_text(options.backoff));
      options.unique_key.empty() ? keys.add_null() : keys.add(options.unique_key);
      options.limit_key.empty() ? limits.add_null() : limits.add(options.limit_key);
      options.tags.empty() ? tags.add_null() : tags.add(tags_text(options.tags));
      payloads.add(tasks_[i].payload);
    }
    if (ids.size() == 0) return 0;
    if (as_ == InsertAs::new_work) {
      db_.queue("SELECT pg_advisory_xact_lock_shared" HOLDFAST_LOCK_OF_MOVES);
      db_.queue("SELECT value FROM hf.notes WHERE key = 'moved_to'");
    }
    db_.queue(
        "INSERT INTO hf.tasks (id, queue, kind, state, priority, run_at, created_at, max_attempts,"
        " timeout, backoff, unique_key, limit_key, keyed, tags, payload)"
        " SELECT n.id, n.queue, n.kind, n.state, n.priority, CASE WHEN n.at IS NOT NULL THEN n.at"
        " WHEN n.delay > 0 THEN {wall} + n.delay ELSE 0 END, {wall}, n.attempts, n.timeout,"
        " n.backoff, n.unique_key, n.limit_key, n.limit_key IS NOT NULL,"
        " CASE WHEN n.tags IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(n.tags::jsonb)) "
        "END, n.payload"
        " FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],"
        " $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::text[],"
        " $13::text[], $14::text[]) AS n(id, queue, kind, state, priority, at, delay, attempts,"
        " timeout, backoff, unique_key, limit_key, tags, payload)"
        " ON CONFLICT DO NOTHING RETURNING id",
        ids.value(), queues.value(), kinds.value(), states.value(), priorities.value(), at.value(),
        delays.value(), attempts.value(), timeouts.value(), backoffs.value(), keys.value(),
        limits.value(), tags.value(), payloads.value());
    auto results = db_.collect();
    if (as_ == InsertAs::new_work) expect_not_moved(results[results.size() - 2]);
    auto& rows = results.back();
    auto refused = ids.size() - static_cast<std::size_t>(rows.count());
    note_created(rows, refused == 0);
    return refused;
  }

  static void expect_not_moved(Rows& moved_to) {
    if (moved_to.next()) refuse_because_moved("this store", moved_to.text(0));
  }

  void note_created(Rows& rows, bool all) {
    std::set<TaskId> created;
    while (!all && rows.next()) created.insert(rows.task_id(0));
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!open_[i] || (!all && created.erase(answers_[i].id) == 0)) continue;
      answers_[i].created = true;
      if (!waits_for_[i].empty()) answers_[i].state = TaskState::blocked;
      db_.counts().add(tasks_[i].options.queue, answers_[i].state);
      open_[i] = false;
    }
  }

  /// What was not inserted is there already: the same task, or another with the same key.
  void explain_refusals() {
    std::vector<TaskId> ids;
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!open_[i]) continue;
      ids.push_back(answers_[i].id);
      if (!tasks_[i].options.unique_key.empty()) keys.push_back(tasks_[i].options.unique_key);
    }
    auto existing = find_existing(ids);
    auto owners = find_owners(keys);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!open_[i]) continue;
      if (auto found = existing.find(answers_[i].id); found != existing.end()) {
        expect_same(i, found->second);
        open_[i] = false;
      } else if (auto owner = owners.find(tasks_[i].options.unique_key); owner != owners.end()) {
        elsewhere_.insert(std::exchange(answers_[i].id, owner->second));
        open_[i] = false;
      }
    }
  }

  std::unordered_map<TaskId, TaskIdentity> find_existing(const std::vector<TaskId>& ids) {
    std::unordered_map<TaskId, TaskIdentity> existing;
    auto rows = db_.run("SELECT id, kind, queue, payload FROM hf.tasks WHERE id = ANY($1)", ids);
    while (rows.next()) existing[rows.task_id(0)] = {rows.text(1), rows.text(2), rows.text(3)};
    return existing;
  }

  std::unordered_map<std::string, TaskId> find_owners(const std::vector<std::string>& keys) {
    std::unordered_map<std::string, TaskId> owners;
    if (keys.empty()) return owners;
    auto rows = db_.run(
        "SELECT unique_key, id FROM hf.tasks WHERE unique_key = ANY($1) AND unique_key IS NOT NULL"
        " AND state IN {unfinished}",
        keys);
    while (rows.next()) owners[rows.text(0)] = rows.task_id(1);
    return owners;
  }

  void expect_same(std::size_t i, const TaskIdentity& existing) const {
    expect_repetition(tasks_[i], answers_[i].id.text(), existing);
  }

  void insert_blocks() {
    Array on{Type::uuid}, waiting{Type::uuid};
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!answers_[i].created) continue;
      for (const auto& id : waits_for_[i]) {
        if (elsewhere_.contains(id)) expect_known({}, id);
        on.add(id);
        waiting.add(answers_[i].id);
      }
    }
    if (on.size() == 0) return;
    db_.run(
        "INSERT INTO hf.blocks (on_task, task) SELECT * FROM unnest($1::uuid[], $2::uuid[])"
        " ON CONFLICT DO NOTHING",
        on.value(), waiting.value());
  }

  static std::string tags_text(const std::vector<std::string>& tags) {
    boost::json::array list;
    for (const auto& tag : tags) list.emplace_back(tag);
    return boost::json::serialize(list);
  }

  Connection& db_;
  std::span<const NewTask> tasks_;
  InsertAs as_;
  std::vector<Inserted> answers_;
  std::vector<bool> open_;  // neither inserted nor found to be there
  std::vector<std::vector<TaskId>> waits_for_;
  std::set<TaskId> elsewhere_;  // asked for, but another task has the key
};

}  // namespace

std::vector<Inserted> insert_tasks(Connection& db, std::span<const NewTask> tasks, InsertAs as) {
  if (tasks.empty()) return {};
  return Inserting{db, tasks, as}.run();
}

}  // namespace holdfast::postgres
