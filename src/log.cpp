#include <chrono>
#include <map>
#include <mutex>

#include <fmt/format.h>
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

/// While a server is away every thread says so several times a second. Once in a while is enough.
class Patient {
 public:
  /// What to say; nothing if the same was said a moment ago.
  std::optional<std::string> say(std::string text) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds a_moment{10};
    constexpr std::size_t enough = 100;
    auto now = Clock::now();
    std::lock_guard lock{mutex_};
    if (said_.size() > enough) said_.clear();
    auto [seen, fresh] = said_.try_emplace(text, Said{now});
    auto& [at, kept_back] = seen->second;
    if (!fresh && now - at < a_moment) {
      ++kept_back;
      return {};
    }
    if (kept_back > 0) text += fmt::format(" (and {} times since it was last said)", kept_back);
    seen->second = {now};
    return text;
  }

 private:
  struct Said {
    std::chrono::steady_clock::time_point at;
    int kept_back = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Said> said_;
};

}  // namespace

void log_to_stderr(const Engine& engine, Severity least) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("holdfast", sink);
  logger->set_level(level_of(least));
  auto patient = std::make_shared<Patient>();
  engine.events().subscribe([logger, patient](const Event& event) {
    auto level = level_of(severity(event));
    if (!logger->should_log(level)) return;
    std::optional text{to_text(event)};
    if (std::holds_alternative<StoreTrouble>(event)) text = patient->say(std::move(*text));
    if (text) logger->log(level, "{}", *text);
  });
}

}  // namespace holdfast
