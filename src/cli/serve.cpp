#include "server/serve.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/diagnosis.hpp>
#include <holdfast/error.hpp>

#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "cli/http_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/log.hpp"
#include "cli/server_folder.hpp"
#include "cli/trace_options.hpp"
#include "cli/watchdog.hpp"
#include "documents/json.hpp"
#include "exec/memory_guard.hpp"
#include "server/secrets.hpp"

namespace holdfast::cli {

namespace {

struct ServeOptions {
  server::ServeOptions serve;
  std::vector<std::string> stores;
  std::string output;
  std::string broker;
  LogOptions log;
  TraceFlags traces;
  PayloadFlags payloads;
};

std::string folder_for(const std::string& store) {
  if (auto folder = server_folder(store)) return *std::move(folder);
  throw ConfigError{"there is no HOME to keep the token in; name a folder with --state"};
}

/// Output that is not on a terminal ends in files and journals that others read, and the link makes
/// its first reader an admin. So it is in a file instead that only its owner can read.
struct Login {
  std::string link{};
  std::string file{};
};

Login login_of(const Context& context, const server::Started& started, const std::string& folder) {
  if (started.login.empty()) return {};
  if (context.out.interactive) return {.link = started.login};
  const auto file = folder + "/login-link";
  write_private_file(file, started.login + "\n");
  return {.file = file};
}

void tell(const Context& context, const server::Started& started,
          const server::ServeOptions& options) {
  if (!started.audit.empty()) log_line(context, Severity::error, "audit_broken", started.audit);
  const auto login = login_of(context, started, options.folder);
  std::vector<std::string> new_ones, away;
  for (const auto& store : started.stores) {
    if (store.is_new) new_ones.push_back(store.name);
    if (!store.trouble.empty()) away.push_back(store.name);
  }
  if (context.json) {
    context.print_json(JsonObject{}
                           .text("url", started.url)
                           .text("login", login.link)
                           .text("login_file", login.file)
                           .text("token_file", started.token_file)
                           .json("new_stores", json_array(new_ones))
                           .json("stores_away", json_array(away))
                           .str());
  } else {
    for (const auto& store : started.stores)
      context.say(store.trouble.empty()
                      ? fmt::format("{} at {}", store.name, started.url)
                      : fmt::format("{}; it is tried again until it is there", store.trouble));
    for (const auto& name : new_ones)
      context.say(fmt::format("{} is new and empty: there was no store there", name));
    if (started.login.empty())
      context.say(fmt::format("anybody on this machine may {} (--no-auth)",
                              options.read_only ? "look at everything" : "do everything"));
    else if (!login.link.empty())
      context.say(fmt::format("log in, once and within ten minutes: {}", login.link));
    else
      context.say(
          fmt::format("log in, once and within ten minutes, with the link in {}", login.file));
    context.confirm(
        fmt::format("'holdfast token add' makes tokens for programs; the one in {} may "
                    "do everything",
                    started.token_file));
  }
  for (const auto& fault : started.token_faults)
    log_line(context, Severity::error, "token_unreadable", fault);
  std::fflush(stdout);
}

std::vector<std::string> names_of(const server::Started& started) {
  std::vector<std::string> names;
  for (const auto& store : started.stores) names.push_back(store.name);
  return names;
}

/// The server only reads them. Beside a store that we may not change there may be no folder, and we
/// cannot make one; whoever names another wants it to be there.
std::shared_ptr<BlobStore> output_of(Context& context, const std::string& address,
                                     const std::string& output) {
  try {
    return output_store(context, address, output);
  } catch (const ConfigError&) {
    if (!output.empty()) throw;
    return nullptr;
  }
}

/// Nothing where the store is not a file and no broker was named.
server::MessageDesk::Open broker_of(Context& context, const Engine& engine,
                                    const std::string& address, const std::string& broker) {
  if (broker.empty() && !sqlite_file(address)) return {};
  const auto settings = context.config().settings;
  return [engine, address, broker, settings] {
    return broker.empty() || broker == address ? open_broker(engine)
                                               : open_broker(broker, settings);
  };
}

server::OpenedStore open_one(Context& context, const std::string& address,
                             const ServeOptions& options) {
  // On a fresh machine it begins one; but where an address was mistyped, nobody should have to
  // wonder at an empty dashboard.
  const bool begins = !holds_store(address);
  server::OpenedStore opened{open(address, context.config().settings),
                             output_of(context, address, options.output), begins};
  opened.broker = broker_of(context, opened.engine, address, options.broker);
  context.name_ledger(opened.engine, Stay::brief);
  if (!context.quiet) log_to_stderr(opened.engine, Severity::warning, context.log_format);
  return opened;
}

/// Whoever starts the server hears of the first try; later ones tell another reason, and that it is
/// there at last.
server::StoreToServe to_serve(Context& context, const std::string& address,
                              const ServeOptions& options) {
  const auto name = check_address(address);
  auto last = std::make_shared<std::string>();
  auto open_and_tell = [&context, address, options, name, last] {
    try {
      auto opened = open_one(context, address, options);
      if (!last->empty())
        log_line(context, Severity::info, "store_opened",
                 fmt::format("{} is there now{}", name, opened.is_new ? ", new and empty" : ""));
      return opened;
    } catch (const std::exception& error) {
      if (!last->empty() && *last != error.what())
        log_line(context, Severity::warning, "store_away", error.what());
      *last = error.what();
      throw;
    }
  };
  return {name, open_and_tell, !sqlite_file(address)};
}

/// Ends the process when stopping takes too long: nothing can end a thread that waits for a store
/// that hangs. Nothing is lost by it, as by a kill.
class Impatience {
 public:
  explicit Impatience(const Context& context) : context_{context} {}
  void begin() {
    thread_ = std::jthread{[this](std::stop_token stop) {
      std::mutex mutex;
      std::condition_variable_any never;
      std::unique_lock lock{mutex};
      never.wait_for(lock, stop, longest_goodbye, [] { return false; });
      if (stop.stop_requested()) return;
      log_line(context_, Severity::warning, "ended_without_store",
               "a store still does not answer; ending without it");
      std::_Exit(static_cast<int>(Exit::ok));
    }};
  }

