#include "support/oracle.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace holdfast::test {

namespace {

bool finished(TaskState state) {
  return state == TaskState::completed || state == TaskState::failed ||
         state == TaskState::cancelled;
}

/// The field of a small JSON object, if it is there.
std::optional<boost::json::value> field(const std::string& json, const char* name) {
  boost::json::error_code code;
  auto parsed = boost::json::parse(json, code);
  if (code || !parsed.is_object() || !parsed.as_object().contains(name)) return {};
  return parsed.as_object().at(name);
}

/// Everything that was said about one task, in the order of time.
struct Life {
  std::vector<JournalLine> lines;

  bool was(Said said, std::string_view text = {}) const {
    return std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
      return line.said == said && (text.empty() || line.text == text);
    });
  }
  bool ended_for_good(const JournalLine& line) const {
    return line.said == Said::settled &&
           (line.text == "completed" || line.text == "failed" || line.text == "cancelled");
  }
  /// Whether somebody ran the task under a greater token before `moment`.
  const JournalLine* later_owner(Token token, std::chrono::microseconds moment) const {
    for (const auto& line : lines)
      if (line.said == Said::started && line.token > token && line.at < moment) return &line;
    return nullptr;
  }
  /// When the write that `line` answers was sent, at the latest: a handler says what it is about
  /// to do.
  std::optional<std::chrono::microseconds> sent(const JournalLine& line) const {
    auto before = line.said == Said::settled ? Said::returned : Said::recording;
    std::optional<std::chrono::microseconds> moment;
    for (const auto& each : lines)
      if (each.said == before && each.token == line.token && each.at <= line.at) moment = each.at;
    return moment;
  }
};

class Check {
 public:
  Check(const std::vector<JournalLine>& journal, const StoreView& store,
        const Expectations& expectations)
      : store_{store}, expectations_{expectations} {
    for (const auto& line : journal) lives_[line.task].lines.push_back(line);
    for (const auto& task : store.tasks) {
      tasks_[task.id] = &task;
      if (task.kind != "receipt") continue;
      if (auto order = field(task.payload, "order"); order && order->is_string())
        if (auto id = TaskId::parse(order->as_string())) receipts_[*id].push_back(task.id);
    }
  }

  std::vector<Finding> run() {
    for (const auto& [id, life] : lives_) check_life(id, life);
    for (const auto& task : store_.tasks) check_record(task);
    for (const auto& task : store_.tasks) check_follow_ups(task);
    check_reports();
    check_refusals();
    check_counts();
    return std::move(findings_);
  }

 private:
  template <class... Args>
  void found(Defect defect, TaskId task, fmt::format_string<Args...> text, Args&&... args) {
    findings_.push_back({defect, task, fmt::format(text, std::forward<Args>(args)...)});
  }

  void check_life(TaskId id, const Life& life) {
    std::map<std::string, std::set<std::string>> effects;
    std::set<Token> started;
    int ends = 0;
    for (const auto& line : life.lines) {
      if (line.said == Said::started && !started.insert(line.token).second)
        found(Defect::claimed_twice, id, "ran twice under token {}", line.token.value);
      if (line.said == Said::recorded) effects["charge"].insert(line.text);
      ends += life.ended_for_good(line);
      if (line.said == Said::settled || line.said == Said::recorded) check_write(id, life, line);
    }
    if (ends > 1) found(Defect::settled_twice, id, "{} ends were accepted", ends);
    for (const auto& [key, values] : effects)
      if (values.size() > 1) found(Defect::effect_doubled, id, "'{}' has several values", key);
    bool absent = !tasks_.contains(id);
    bool may_be_gone = expectations_.may_be_pruned && ends > 0;
    if (absent && life.was(Said::enqueued) && !may_be_gone)
      found(Defect::lost, id, "acknowledged, but not in the store");
  }

  /// A write is stale if somebody already ran the task under a greater token when it was sent, or,
  /// for an end that is final, if anybody ever did.
  void check_write(TaskId id, const Life& life, const JournalLine& line) {
    auto moment = life.sent(line);
    if (life.ended_for_good(line)) moment = std::chrono::microseconds::max();
    if (!moment) return;
    if (const auto* owner = life.later_owner(line.token, *moment))
      found(Defect::stale_accepted, id, "token {} was accepted, but {} had the task",
            line.token.value, owner->token.value);
  }

  void check_record(const TaskRecord& task) {
    static const Life silent;
    auto known = lives_.find(task.id);
    const auto& life = known == lives_.end() ? silent : known->second;
    if (!life.was(Said::enqueueing) && !life.was(Said::enqueued) && !asked_for(task))
      found(Defect::unexpected, task.id, "nobody enqueued this {}", task.kind);
    bool meant = task.state == TaskState::held && expectations_.held.contains(task.id);
    if (!finished(task.state) && !meant)
      found(Defect::stuck, task.id, "still {} {}", to_string(task.state), task.cause);
    if (task.state == TaskState::failed && !life.was(Said::returned, "failed"))
      found(Defect::false_dead_letter, task.id, "no handler failed it: {}", task.error);
    if (task.attempt > task.max_attempts)
      found(Defect::over_limit, task.id, "{} attempts of {}", task.attempt, task.max_attempts);
    check_result(task);
    check_tokens(task, life);
  }

