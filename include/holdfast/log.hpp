#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <holdfast/engine.hpp>

namespace holdfast {

/// How the lines of a log are written: for people, or one JSON object a line for programs.
enum class LogFormat { text, json };

std::string_view to_string(Severity severity);

/// Writes what happens in `engine` to standard error, one line an event, from `least` upwards.
/// docs/operations.md says what the JSON has in it. Control characters are escaped in both formats,
/// so a line is always one line.
void log_to_stderr(const Engine& engine, Severity least, LogFormat format);

/// The same for what tells sentences and no events, such as `http::SidekiqOptions::log`. `event` is
/// the name of all of them in JSON.
std::function<void(Severity, const std::string&)> sentences_to_stderr(std::string event,
                                                                      Severity least,
                                                                      LogFormat format);

}  // namespace holdfast