 private:
  static constexpr std::chrono::seconds longest_goodbye{10};
  const Context& context_;
  std::jthread thread_;
};

Watchdog::Question question(const server::Controls& controls) {
  return [probe = controls.probe](std::function<void(Pulse)> answer) {
    probe([answer = std::move(answer)](const server::Controls::Found& found) {
      answer({!found.broken, found.trouble});
    });
  };
}

Exit run_serve(Context& context, const ServeOptions& options) {
  give_up_core_dumps();
  begin_log(context, options.log);
  auto serve = options.serve;
  auto addresses = options.stores;
  if (addresses.empty()) addresses.push_back(context.store_address());
  const bool beside_store = serve.folder.empty();
  if (beside_store) serve.folder = folder_for(addresses.front());
  server::check(serve);
  serve.warn = [&context](std::string_view event, const std::string& text) {
    log_line(context, Severity::warning, event, text);
  };
  serve.traces = trace_options(context, options.traces);
  serve.payloads = payloads_of(options.payloads, context);
  if (beside_store) make_folder_above_server(addresses.front());
  context.config();       // read now: stores are opened by threads of their own
  Interrupts interrupts;  // before the stores, which start threads
  std::vector<server::StoreToServe> stores;
  for (const auto& address : addresses) stores.push_back(to_serve(context, address, options));
  std::mutex mutex;
  server::Controls controls;
  Impatience impatience{context};
  const InterruptWatch watch{interrupts, [&](int count) {
                               if (count > 1) std::_Exit(static_cast<int>(Exit::interrupted));
                               context.systemd.stopping();
                               impatience.begin();
                               std::lock_guard lock{mutex};
                               if (controls.stop) controls.stop();
                             }};
  std::optional<Watchdog> watchdog;
  server::serve(serve, stores, [&](const server::Started& started, server::Controls given) {
    tell(context, started, serve);
    const auto status =
        fmt::format("serving {} at {}", fmt::join(names_of(started), ", "), started.url);
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
  auto options = std::make_shared<ServeOptions>();
  auto& serve = options->serve;
  CLI::App* command =
      parent.add_subcommand("serve", "Serve the HTTP API and the dashboard, and recover");
  command->add_option("--store", options->stores, "A store to serve; repeatable")
      ->allow_extra_args(false)
      ->type_name("URL");
  command->add_option("--listen", serve.listen, "Where; default: localhost:8420")
      ->type_name("HOST:PORT");
  command->add_flag("--no-auth", serve.no_auth, "Disable authentication (loopback only)");
  command->add_flag("--read-only", serve.read_only,
                    "Read-only mode: all callers have the rights of a viewer");
  command->add_option("--users", serve.users, "Who may log in; see 'holdfast user add'")
      ->type_name("FILE");
  command
      ->add_option("--tokens", serve.tokens,
                   "Tokens of programs; default: 'tokens' in the folder of --state")
      ->type_name("FILE");
  command->add_option("--cert", serve.certificate, "Certificate for TLS (PEM)")->type_name("FILE");
  command->add_option("--key", serve.key, "Its key (PEM)")->type_name("FILE");
  command->add_flag("--behind-proxy", serve.behind_proxy, "A proxy does TLS and says who calls");
  command
      ->add_option(
          "--trusted-proxy", serve.trusted_proxies,
          "Address or network of that proxy; repeatable; default on loopback: this machine")
      ->allow_extra_args(false)
      ->type_name("CIDR");
  command
      ->add_option("--allow-host", serve.host_names,
                   "A name by which the server may be called; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      ->add_option("--max-connections", serve.max_connections,
                   "Maximum connections (default: 4096, or what the limit of open files allows)")
      ->check(CLI::Range(16, 65'536))
      ->type_name("N");
  command
      ->add_option("--max-connections-per-address", serve.max_per_address,
                   "Maximum unauthenticated connections of one address (default: 64)")
      ->check(CLI::Range(1, 65'536))
      ->type_name("N");
  command
      ->add_option("--state", serve.folder,
                   "Folder for tokens and audit log; default: beside the store")
      ->type_name("DIR");
  command
      ->add_option("--output", options->output,
                   "Where output files of batches are, such as dir:FOLDER; default: beside the "
                   "store")
      ->type_name("URL");
  command
      ->add_option("--broker", options->broker,
                   "Where messages of transactions and results are: sqlite:FILE or "
                   "amqp://USER@HOST/VHOST; default: in the store's file")
      ->type_name("URL");
  add_payload_flags(*command, options->payloads, context);
  add_sign_payloads_flag(*command, options->payloads);
  add_refusal_flags(*command, options->payloads);
  add_sealed_kinds_flag(*command, options->payloads);
  add_trace_flags(*command, options->traces);
  add_log_options(*command, options->log);
  chosen(*command, context, options, run_serve);
}

}  // namespace holdfast::cli
