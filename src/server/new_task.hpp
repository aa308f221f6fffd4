#pragma once

#include <holdfast/task.hpp>

#include "server/fields.hpp"

namespace holdfast::server {

/// A task as callers describe it; throws `Problem` if that makes no sense.
NewTask new_task(const Fields& fields);
/// The members of it that say where, when and under which name it waits.
TaskOptions task_place(const Fields& fields);

}  // namespace holdfast::server
