#include "cli/diagnosis_text.hpp"

#include <fmt/format.h>

#include "documents/json.hpp"
#include "recovery/plain_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1000 && unit + 1 < std::size(units); ++unit) amount /= 1000;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", amount, units[unit]);
}

std::string process_text(const ProcessSighting& process) {
  return fmt::format("{} ({}{})", process.pid, process.command, process.stopped ? ", stopped" : "");
}

std::string list_of(const std::vector<ProcessSighting>& processes) {
  std::string text;
  for (const auto& process : processes) text += (text.empty() ? "" : ", ") + process_text(process);
  return text.empty() ? "nobody" : text;
}

std::string list_of(const std::vector<KeptFile>& files) {
  std::string text;
  for (const auto& file : files)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", file.path, bytes_text(file.bytes));
  return text.empty() ? "none" : text;
}

std::string integrity_text(const Diagnosis& diagnosis) {
  if (!diagnosis.integrity) return "not looked at";
  const auto& result = *diagnosis.integrity;
  auto how = fmt::format("{} check, {}{}", result.full ? "full" : "quick",
                         duration_text(result.duration), result.completed ? "" : ", not all of it");
  if (result.passed) return fmt::format("passed ({})", how);
  return fmt::format("FAILED ({})", how);
}

std::string start_up_text(const StartUp& found) {
  auto text =
      std::string{found.unclean ? "not closed properly the last time" : "was closed properly"};
  if (found.rebooted) text += ", the machine was restarted since";
  if (!found.repair.empty()) text += ", " + found.repair;
  return text;
}

/// Where the store is halted nobody came so far as to see.
std::string unclean_json(const Diagnosis& diagnosis) {
  if (!diagnosis.start_up || diagnosis.level == RunLevel::halted) return "";
  return diagnosis.start_up->unclean ? "true" : "false";
}

/// What is beside a store in a file, and who has it.
template <class Line>
void add_files(const Diagnosis& diagnosis, Line line) {
  line("database",
       fmt::format("{}, journal mode {}", bytes_text(diagnosis.database_bytes),
                   diagnosis.journal_mode.empty() ? "unknown" : diagnosis.journal_mode));
  line("write-ahead log",
       bytes_text(diagnosis.wal_bytes) +
           (diagnosis.wal_frames == 0 ? "" : fmt::format(", {} frames", diagnosis.wal_frames)));
  line("open by", list_of(diagnosis.open_by));
  if (!diagnosis.foreign.empty()) line("other programs", list_of(diagnosis.foreign));
  line("writing", diagnosis.writing ? process_text(*diagnosis.writing) : "nobody for long");
  line("disk", fmt::format("{} free, {} reserved for running work", bytes_text(diagnosis.disk_free),
                           bytes_text(diagnosis.disk_reserve)));
  line("evidence", list_of(diagnosis.evidence));
  if (!diagnosis.kept_aside.empty())
    line("kept aside",
         list_of(diagnosis.kept_aside) +
             "; damaged, and replaced: 'holdfast queue recovery-report' says what that "
             "cost");
  if (!diagnosis.upgrade_backups.empty())
    line("before upgrades",
         list_of(diagnosis.upgrade_backups) +
             "; backups for the version before, to be removed when it is not needed again");
}

std::string processes_json(const std::vector<ProcessSighting>& processes) {
  std::vector<std::string> documents;
  for (const auto& process : processes)
    documents.push_back(JsonObject{}
                            .number("pid", process.pid)
                            .text("command", process.command)
                            .flag("stopped", process.stopped)
                            .str());
  return json_list(documents);
}

std::string damage_json(const std::vector<Damage>& damage) {
  std::vector<std::string> documents;
  for (const auto& each : damage)
    documents.push_back(JsonObject{}
                            .text("kind", to_string(each.kind))
                            .text("what", each.what)
                            .json("task", each.task ? json_string(each.task->text()) : "")
                            .str());
  return json_list(documents);
}

std::string integrity_json(const IntegrityResult& result) {
  return JsonObject{}
      .flag("passed", result.passed)
      .flag("full", result.full)
      .flag("completed", result.completed)
      .number("duration_ms", result.duration.count())
      .number("rows_checked", result.rows_checked)
      .json("damage", damage_json(result.damage))
      .str();
}

std::string files_json(const std::vector<KeptFile>& files) {
  std::vector<std::string> documents;
  for (const auto& file : files)
    documents.push_back(JsonObject{}.text("path", file.path).number("bytes", file.bytes).str());
  return json_list(documents);
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
  std::string text;
  auto line = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{:<17} {}\n", name, plain(value));
  };
  line("store", diagnosis.store);
  line("run level", to_string(diagnosis.level));
  line("integrity", integrity_text(diagnosis));
  if (diagnosis.integrity)
    for (const auto& damage : diagnosis.integrity->damage) line("", damage.what);
  if (diagnosis.start_up) {
    if (diagnosis.level != RunLevel::halted) line("last time", start_up_text(*diagnosis.start_up));
    for (const auto& loss : diagnosis.start_up->losses) line("lost", loss.what);
  }
  if (diagnosis.in_file)
    add_files(diagnosis, line);
  else
    line("database", bytes_text(diagnosis.database_bytes));
  for (const auto& advice : diagnosis.advice) line("to do", advice);
  if (diagnosis.healthy()) line("to do", "nothing");
  return text;
}

std::string diagnosis_json(const Diagnosis& diagnosis) {
  std::vector<Damage> losses;
  if (diagnosis.start_up) losses = diagnosis.start_up->losses;
  return JsonObject{}
      .text("store", diagnosis.store)
      .text("run_level", to_string(diagnosis.level))
      .text("reason", diagnosis.reason)
      .json("integrity", diagnosis.integrity ? integrity_json(*diagnosis.integrity) : "")
      .json("unclean", unclean_json(diagnosis))
      .text("repair", diagnosis.start_up ? diagnosis.start_up->repair : "")
      .json("losses", damage_json(losses))
      .text("journal_mode", diagnosis.journal_mode)
      .number("database_bytes", diagnosis.database_bytes)
      .number("wal_bytes", diagnosis.wal_bytes)
      .number("wal_frames", diagnosis.wal_frames)
      .json("open_by", processes_json(diagnosis.open_by))
      .json("other_programs", processes_json(diagnosis.foreign))
      .json("writing", diagnosis.writing ? processes_json({*diagnosis.writing}) : "[]")
      .number("disk_free", diagnosis.disk_free)
      .number("disk_reserve", diagnosis.disk_reserve)
      .text("file_system", diagnosis.file_system)
      .json("evidence", files_json(diagnosis.evidence))
      .json("kept_aside", files_json(diagnosis.kept_aside))
      .json("upgrade_backups", files_json(diagnosis.upgrade_backups))
      .json("advice", json_array(diagnosis.advice))
      .str();
}

}  // namespace holdfast::cli
