#include <functional>
#include <map>

#include "engines/postgres/statements.hpp"

namespace holdfast::postgres {

namespace {

/// Which of the notes are their task's holder's, in a way that it stays so until the commit.
std::vector<bool> check_leases(Connection& db, std::span<const Note> notes) {
  Array ids{Type::uuid}, tokens{Type::bigint};
  for (const auto& note : notes) {
    ids.add(note.lease.id);
    tokens.add(note.lease.token);
  }
  auto rows = db.run(
      "SELECT s.n FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS s(id, token, n)"
      " JOIN hf.tasks t ON" HOLDFAST_TOKEN_GUARD "FOR SHARE OF t",
      ids.value(), tokens.value());
  std::vector<bool> good(notes.size());
  while (rows.next()) good[static_cast<std::size_t>(rows.integer(0)) - 1] = true;
  return good;
}

/// Sorts the notes by what they are, and writes each sort with one statement.
class Recording {
 public:
  Recorded operator()(const ProgressNote& note) {
    progress_[task] = &note;
    return {true, {}};
  }

  Recorded operator()(const LogNote& note) {
    log_tasks_.add(task);
    log_attempts_.add(note.attempt);
    log_lines_.add(note.line);
    return {true, {}};
  }

  Recorded operator()(const EffectNote& note) {
    effect_tasks_.add(task);
    effect_keys_.add(note.key);
    effect_values_.add(note.value);
    return {true, {}};
  }

  void write(Connection& db) const {
    write_progress(db);
    if (log_tasks_.size() > 0)
      db.queue(
          "INSERT INTO hf.log (task, at, attempt, line) SELECT l.task, {wall}, l.attempt, l.line"
          " FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS l(task, attempt, line)",
          log_tasks_.value(), log_attempts_.value(), log_lines_.value());
    if (effect_tasks_.size() > 0)
      db.queue(
          "INSERT INTO hf.effects (task, key, value) SELECT * FROM unnest($1::uuid[], $2::text[],"
          " $3::text[]) ON CONFLICT DO NOTHING",
          effect_tasks_.value(), effect_keys_.value(), effect_values_.value());
  }

  /// What is recorded now, by whomever.
  std::map<std::pair<TaskId, std::string>, std::string> effects(Connection& db) const {
    std::map<std::pair<TaskId, std::string>, std::string> values;
    if (effect_tasks_.size() == 0) return values;
    auto rows = db.run(
        "SELECT e.task, e.key, e.value FROM hf.effects e JOIN unnest($1::uuid[], $2::text[])"
        " AS w(task, key) ON e.task = w.task AND e.key = w.key",
        effect_tasks_.value(), effect_keys_.value());
    while (rows.next()) values[{rows.task_id(0), rows.text(1)}] = rows.text(2);
    return values;
  }

  TaskId task{};  ///< whose note comes next

 private:
  void write_progress(Connection& db) const {
    Array tasks{Type::uuid}, texts{Type::text}, fractions{Type::text};
    for (const auto& [id, note] : progress_) {
      tasks.add(id);
      fractions.add(std::to_string(note->fraction));
      texts.add(note->text);
    }
    if (tasks.size() == 0) return;
    db.queue(
        "INSERT INTO hf.progress (task, fraction, text, at) SELECT p.task, p.fraction::float8,"
        " p.text, {wall} FROM unnest($1::uuid[], $2::text[], $3::text[]) AS p(task, fraction, text)"
        " ON CONFLICT (task) DO UPDATE SET fraction = excluded.fraction, text = excluded.text,"
        " at = excluded.at",
        tasks.value(), fractions.value(), texts.value());
  }

  std::map<TaskId, const ProgressNote*> progress_;  // the last one of each
  Array log_tasks_{Type::uuid}, log_attempts_{Type::bigint}, log_lines_{Type::text};
  Array effect_tasks_{Type::uuid}, effect_keys_{Type::text}, effect_values_{Type::text};
};

}  // namespace

std::vector<Recorded> record_notes(Connection& db, std::span<const Note> notes) {
  auto good = check_leases(db, notes);
  std::vector<Recorded> recorded(notes.size());
  Recording recording;
  std::int64_t refused = 0;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    recording.task = notes[i].lease.id;
    if (good[i]) recorded[i] = std::visit(std::ref(recording), notes[i].what);
    refused += !good[i];
  }
  recording.write(db);
  auto effects = recording.effects(db);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const auto* effect = std::get_if<EffectNote>(&notes[i].what);
    if (effect && good[i]) recorded[i].value = effects[{notes[i].lease.id, effect->key}];
  }
  count_refused(db, refused);
  return recorded;
}

}  // namespace holdfast::postgres
