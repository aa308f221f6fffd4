#include "server/serve.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/diagnosis.hpp>
#include <holdfast/error.hpp>

#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/log.hpp"
#include "cli/trace_options.hpp"
#include "cli/watchdog.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct Options {
  server::ServeOptions serve;
  std::vector<std::string> stores;
  std::string output;
  LogOptions log;
  TraceFlags traces;
};

/// Beside the file of a SQLite store, whose owner is the server's; else where programs of a user
/// keep what is theirs.
std::string folder_for(const std::string& store) {
  if (const auto file = sqlite_file(store)) return *file + ".holdfast/server";
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state && *state) return std::string{state} + "/holdfast";
  if (home && *home) return std::string{home} + "/.local/state/holdfast";
  throw ConfigError{"there is no HOME to keep the token in; name a folder with --state"};
}

void tell(const Context& context, const server::Started& started, const std::vector<Engine>& all,
          const std::vector<std::string>& new_ones) {
  if (context.json) {
    context.print_json(JsonObject{}
                           .text("url", started.url)
                           .text("login", started.login)
                           .text("token_file", started.token_file)
                           .json("new_stores", json_array(new_ones))
                           .str());
  } else {
    for (const auto& engine : all) context.say(fmt::format("{} at {}", engine.name(), started.url));
    for (const auto& name : new_ones)
      context.say(fmt::format("{} is new and empty: there was no store there", name));
    if (started.login.empty())
      context.say("anybody on this machine may do everything (--no-auth)");
    else
      context.say(fmt::format("log in, once and within ten minutes: {}", started.login));
    context.confirm(fmt::format("programs send the token in {}", started.token_file));
  }
  std::fflush(stdout);
}

std::vector<std::string> addresses_of(const std::vector<Engine>& engines) {
  std::vector<std::string> names;
  for (const auto& engine : engines) names.push_back(engine.name());
  return names;
}

/// Secrets and payloads of others are in its memory: a crash must not leave them in a file.
void leave_no_core() {
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
}

Watchdog::Question question(const server::Controls& controls) {
  return [probe = controls.probe](std::function<void(Pulse)> answer) {
    probe([answer = std::move(answer)](const server::Controls::Found& found) {
      answer({!found.broken, found.trouble});
    });
  };
}

Exit run(Context& context, const Options& options) {
  begin_log(context, options.log);
  leave_no_core();
  auto serve = options.serve;
  auto addresses = options.stores;
  if (addresses.empty()) addresses.push_back(context.store_address());
  if (serve.folder.empty()) serve.folder = folder_for(addresses.front());
  server::check(serve);
  serve.traces = trace_options(context, options.traces);
  Interrupts interrupts;  // before the engines, which start threads
  std::vector<Engine> engines;
  std::vector<std::string> new_ones;
  for (const auto& address : addresses) {
    // On a fresh machine it begins one; but where an address was mistyped, nobody should have to
    // wonder at an empty dashboard.
    const bool begins = !holds_store(address);
    engines.push_back(open(address, context.config().settings));
    if (begins) new_ones.push_back(engines.back().name());
    serve.outputs.push_back(output_store(address, options.output));
    context.name_ledger(engines.back(), Stay::brief);
    if (!context.quiet) log_to_stderr(engines.back(), Severity::warning, context.log_format);
  }
  std::mutex mutex;
  server::Controls controls;
  const InterruptWatch watch{interrupts, [&](int count) {
                               if (count > 1) std::_Exit(static_cast<int>(Exit::interrupted));
                               context.systemd.stopping();
                               std::lock_guard lock{mutex};
                               if (controls.stop) controls.stop();
                             }};
  std::optional<Watchdog> watchdog;
  server::serve(serve, engines, [&](const server::Started& started, server::Controls given) {
    tell(context, started, engines, new_ones);
    const auto status =
        fmt::format("serving {} at {}", fmt::join(addresses_of(engines), ", "), started.url);
    context.systemd.ready(status);
    watchdog.emplace(context.systemd, status, question(given));
    std::lock_guard lock{mutex};
    controls = std::move(given);
    if (interrupts.first() != 0) controls.stop();
  });
  return Exit::ok;
}

}  // namespace

void add_serve(CLI::App& parent, Context& context) {
  auto options = std::make_shared<Options>();
  auto& serve = options->serve;
  CLI::App* command =
      parent.add_subcommand("serve", "Serve the HTTP API and the dashboard, and recover");
  command->add_option("--store", options->stores, "A store to serve; repeatable")
      ->allow_extra_args(false)
      ->type_name("URL");
  command->add_option("--listen", serve.listen, "Where; default: 127.0.0.1:8420")
      ->type_name("HOST:PORT");
  command->add_flag("--no-auth", serve.no_auth, "Ask nobody who they are; only on loopback");
  command->add_flag("--read-only", serve.read_only, "Everybody may look, and nobody act");
  command->add_option("--users", serve.users, "Who may log in; see 'holdfast user add'")
      ->type_name("FILE");
  command->add_option("--cert", serve.certificate, "Certificate for TLS (PEM)")->type_name("FILE");
  command->add_option("--key", serve.key, "Its key (PEM)")->type_name("FILE");
  command->add_flag("--behind-proxy", serve.behind_proxy, "A proxy does TLS and says who calls");
  command
      ->add_option("--allow-host", serve.host_names,
                   "A name by which the server may be called; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      ->add_option("--state", serve.folder,
                   "Folder for token and audit log; default: beside the store")
      ->type_name("DIR");
  command
      ->add_option("--output", options->output,
                   "Where output files of batches are, such as dir:FOLDER; default: beside the "
                   "store")
      ->type_name("URL");
  add_trace_flags(*command, options->traces);
  add_log_options(*command, options->log);
  chosen(*command, context, options, run);
}

}  // namespace holdfast::cli
