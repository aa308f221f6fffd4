#include "cli/program.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/batch_commands.hpp"
#include "cli/commands.hpp"
#include "cli/results_dead_letters.hpp"
#include "documents/json.hpp"
#include "documents/log_json.hpp"
#include "documents/redact.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

CLI::App& add_group(CLI::App& app, const std::string& name, const std::string& description) {
  CLI::App* group = app.add_subcommand(name, description);
  group->require_subcommand(1);
  return *group;
}

void add_server_commands(CLI::App& app, Context& context) {
  add_serve(app, context);
  CLI::App& user = add_group(app, "user", "Who may log in to 'holdfast serve'");
  add_user_add(user, context);
  add_user_list(user, context);
  add_user_remove(user, context);
  CLI::App& token = add_group(app, "token", "Credentials of programs for 'holdfast serve'");
  add_token_add(token, context);
  add_token_list(token, context);
  add_token_revoke(token, context);
}

void add_transaction_commands(CLI::App& app, Context& context) {
  CLI::App& tx = add_group(app, "tx", "Transactions: state machines that survive kill -9");
  add_tx_start(tx, context);
  add_tx_list(tx, context);
  add_tx_show(tx, context);
  add_tx_cancel(tx, context);
  add_tx_retry(tx, context);
  add_tx_signal(tx, context);
  add_tx_cleanup(tx, context);
  CLI::App& results = add_group(app, "results", "Collect large results that arrive in parts");
  add_results_run(results, context);
  add_results_send(results, context);
  add_results_receive(results, context);
  add_results_dead_letters(results, context);
}

void add_commands(CLI::App& app, Context& context) {
  CLI::App& task = add_group(app, "task", "Enqueue tasks, look at them, act on them");
  add_task_add(task, context);
  add_task_list(task, context);
  add_task_show(task, context);
  add_task_explain(task, context);
  add_task_logs(task, context);
  add_task_retry(task, context);
  add_task_cancel(task, context);
  CLI::App& queue = add_group(app, "queue", "Look at queues, pause them, recover their work");
  add_queue_status(queue, context);
  add_queue_pause(queue, context);
  add_queue_resume(queue, context);
  add_queue_recover(queue, context);
  add_queue_recovery_status(queue, context);
  add_queue_recovery_report(queue, context);
  add_queue_metrics(queue, context);
  CLI::App& schedule = add_group(app, "schedule", "Enqueue tasks again and again, as cron does");
  add_schedule_add(schedule, context);
  add_schedule_list(schedule, context);
  add_schedule_pause(schedule, context);
  add_schedule_resume(schedule, context);
  add_schedule_remove(schedule, context);
  CLI::App& limit = add_group(app, "limit", "Limit what runs, in all workers together");
  add_limit_set(limit, context);
  add_limit_list(limit, context);
  add_limit_remove(limit, context);
  CLI::App& worker = add_group(app, "worker", "Run a worker, list workers");
  add_worker_run(worker, context);
  add_worker_list(worker, context);
  CLI::App& web = add_group(app, "http", "Make HTTP requests that survive kill -9");
  add_http_requests(web, context);
  add_http_run(web, context);
  add_http_list(web, context);
  add_http_stats(web, context);
  add_transaction_commands(app, context);
  CLI::App& batch = add_group(app, "batch", "Process many rows in many workers, with one result");
  add_batch_submit(batch, context);
  add_batch_append(batch, context);
  add_batch_watch(batch, context);
  add_batch_release(batch, context);
  add_batch_abort(batch, context);
  add_batch_status(batch, context);
  add_batch_rows(batch, context);
  add_batch_output(batch, context);
  add_batch_run(batch, context);
  add_batch_recover(batch, context);
  add_batch_list(batch, context);
  add_server_commands(app, context);
  add_top(app, context);
  add_config_check(add_group(app, "config", "Configuration files"), context);
  add_doctor(app, context);
  add_migrate(app, context);
  add_move(app, context);
  add_backup(app, context);
  add_restore(app, context);
  add_demo(app, context);
  add_version(app, context);
  add_help(app, context);
  add_completion(app, context);
}

// The command that was named, as far as it was understood: `holdfast task add`.
std::string named_command(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return app.get_name() + (named.empty() ? "" : " " + named_command(*named.front()));
}

void complain(const Context& context, std::string_view said, Exit code) {
  // The address of a store may be in it, and its password.
  const auto what = redact_text(said).text;
  std::string line;
  if (context.log_format == LogFormat::json)
    line = log_line_json(wall_now(), Severity::error, "failed", what)
               .number("exit", static_cast<int>(code))
               .str();
  else if (context.json)
    line = JsonObject{}.text("error", what).number("exit", static_cast<int>(code)).str();
  else
    line = painted(context.err, Colour::red, "holdfast:") + " " + plain(what);
  fmt::print(stderr, "{}\n", line);
}

