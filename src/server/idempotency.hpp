#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>
#include <holdfast/task.hpp>

#include "server/token.hpp"

namespace holdfast::server {

/// Gives tasks the ids that their `Idempotency-Key` stands for, so that the same request again
/// enqueues nothing. `token`: of the program, where the key counts for what that is for. Throws
/// `Problem` 400 where another request had this key.
void name_by_key(std::vector<NewTask>& tasks, const Inspector& inspector, std::string key,
                 const ProgramToken* token);

}  // namespace holdfast::server
