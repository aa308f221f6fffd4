#include "engines/postgres/steps.hpp"

#include <algorithm>
#include <set>
#include <span>

#include <boost/json.hpp>

#include "engines/postgres/statements.hpp"

namespace holdfast::postgres {

namespace {

/// A step that was accepted, and what becomes of it.
struct Accepted {
  const Step* step;
  Stepped* answer;
  bool progressed = false;
};
using AcceptedSteps = std::vector<Accepted>;

void forget_ledgers(Connection& db, const AcceptedSteps& steps) {
  std::vector<TaskId> tasks;
  for (const auto& [step, answer, progressed] : steps)
    if (step->forget_ledger) tasks.push_back(step->lease.id);
  if (!tasks.empty()) db.queue("DELETE FROM hf.ledger WHERE task = ANY($1)", tasks);
}

void record(Connection& db, AcceptedSteps& steps) {
  Array tasks{Type::uuid}, series{Type::text}, ordinals{Type::bigint}, values{Type::text};
  std::vector<Accepted*> whose;
  for (auto& one : steps)
    for (const auto& entry : one.step->record) {
      tasks.add(one.step->lease.id);
      series.add(entry.series);
      ordinals.add(entry.ordinal);
      values.add(entry.value);
      whose.push_back(&one);
    }
  if (whose.empty()) return;
  db.queue(
      "INSERT INTO hf.ledger SELECT e.* FROM unnest($1::uuid[], $2::text[], $3::bigint[],"
      " $4::text[]) AS e ON CONFLICT DO NOTHING RETURNING task",
      tasks.value(), series.value(), ordinals.value(), values.value());
  db.queue(
      "SELECT l.value FROM unnest($1::uuid[], $2::text[], $3::bigint[]) WITH ORDINALITY"
      " AS e(task, series, ordinal, n) JOIN hf.ledger l ON l.task = e.task"
      " AND l.series = e.series AND l.ordinal = e.ordinal ORDER BY e.n",
      tasks.value(), series.value(), ordinals.value());
  auto results = db.collect();
  auto &added = results[results.size() - 2], &found = results.back();
  std::set<TaskId> grown;
  while (added.next()) grown.insert(added.task_id(0));
  for (auto* one : whose) {
    found.next();
    one->answer->recorded.push_back(found.text(0));
    one->progressed = grown.contains(one->step->lease.id);
  }
}

void write_marks(Connection& db, const AcceptedSteps& steps) {
  Array tasks{Type::uuid}, series{Type::text}, ordinals{Type::bigint}, values{Type::text};
  for (const auto& one : steps)
    for (const auto& entry : one.step->marks) {
      tasks.add(one.step->lease.id);
      series.add(entry.series);
      ordinals.add(entry.ordinal);
      values.add(entry.value);
    }
  if (tasks.size() == 0) return;
  db.queue(
      "DELETE FROM hf.ledger l USING unnest($1::uuid[], $2::text[], $3::bigint[])"
      " AS e(task, series, ordinal) WHERE l.task = e.task AND l.series = e.series"
      " AND l.ordinal = e.ordinal",
      tasks.value(), series.value(), ordinals.value());
  db.queue(
      "INSERT INTO hf.ledger SELECT e.* FROM unnest($1::uuid[], $2::text[], $3::bigint[],"
      " $4::text[]) AS e(task, series, ordinal, value) WHERE e.value <> ''",
      tasks.value(), series.value(), ordinals.value(), values.value());
}

/// The row as it was is read by the same statement that writes it. Nobody can change it in between:
/// whoever wants to must have the task, which is locked.
void write_rows(Connection& db, const AcceptedSteps& steps) {
  Array tasks{Type::uuid}, from{Type::text}, to{Type::text}, reasons{Type::text}, data{Type::text},
      errors{Type::text}, troubles{Type::text}, progressed{Type::boolean};
  for (const auto& one : steps) {
    tasks.add(one.step->lease.id);
    from.add(one.step->from);
    to.add(one.step->to);
    reasons.add(one.step->reason);
    data.add(one.step->data);
    errors.add(one.step->error);
    troubles.add(one.step->trouble);
    progressed.add(one.progressed);
  }
  db.queue(
      "WITH w AS MATERIALIZED (SELECT {wall} AS at) INSERT INTO hf.transactions (task, state,"
      " reason, data, error, failures, began_at, entered_at, progressed_at)"
      " SELECT s.task, coalesce(s.to_state, o.state, s.from_state),"
      " CASE WHEN s.to_state IS NULL THEN coalesce(o.reason, '') ELSE s.reason END,"
      " coalesce(s.data, o.data, 'null'),"
      " CASE WHEN s.to_state IS NULL THEN coalesce(s.error, s.trouble, o.error, '') ELSE '' END,"
      " CASE WHEN s.to_state IS NULL THEN coalesce(o.failures, 0) + (s.error IS NOT NULL)::int"
      " ELSE 0 END,"
      " coalesce(o.began_at, w.at),"
      " CASE WHEN s.to_state IS NULL THEN coalesce(o.entered_at, w.at) ELSE w.at END,"
      " CASE WHEN s.to_state IS NULL AND NOT s.progressed THEN coalesce(o.progressed_at, w.at)"
      " ELSE w.at END"
      " FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],"
      " $7::text[], $8::boolean[])"
      " AS s(task, from_state, to_state, reason, data, error, trouble, progressed)"
      " CROSS JOIN w LEFT JOIN hf.transactions o ON o.task = s.task"
      " ON CONFLICT (task) DO UPDATE SET state = excluded.state, reason = excluded.reason,"
      " data = excluded.data, error = excluded.error, failures = excluded.failures,"
      " entered_at = excluded.entered_at, progressed_at = excluded.progressed_at",
      tasks.value(), from.value(), to.value(), reasons.value(), data.value(), errors.value(),
      troubles.value(), progressed.value());
}

void note_moves(Connection& db, const AcceptedSteps& steps) {
  Array tasks{Type::uuid}, from{Type::text}, to{Type::text}, reasons{Type::text},
      tokens{Type::bigint};
  for (const auto& [step, answer, progressed] : steps) {
    if (!step->to) continue;
    tasks.add(step->lease.id);
    from.add(step->from);
    to.add(*step->to);
    reasons.add(step->reason);
    tokens.add(step->lease.token);
  }
  if (tasks.size() == 0) return;
  db.queue(
      "INSERT INTO hf.moves (task, from_state, to_state, reason, token, at)"
      " SELECT s.*, {wall} FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[],"
      " $5::bigint[]) AS s",
      tasks.value(), from.value(), to.value(), reasons.value(), tokens.value());
}

void change_outboxes(Connection& db, const AcceptedSteps& steps) {
  Array sent_of{Type::uuid}, sent{Type::bigint}, tasks{Type::uuid}, queues{Type::text},
      ids{Type::text}, headers{Type::text}, bodies{Type::text};
  for (const auto& [step, answer, progressed] : steps) {
    for (auto number : step->sent) {
      sent_of.add(step->lease.id);
      sent.add(number);
    }
    for (const auto& message : step->send) {
      tasks.add(step->lease.id);
      queues.add(message.queue);
      ids.add(message.id);
      headers.add(boost::json::serialize(boost::json::value_from(message.headers)));
      bodies.add(hex_of(message.body));
    }
  }
  if (sent.size() > 0)
    db.queue(
        "DELETE FROM hf.outbox o USING unnest($1::uuid[], $2::bigint[]) AS s(task, n)"
        " WHERE o.task = s.task AND o.n = s.n",
        sent_of.value(), sent.value());
  // They are numbered in the order in which they were decided on.
  if (tasks.size() > 0)
    db.queue(
        "INSERT INTO hf.outbox (task, queue, id, headers, body)"
        " SELECT s.task, s.queue, s.id, s.headers, decode(s.body, 'hex')"
        " FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])"
        " WITH ORDINALITY AS s(task, queue, id, headers, body, n) ORDER BY s.n",
        tasks.value(), queues.value(), ids.value(), headers.value(), bodies.value());
}

void take(Connection& db, AcceptedSteps& steps) {
  if (steps.empty()) return;
  forget_ledgers(db, steps);
  record(db, steps);
  write_marks(db, steps);
  write_rows(db, steps);
  note_moves(db, steps);
  change_outboxes(db, steps);
}

/// Those whose leases are still their holders', in a way that it stays so until the commit.
AcceptedSteps accept(Connection& db, std::span<const Step* const> steps, Stepped* answers) {
  Array ids{Type::uuid}, tokens{Type::bigint};
  for (const auto* step : steps) {
    ids.add(step->lease.id);
    tokens.add(step->lease.token);
  }
  auto held = db.run(
      "SELECT s.n FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS s(id, token, n)"
      " JOIN hf.tasks t ON" HOLDFAST_TOKEN_GUARD "FOR SHARE OF t",
      ids.value(), tokens.value());
  AcceptedSteps accepted;
  while (held.next()) {
    auto place = static_cast<std::size_t>(held.integer(0)) - 1;
    answers[place].accepted = true;
    accepted.push_back({steps[place], answers + place, steps[place]->progressed});
  }
  return accepted;
}

/// How many of these, from the first, are of different transactions: a statement can change a row
/// once.
std::size_t of_different_ones(std::span<const Step* const> steps) {
  std::set<TaskId> seen;
  std::size_t count = 0;
  while (count < steps.size() && seen.insert(steps[count]->lease.id).second) ++count;
  return count;
}

}  // namespace

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (unsigned char byte : bytes) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

std::vector<Stepped> take_steps(Connection& db, const std::vector<const Step*>& steps) {
  std::vector<Stepped> answers(steps.size());
  auto* answer = answers.data();
  for (std::span<const Step* const> rest{steps}; !rest.empty();) {
    auto some = rest.first(of_different_ones(rest));
    auto accepted = accept(db, some, answer);
    take(db, accepted);
    answer += some.size();
    rest = rest.subspan(some.size());
  }
  count_refused(db, std::ranges::count(answers, false, &Stepped::accepted));
  return answers;
}

Stepped take_step_of_nobody(Connection& db, const Step& step) {
  Stepped answer{.accepted = true};
  AcceptedSteps one{{&step, &answer}};
  take(db, one);
  return answer;
}

}  // namespace holdfast::postgres
