#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <holdfast/engine.hpp>

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

}  // namespace

void log_to_stderr(const Engine& engine, Severity least) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("holdfast", sink);
  logger->set_level(level_of(least));
  engine.events().subscribe([logger](const Event& event) {
    auto level = level_of(severity(event));
    if (logger->should_log(level)) logger->log(level, "{}", to_text(event));
  });
}

}  // namespace holdfast