  bool asked_for(const TaskRecord& task) const {
    auto order = field(task.payload, "order");
    if (task.kind != "receipt" || !order || !order->is_string()) return false;
    auto id = TaskId::parse(order->as_string());
    auto life = id ? lives_.find(*id) : lives_.end();
    return life != lives_.end() && life->second.was(Said::follow_up, task.id.text());
  }

  /// The result names the token of the attempt that made it, the record that of the last owner.
  void check_result(const TaskRecord& task) {
    auto token = task.kind == "order" ? field(task.result, "token") : std::nullopt;
    if (task.state != TaskState::completed || !token) return;
    if (token->to_number<std::int64_t>() != task.token.value)
      found(Defect::stale_accepted, task.id, "completed by token {}, but {} had the task",
            token->to_number<std::int64_t>(), task.token.value);
  }

  /// A prefetched task may start after its next owner did, so the order of starts says nothing; but
  /// no token is greater than the store's.
  void check_tokens(const TaskRecord& task, const Life& life) {
    for (const auto& line : life.lines)
      if (line.said == Said::started && line.token > task.token)
        found(Defect::token_repeated, task.id, "ran under {}, but the store says {}",
              line.token.value, task.token.value);
  }

  void check_follow_ups(const TaskRecord& task) {
    if (task.kind != "order") return;
    auto count = receipts_.contains(task.id) ? receipts_.at(task.id).size() : 0;
    bool completed = task.state == TaskState::completed;
    if (completed && count == 0 && !expectations_.may_be_pruned)
      found(Defect::follow_up_missing, task.id, "completed without a receipt");
    if (count > (completed ? 1u : 0u))
      found(Defect::follow_up_doubled, task.id, "{} receipts, state {}", count,
            to_string(task.state));
  }

  void check_reports() {
    std::map<TaskId, int> reported;
    for (const auto& report : store_.reports)
      for (const auto& task : report.tasks) reported[task.id] += task.success;
    for (const auto& [id, count] : reported)
      if (!tasks_.contains(id) && count > 0 && !expectations_.may_be_pruned)
        found(Defect::report_mismatch, id, "reported, but not in the store");
    for (const auto& [id, steps] : store_.history) {
      auto rows = static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const auto& step) {
        return step.actor == "system/recovery" && step.from == TaskState::running;
      }));
      int said = reported.contains(id) ? reported.at(id) : 0;
      if (said > rows || (said < rows && !store_.reports_were_shed))
        found(Defect::report_mismatch, id, "taken back {} times, reported {} times", rows, said);
    }
  }

  void check_refusals() {
    std::int64_t said = 0;
    for (const auto& [id, life] : lives_)
      said += std::count_if(life.lines.begin(), life.lines.end(),
                            [](const auto& line) { return line.said == Said::refused; });
    if (said > store_.refused)
      found(Defect::refusal_uncounted, {}, "{} refused, {} counted", said, store_.refused);
  }

  void check_counts() {
    std::map<std::string, QueueStatus> counted;
    for (const auto& task : store_.tasks)
      ++counted[task.queue].counts[static_cast<std::size_t>(task.state)];
    for (const auto& kept : store_.queues) {
      for (int i = 0; i < task_state_count; ++i) {
        auto state = static_cast<std::size_t>(i);
        if (auto there = counted[kept.queue].counts[state]; there != kept.counts[state])
          found(Defect::miscounted, {}, "queue {} has {} tasks that are {}, and keeps {}",
                kept.queue, there, to_string(static_cast<TaskState>(i)), kept.counts[state]);
      }
      counted.erase(kept.queue);
    }
    for (const auto& [queue, there] : counted)
      found(Defect::miscounted, {}, "queue {} has tasks, and keeps no counts", queue);
  }

  const StoreView& store_;
  const Expectations& expectations_;
  std::map<TaskId, Life> lives_;
  std::map<TaskId, const TaskRecord*> tasks_;
  std::map<TaskId, std::vector<TaskId>> receipts_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view to_string(Defect defect) {
  static constexpr std::string_view names[] = {"lost",
                                               "stuck",
                                               "unexpected",
                                               "settled twice",
                                               "stale accepted",
                                               "dead-lettered without a failing attempt",
                                               "follow-up missing",
                                               "follow-up doubled",
                                               "over the limit",
                                               "claimed twice",
                                               "effect doubled",
                                               "token repeated",
                                               "report mismatch",
                                               "refusal not counted",
                                               "miscounted"};
  return names[static_cast<std::size_t>(defect)];
}

std::vector<Finding> find_defects(const std::vector<JournalLine>& journal, const StoreView& store,
                                  const Expectations& expectations) {
  return Check{journal, store, expectations}.run();
}

std::string to_text(const std::vector<Finding>& findings) {
  std::map<Defect, int> counts;
  std::string text;
  for (const auto& each : findings)
    if (++counts[each.defect] <= 5)
      text += fmt::format("{}: {}: {}\n", to_string(each.defect), each.task.text(), each.text);
  for (const auto& [defect, count] : counts)
    text += fmt::format("total {}: {}\n", to_string(defect), count);
  return text;
}

}  // namespace holdfast::test
