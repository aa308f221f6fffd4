#include <optional>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <holdfast/log.hpp>

#include "documents/log_json.hpp"
#include "documents/redact.hpp"
#include "recovery/clock.hpp"
#include "recovery/patient.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast {

namespace {

spdlog::level::level_enum level_of(Severity severity) {
  switch (severity) {
    case Severity::debug:
      return spdlog::level::debug;
    case Severity::info:
      return spdlog::level::info;
    case Severity::warning:
      return spdlog::level::warn;
    case Severity::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// What went wrong may be told with the address that it went wrong at, and the credentials in it.
std::string text_line(const Event& event, int kept_back) {
  return redact_text(to_text(event)).text + kept_back_text(kept_back);
}

std::string json_log_line(const Event& event, int kept_back, const std::string& store) {
  auto line = log_json(event, system_clock().wall());
  line.text("store", store);
  if (kept_back > 0) line.number("kept_back", kept_back);
  return redact_document(line.str()).text;
}

/// Lines of JSON have everything in them; others begin with time and severity.
std::shared_ptr<spdlog::logger> stderr_logger(Severity least, LogFormat format) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("holdfast", sink);
  logger->set_level(level_of(least));
  if (format == LogFormat::json) logger->set_pattern("%v");
  return logger;
}

}  // namespace

void log_to_stderr(const Engine& engine, Severity least, LogFormat format) {
  auto logger = stderr_logger(least, format);
  const bool json = format == LogFormat::json;
  auto patient = std::make_shared<Patient>();
  engine.events().subscribe([=, store = engine.name()](const Event& event) {
    auto level = level_of(severity(event));
    if (!logger->should_log(level)) return;
    std::optional<int> kept_back = 0;
    if (std::holds_alternative<StoreTrouble>(event)) kept_back = patient->say(to_text(event));
    if (!kept_back) return;
    logger->log(level, "{}",
                json ? json_log_line(event, *kept_back, store) : text_line(event, *kept_back));
  });
}

std::function<void(Severity, const std::string&)> sentences_to_stderr(std::string event,
                                                                      Severity least,
                                                                      LogFormat format) {
  return [=, logger = stderr_logger(least, format)](Severity severity, const std::string& said) {
    if (!logger->should_log(level_of(severity))) return;
    const auto text = redact_text(said).text;
    logger->log(level_of(severity), "{}",
                format == LogFormat::json
                    ? log_line_json(system_clock().wall(), severity, event, text).str()
                    : plain(text));
  };
}

void log_to_stderr(const Engine& engine, Severity least) {
  log_to_stderr(engine, least, LogFormat::text);
}

}  // namespace holdfast
