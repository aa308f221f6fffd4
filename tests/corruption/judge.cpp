#include "corruption/judge.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/holdfast.hpp>

#include "engines/sqlite/check_integrity.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {

namespace {

using sqlite::SideFiles;

bool is_finished(TaskState state) {
  return state == TaskState::completed || state == TaskState::failed ||
         state == TaskState::cancelled;
}

/// What is different about a task, in a word; empty if nothing that matters is.
std::string difference(const TaskRecord& was, const TaskRecord& is) {
  if (was.state != is.state)
    return fmt::format("state {} became {}", to_string(was.state), to_string(is.state));
  if (was.kind != is.kind) return "kind " + is.kind;
  if (was.queue != is.queue) return "queue " + is.queue;
  if (is_finished(was.state)) return {};
  if (was.payload != is.payload) return "payload";
  if (was.tags != is.tags) return "tags";
  if (was.unique_key != is.unique_key) return "unique key";
  if (was.priority != is.priority) return "priority";
  if (was.run_at != is.run_at) return "time to run";
  if (was.max_attempts != is.max_attempts || was.attempt != is.attempt) return "attempts";
  if (was.token > is.token) return "token";
  if (was.waits_for != is.waits_for && was.state == TaskState::blocked) return "dependencies";
  return {};
}

class Trial {
 public:
  Trial(const Specimen& specimen, std::string path)
      : specimen_{specimen}, path_{std::move(path)}, now_{specimen.tasks} {}

  Judgement run() {
    try {
      open_and_compare();
      if (scrub_complains_) {
        judgement_.seen_late = !judgement_.noticed;
        judgement_.noticed = true;
        // As the scrub of a worker does: the next start looks at everything.
        sqlite::note_suspicion(SideFiles{path_}, "the test asked for it");
        open_and_compare();
      }
      if (!judgement_.halted) compare_notes();
    } catch (const StoreUnusable& halt) {
      judgement_.halted = judgement_.noticed = true;
      judgement_.repairs.emplace_back(halt.what());
      open_.clear();
    } catch (const std::exception& error) {
      accuse(fmt::format("an error that nobody expects: {}", error.what()));
    }
    for (const auto& fault : open_) judgement_.faults.push_back(fault);
    judgement_.told = told_;
    return std::move(judgement_);
  }

 private:
  /// Differences are held against the store only if nothing was said about them in the end.
  void open_and_compare() {
    open_.clear();
    auto engine = open();
    if (engine.parts().run_level() != RunLevel::normal) {
      judgement_.halted = judgement_.noticed = true;
      judgement_.repairs.push_back("read-only: " + engine.parts().why_read_only());
      scrub_complains_ = false;
      return;
    }
    try {
      compare(engine);
      claim(engine);
      scrub_complains_ = !engine.parts().check_integrity(true, {}).passed;
    } catch (const StoreUnusable& error) {
      expect_repair(error);
    } catch (const StoreDamaged& error) {
      expect_repair(error);
    }
  }

  /// It turned out while it was used: the program ends, and the next start takes care of it.
  void expect_repair(const StoreError& error) {
    open_.push_back(fmt::format("cannot be used: {}", error.what()));
    scrub_complains_ = true;
  }

  Engine open() {
    auto engine = holdfast::open("sqlite:" + path_);
    if (auto start_up = engine.parts().take_start_up()) hear(*start_up);
    return engine;
  }

  void hear(const StartUp& start_up) {
    judgement_.noticed = judgement_.noticed || !start_up.evidence.empty();
    if (!start_up.repair.empty()) judgement_.repairs.push_back(start_up.repair);
    for (const auto& each : start_up.integrity.damage) told_ += "found: " + each.what + "\n";
    for (const auto& each : start_up.losses) {
      told_ += each.what + "\n";
      if (each.task) named_.insert(*each.task);
    }
  }

