#include <termios.h>
#include <unistd.h>

#include <iostream>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "documents/json.hpp"
#include "server/users.hpp"

namespace holdfast::cli {

namespace {

struct UserOptions {
  std::string file;
  std::string name;
  std::string role = "viewer";
};

/// Keeps a terminal from showing what is typed, as long as it lives.
class Unseen {
 public:
  Unseen() : known_{::tcgetattr(0, &before_) == 0} {
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (known_) ::tcsetattr(0, TCSAFLUSH, &quiet);
  }
  ~Unseen() {
    if (known_) ::tcsetattr(0, TCSAFLUSH, &before_);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  termios before_{};
  bool known_;
};

std::string read_password(const Context& context) {
  const Unseen unseen;
  if (::isatty(0) == 1 && context.err.interactive) fmt::print(stderr, "password: ");
  std::string password;
  std::getline(std::cin, password);
  if (::isatty(0) == 1 && context.err.interactive) fmt::print(stderr, "\n");
  return password;
}

Exit add_user(Context& context, const UserOptions& options) {
  const auto role = server::parse_role(options.role);
  server::Users{options.file}.add(options.name, role.value(), read_password(context));
  context.confirm(fmt::format("{} may log in as {}", options.name, options.role));
  return Exit::ok;
}

Exit list_user(Context& context, const UserOptions& options) {
  Table table{{{"USER"}, {"ROLE"}}};
  for (const auto& user : server::Users{options.file}.list()) {
    if (context.json)
      context.print_json(
          JsonObject{}.text("user", user.name).text("role", to_string(user.role)).str());
    table.add({user.name, std::string{to_string(user.role)}});
  }
  if (!context.json) context.print(table.text(context.out));
  return Exit::ok;
}

Exit remove_user(Context& context, const UserOptions& options) {
  if (!server::Users{options.file}.remove(options.name))
    throw InvalidRequest{fmt::format("there is no user '{}' in {}", options.name, options.file)};
  context.confirm(fmt::format("{} may not log in any more", options.name));
  return Exit::ok;
}

CLI::App* add_command(CLI::App& parent, UserOptions& options, const char* name, const char* what) {
  CLI::App* command = parent.add_subcommand(name, what);
  command->add_option("--users", options.file, "The file that 'holdfast serve --users' reads")
      ->required()
      ->type_name("FILE");
  return command;
}

}  // namespace

void add_user_add(CLI::App& parent, Context& context) {
  auto options = std::make_shared<UserOptions>();
  CLI::App* command =
      add_command(parent, *options, "add",
                  "Add a user or set a new password, which is read from standard input");
  command->add_option("NAME", options->name, "Who")->required()->type_name("");
  command->add_option("--role", options->role, "What they may do; default: viewer")
      ->check(CLI::IsMember({"viewer", "operator", "admin"}));
  chosen(*command, context, options, add_user);
}

void add_user_list(CLI::App& parent, Context& context) {
  auto options = std::make_shared<UserOptions>();
  CLI::App* command = add_command(parent, *options, "list", "List who may log in");
  chosen(*command, context, options, list_user);
}

void add_user_remove(CLI::App& parent, Context& context) {
  auto options = std::make_shared<UserOptions>();
  CLI::App* command = add_command(parent, *options, "remove", "Remove a user");
  command->add_option("NAME", options->name, "Who")->required()->type_name("");
  chosen(*command, context, options, remove_user);
}

}  // namespace holdfast::cli
