#pragma once

#include <functional>
#include <string>
#include <vector>

#include <holdfast/engine.hpp>
#include <holdfast/task.hpp>

#include "server/quotas.hpp"
#include "server/token.hpp"

namespace holdfast::server {

/// How a program enqueues whose token is for some queues and kinds only. It learns nothing about
/// tasks that it could not have enqueued itself, and takes nothing away from other programs.

/// Throws `Problem` 403 unless the token is for all of these tasks.
void authorize(const ProgramToken& token, const std::vector<NewTask>& tasks);

/// What an `Idempotency-Key` stands for: it counts for the queue and the kind of the first task. So
/// no other program can use it up, and the next token of the same program can repeat the request.
std::string key_for(const std::string& key, const NewTask& first);

/// `enqueue_own` or `Tasks::enqueue_all`.
using EnqueueAll = std::function<std::vector<TaskId>(const Engine&, std::vector<NewTask>)>;
/// Throws `Problem` 400 where a task waits for one that the token is not for, as if that were not
/// there, 409 where its unique key is that of one, and 429 where the quota of the token is used up.
std::vector<TaskId> enqueue_limited(const ProgramToken& token, std::vector<NewTask> tasks,
                                    const Engine& engine, Quotas& quotas,
                                    const EnqueueAll& enqueue_all);

/// Tasks of programs, limited or not, have a tag that names the token, and no program can pass for
/// another: throws `Problem` 403 where a task has such a tag already.
void expect_no_token_tags(const std::vector<NewTask>& tasks);
void add_token_tag(const ProgramToken& token, std::vector<NewTask>& tasks);

}  // namespace holdfast::server