Exit finish_output(const Context& context, Exit code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  complain(context, fmt::format("cannot write the output: {}", std::strerror(errno)), Exit::system);
  return Exit::system;
}

const CLI::App& named_app(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : named_app(*named.front());
}

// Where a command is missing or unknown, what would have been one.
std::string missing_command(const CLI::App& app) {
  std::string commands;
  for (const CLI::App* each : named_app(app).get_subcommands([](const CLI::App*) { return true; }))
    if (!each->get_group().empty()) commands += (commands.empty() ? "" : ", ") + each->get_name();
  const auto rest = app.remaining(true);
  if (rest.empty()) return fmt::format("name a command: {}", commands);
  return fmt::format("unknown command '{}'; there are {}", rest.front(), commands);
}

Exit explain_misuse(const CLI::App& app, Context& context, const CLI::ParseError& error) {
  // Where the command line was not understood to its end, its values were not taken over either.
  context.json = app.get_option("--json")->count() > 0;
  const bool no_command = named_app(app).get_require_subcommand_min() > 0 &&
                          error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  complain(context,
           fmt::format("{}; see '{} --help'", no_command ? missing_command(app) : error.what(),
                       named_command(app)),
           Exit::refused);
  return Exit::refused;
}

// Commands that have something to say when they are interrupted watch for the signal themselves.
// For the others there is nothing to tidy up: the store recovers from harsher ends than this.
void end_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { ::_exit(static_cast<int>(Exit::interrupted)); };
  ::sigaction(SIGINT, &action, nullptr);
}

/// Others see the words of a command as long as it runs. The parser has its own copy.
void hide_passwords(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word{argv[i]};
    auto begin = word.find("://"), end = word.rfind('@');
    if (begin != word.npos && end != word.npos && end > begin) {
      begin = word.find(':', begin + 3);
    } else {
      begin = word.find("password=");
      if (begin != word.npos) begin += std::string_view{"password"}.size();
      end = word.size();
    }
    if (begin == word.npos || begin >= end) continue;
    std::fill(argv[i] + begin + 1, argv[i] + end, '*');
  }
}

}  // namespace

std::unique_ptr<CLI::App> make_app(Context& context) {
  auto app = std::make_unique<CLI::App>("Work that survives kill -9.", "holdfast");
  app->require_subcommand(1);
  app->fallthrough();
  app->add_option("--store", context.store_option,
                  "Address of the store; default: the configuration's, else sqlite:holdfast.db")
      ->envname("HOLDFAST_STORE")
      ->type_name("URL")
      ->take_last();
  app->add_option("--config", context.config_path, "Configuration file (YAML)")
      ->type_name("FILE")
      ->take_last();
  app->set_version_flag("--version", "holdfast " HOLDFAST_VERSION, "Print the version");
  app->add_flag("--json", context.json, "Print JSON: one object a line");
  app->add_flag("--quiet", context.quiet, "Print results only, no confirmations");
  app->footer(
      "Exit codes: 0 ok, 1 refused, 2 system error, 3 store is read-only, 4 store needs a person,\n"
      "5 storage failed, 130 interrupted. 'holdfast demo' shows what it is about.");
  add_commands(*app, context);
  return app;
}

/// Takes what follows a lone `--` after `worker run` off the command line, because CLI11 would take
/// words such as `[1,2]` apart. Elsewhere `--` means what it always does: a payload of -5 follows.
int words_of_ours(int argc, const char* const* argv, Context& context) {
  const std::vector<std::string_view> words(argv, argv + argc);
  const std::string_view command[] = {"worker", "run"};
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const bool runs_program =
      std::search(words.begin(), dashes, std::begin(command), std::end(command)) != dashes;
  if (!runs_program || dashes == words.end()) return argc;
  context.program.assign(dashes + 1, words.end());
  return static_cast<int>(dashes - words.begin());
}

int run_program(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  end_on_interrupt();
  Context context;
  const auto app = make_app(context);
  Exit code = Exit::ok;
  try {
    app->parse(words_of_ours(argc, argv, context), argv);
    hide_passwords(argc, argv);
    code = context.command();
  } catch (const CLI::CallForVersion& version) {
    context.say(version.what());
  } catch (const CLI::CallForHelp&) {
    context.print(app->help());
  } catch (const CLI::ParseError& error) {
    code = explain_misuse(*app, context, error);
  } catch (const std::exception& error) {
    code = exit_for(error);
    complain(context, error.what(), code);
  }
  return static_cast<int>(finish_output(context, code));
}

}  // namespace holdfast::cli
