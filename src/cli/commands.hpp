#pragma once

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// Each adds one command to `parent`. When the command line names it, it sets `Context::command`.
void add_task_add(CLI::App& parent, Context& context);
void add_task_list(CLI::App& parent, Context& context);
void add_task_show(CLI::App& parent, Context& context);
void add_task_retry(CLI::App& parent, Context& context);
void add_task_cancel(CLI::App& parent, Context& context);
void add_task_explain(CLI::App& parent, Context& context);
void add_task_logs(CLI::App& parent, Context& context);

void add_queue_status(CLI::App& parent, Context& context);
void add_queue_metrics(CLI::App& parent, Context& context);
void add_queue_recover(CLI::App& parent, Context& context);
void add_queue_recovery_status(CLI::App& parent, Context& context);
void add_queue_recovery_report(CLI::App& parent, Context& context);
void add_queue_pause(CLI::App& parent, Context& context);
void add_queue_resume(CLI::App& parent, Context& context);

void add_schedule_add(CLI::App& parent, Context& context);
void add_schedule_list(CLI::App& parent, Context& context);
void add_schedule_pause(CLI::App& parent, Context& context);
void add_schedule_resume(CLI::App& parent, Context& context);
void add_schedule_remove(CLI::App& parent, Context& context);

void add_limit_set(CLI::App& parent, Context& context);
void add_limit_list(CLI::App& parent, Context& context);
void add_limit_remove(CLI::App& parent, Context& context);

void add_worker_run(CLI::App& parent, Context& context);
void add_worker_list(CLI::App& parent, Context& context);

/// One for each method.
void add_http_requests(CLI::App& parent, Context& context);
void add_http_run(CLI::App& parent, Context& context);
void add_http_list(CLI::App& parent, Context& context);
void add_http_stats(CLI::App& parent, Context& context);

void add_tx_list(CLI::App& parent, Context& context);
void add_tx_show(CLI::App& parent, Context& context);
void add_tx_start(CLI::App& parent, Context& context);
void add_tx_cancel(CLI::App& parent, Context& context);
void add_tx_retry(CLI::App& parent, Context& context);
void add_tx_signal(CLI::App& parent, Context& context);
void add_tx_cleanup(CLI::App& parent, Context& context);
void add_results_run(CLI::App& parent, Context& context);
void add_results_send(CLI::App& parent, Context& context);
void add_results_receive(CLI::App& parent, Context& context);

void add_serve(CLI::App& parent, Context& context);
void add_user_add(CLI::App& parent, Context& context);
void add_user_list(CLI::App& parent, Context& context);
void add_user_remove(CLI::App& parent, Context& context);
void add_token_add(CLI::App& parent, Context& context);
void add_token_list(CLI::App& parent, Context& context);
void add_token_revoke(CLI::App& parent, Context& context);

void add_move(CLI::App& parent, Context& context);
void add_migrate(CLI::App& parent, Context& context);
void add_doctor(CLI::App& parent, Context& context);
void add_top(CLI::App& parent, Context& context);
void add_backup(CLI::App& parent, Context& context);
void add_restore(CLI::App& parent, Context& context);
void add_config_check(CLI::App& parent, Context& context);
void add_demo(CLI::App& parent, Context& context);
void add_version(CLI::App& parent, Context& context);
void add_help(CLI::App& app, Context& context);
/// Needs the whole tree, so it is added last.
void add_completion(CLI::App& parent, Context& context);

}  // namespace holdfast::cli
