#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/server_folder.hpp"
#include "cli/table.hpp"
#include "documents/json.hpp"
#include "recovery/private_files.hpp"
#include "recovery/time_text.hpp"
#include "server/serve.hpp"
#include "server/tokens.hpp"

namespace holdfast::cli {

namespace {

struct TokenOptions {
  std::string folder;
  std::string file;
  std::string name;
  std::vector<std::string> scopes;
  std::vector<std::string> queues;
  std::vector<std::string> kinds;
  std::string expires;
  std::optional<int> quota_per_minute;
  std::optional<int> quota_waiting;
};

std::string file_of(Context& context, const TokenOptions& options) {
  if (!options.file.empty()) return options.file;
  if (!options.folder.empty()) return server::tokens_file(options.folder);
  if (const auto folder = server_folder(context.store_address()))
    return server::tokens_file(*folder);
  throw ConfigError{"there is no HOME to keep tokens in; name the server's folder with --state"};
}

/// A server refuses to use its folder where other users may write to it, and so does this. A file
/// of its own may be in any folder.
void expect_private_folder(Context& context, const TokenOptions& options) {
  if (!options.file.empty()) return;
  if (options.folder.empty()) make_folder_above_server(context.store_address());
  make_private_folder(std::filesystem::path{file_of(context, options)}.parent_path().string());
}

/// Who runs this, for the audit log of the server.
std::string person() {
  const auto* entry = ::getpwuid(::getuid());
  return entry ? fmt::format("cli/{}", entry->pw_name) : fmt::format("cli/{}", ::getuid());
}

std::string names(const std::vector<std::string>& all) {
  return all.empty() ? "all" : fmt::format("{}", fmt::join(all, ", "));
}

std::string scope_names(const server::ProgramToken& token) {
  std::vector<std::string_view> all;
  for (const auto scope : token.scopes) all.push_back(to_string(scope));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string quotas(const server::ProgramToken& token) {
  std::vector<std::string> all;
  if (token.quota_per_minute) all.push_back(fmt::format("{} a minute", *token.quota_per_minute));
  if (token.quota_waiting) all.push_back(fmt::format("{} waiting", *token.quota_waiting));
  return all.empty() ? "-" : fmt::format("{}", fmt::join(all, ", "));
}

Exit add_token(Context& context, const TokenOptions& options) {
  const auto file = file_of(context, options);
  server::ProgramToken token{.name = options.name,
                             .queues = options.queues,
                             .kinds = options.kinds,
                             .quota_per_minute = options.quota_per_minute,
                             .quota_waiting = options.quota_waiting,
                             .created = wall_now(),
                             .created_by = person()};
  for (const auto& name : options.scopes) token.scopes.insert(server::parse_scope(name).value());
  if (!options.expires.empty())
    token.expires = token.created + parse_duration(options.expires, "--expires");
  validate(token, token.created);
  expect_private_folder(context, options);
  const auto made = server::Tokens{file}.add(std::move(token));
  if (context.json) {
    context.print_json(JsonObject{}
                           .json("token", token_json(made.token, made.token.created))
                           .text("secret", made.secret)
                           .str());
    return Exit::ok;
  }
  context.confirm(fmt::format("token '{}' ({}) {}; this is the only time its secret is shown:",
                              made.token.name, scope_names(made.token),
                              made.token.expires ? "expires at " + iso8601(*made.token.expires)
                                                 : std::string{"does not expire"}));
  context.say(made.secret);
  return Exit::ok;
}

Exit list_token(Context& context, const TokenOptions& options) {
  const auto listed = server::Tokens{file_of(context, options)}.list();
  const auto now = wall_now();
  Table table{{{"TOKEN"},
               {"STATE"},
               {"SCOPES"},
               {"QUEUES"},
               {"KINDS"},
               {"QUOTA"},
               {"CREATED"},
               {"BY"},
               {"EXPIRES"}}};
  for (const auto& token : listed.tokens) {
    if (context.json) context.print_json(token_json(token, now));
    const bool limited = token.has(server::Scope::enqueue) || token.has(server::Scope::work);
    table.add({token.name, std::string{token.state(now)}, scope_names(token),
               limited ? names(token.queues) : "-", limited ? names(token.kinds) : "-",
               quotas(token), iso8601(token.created), token.created_by,
               token.expires ? iso8601(*token.expires) : "never"});
  }
  if (!context.json) context.print(table.text(context.out));
  if (listed.faults.empty()) return Exit::ok;
  throw ConfigError{fmt::format("{} of the file cannot be read and {} ignored; {}",
                                listed.faults.size() == 1 ? "1 line" : "some lines",
                                listed.faults.size() == 1 ? "is" : "are",
                                fmt::join(listed.faults, "; "))};
}

Exit revoke(Context& context, const TokenOptions& options) {
  const auto file = file_of(context, options);
  if (!std::filesystem::exists(file) ||
      !server::Tokens{file}.revoke(options.name, person(), wall_now()))
    throw InvalidRequest{fmt::format(
        "there is no token '{}' in {} that could be revoked; 'holdfast token list' shows them",
        options.name, file)};
  context.confirm(
      fmt::format("token '{}' is revoked; a running server refuses it from now on", options.name));
  return Exit::ok;
}

CLI::App* add_command(CLI::App& parent, TokenOptions& options, const char* name, const char* what) {
  CLI::App* command = parent.add_subcommand(name, what);
  command
      ->add_option("--state", options.folder,
                   "The folder that 'holdfast serve' uses; default: beside the store")
      ->type_name("DIR");
  command->add_option("--tokens", options.file, "The file that 'holdfast serve --tokens' reads")
      ->type_name("FILE");
  return command;
}

}  // namespace

void add_token_add(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* command =
      add_command(parent, *options, "add", "Make a token and print its secret, once");
  command->add_option("NAME", options->name, "Its name: a-z, 0-9 and '-'")
      ->required()
      ->type_name("");
  command->add_option("--scope", options->scopes, "What it may be used for; repeatable")
      ->required()
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"metrics", "enqueue", "work", "viewer", "operator", "admin"}));
  command
      ->add_option("--queue", options->queues,
                   "A queue for enqueue and work, or PREFIX*; repeatable; default: all")
      ->allow_extra_args(false)
      ->type_name("QUEUE");
  command
      ->add_option("--kind", options->kinds,
                   "A kind for enqueue and work, or PREFIX*; repeatable; default: all")
      ->allow_extra_args(false)
      ->type_name("KIND");
  command
      ->add_option("--quota-per-minute", options->quota_per_minute,
                   "Maximum tasks that it may enqueue in a minute; default: no quota")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N");
  command
      ->add_option("--quota-waiting", options->quota_waiting,
                   "Maximum tasks that may wait in its queues; default: no quota")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N");
  command
      ->add_option("--expires", options->expires,
                   "How long it is valid, such as 90d; default: until it is revoked")
      ->type_name("DURATION");
  chosen(*command, context, options, add_token);
}

void add_token_list(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* command = add_command(parent, *options, "list", "List tokens, without their secrets");
  chosen(*command, context, options, list_token);
}

void add_token_revoke(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* command = add_command(parent, *options, "revoke", "Make a token invalid, at once");
  command->add_option("NAME", options->name, "Its name")->required()->type_name("");
  chosen(*command, context, options, revoke);
}

}  // namespace holdfast::cli
