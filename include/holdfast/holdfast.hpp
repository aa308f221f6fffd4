#pragma once

/// Work that survives `kill -9`. Start with tasks.hpp; examples/ has whole programs.

#include <holdfast/attempt.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/error.hpp>
#include <holdfast/events.hpp>
#include <holdfast/inspector.hpp>
#include <holdfast/limit.hpp>
#include <holdfast/log.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/outcome.hpp>
#include <holdfast/report.hpp>
#include <holdfast/schedule.hpp>
#include <holdfast/settings.hpp>
#include <holdfast/task.hpp>
#include <holdfast/tasks.hpp>
#include <holdfast/worker.hpp>