  void compare(const Engine& engine) {
    judgement_.held = judgement_.lost = judgement_.old_news = 0;
    gone_.clear();
    std::map<TaskId, TaskRecord> found;
    for (const auto& task : Inspector{engine}.tasks({}, {.limit = 1'000}))
      found.emplace(task.id, task);
    for (const auto& [id, was] : now_) {
      auto is = found.find(id);
      if (is == found.end()) {
        ++judgement_.lost;
        gone_.insert(id);
        bool told = named_.contains(id) || told_.find("than can be named") != std::string::npos;
        if (!told) open_.push_back(id.text() + " is gone, and nobody said so");
      } else if (auto what = difference(was, is->second); !what.empty()) {
        bool told = named_.contains(id);
        judgement_.held += is->second.state == TaskState::held;
        if (!told) open_.push_back(fmt::format("{}: {}, and nobody said so", id.text(), what));
        if (told && is->second.state != TaskState::held && !is_finished(was.state))
          open_.push_back(fmt::format("{}: {}, and it is not held", id.text(), what));
      } else {
        judgement_.old_news += was.payload != is->second.payload || was.result != is->second.result;
      }
    }
    for (const auto& [id, is] : found)
      if (!now_.contains(id) && !named_.contains(id))
        open_.push_back(id.text() + " was never enqueued");
  }

  /// What a handler would get.
  void claim(const Engine& engine) {
    auto& parts = engine.parts();
    auto worker = parts.workers().enlist({{}, {"mail", "bill", "scan"}, 4});
    ClaimRequest request{.worker = worker->id(), .kinds = {"mail", "bill", "scan"}, .limit = 500};
    std::set<TaskId> claimed;
    auto exchanged = parts.tasks().exchange({.claim = request});
    for (const auto& one : exchanged.damaged) {
      judgement_.noticed = true;
      if (one.task) named_.insert(*one.task);
    }
    for (const auto& one : exchanged.claimed) {
      auto was = now_.find(one.lease.id);
      if (was == now_.end()) {
        accuse("a handler got a task that was never enqueued: " + one.lease.id.text());
        continue;
      }
      auto& task = was->second;
      if (task.state != TaskState::pending || task.queue == "money" ||
          task.payload != one.payload || task.kind != one.kind || task.queue != one.queue)
        accuse("a handler got what was not to be: " + one.lease.id.text());
      claimed.insert(one.lease.id);
    }
    for (auto& [id, task] : now_) {
      bool ready = task.state == TaskState::pending && task.queue != "money" &&
                   task.run_at <= task.created_at;
      if (claimed.contains(id)) {
        task.state = TaskState::running;
        ++task.attempt;
      } else if (ready && !named_.contains(id) && !gone_.contains(id) && !all_paused()) {
        open_.push_back(id.text() + " is ready and cannot be claimed");
      }
    }
  }

  bool all_paused() const { return told_.find("all are paused now") != std::string::npos; }

  void accuse(std::string fault) { judgement_.faults.push_back(std::move(fault)); }

  void compare_notes() {
    std::map<std::int64_t, std::string> found;
    try {
      found = read_notes(path_);
    } catch (const StoreError&) {
      // The table as a whole is gone: then every note is.
    }
    for (const auto& [id, note] : specimen_.notes) {
      auto is = found.find(id);
      judgement_.notes_changed += is != found.end() && is->second != note;
      judgement_.notes_lost += is == found.end();
    }
    if (judgement_.notes_lost > 0 && told_.find("not Holdfast's") == std::string::npos)
      open_.push_back("rows of the user's are gone, and nobody said so");
  }

  const Specimen& specimen_;
  std::string path_;
  std::map<TaskId, TaskRecord> now_;  ///< what it must be by now
  std::set<TaskId> named_;
  std::set<TaskId> gone_;  ///< not in the store any more
  std::string told_;
  bool scrub_complains_ = false;
  std::vector<std::string> open_;  ///< questions that nobody has answered
  Judgement judgement_;
};

}  // namespace

Judgement judge(const Specimen& specimen, const std::string& path) {
  return Trial{specimen, path}.run();
}

}  // namespace holdfast::test
