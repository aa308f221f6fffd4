#pragma once

#include <span>
#include <string>

#include <holdfast/task.hpp>

#include "traces/context.hpp"

namespace holdfast {

/// An attempt that has ended.
struct AttemptSpan {
  TaskId task;
  std::string kind;
  Token token{};
  int attempt = 0;
  WallTime began{};
  WallTime ended{};
  TaskState now = TaskState::completed;  ///< what became of the task
  std::string reason{};
  std::string queue{};  ///< looked up before it is sent, as is where it belongs
  TraceContext context{};
};

/// The document that OTLP over HTTP wants, in the JSON form of its protocol.
std::string otlp_json(std::span<const AttemptSpan> spans, const std::string& service,
                      const std::string& store);

}  // namespace holdfast
