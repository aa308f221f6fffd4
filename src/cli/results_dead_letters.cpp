#include "cli/results_dead_letters.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/results_options.hpp"
#include "cli/table.hpp"
#include "documents/json.hpp"
#include "transactions/dead_letters.hpp"

namespace holdfast::cli {

namespace {

/// As many as one call looks at.
constexpr int most_letters = 10'000;

struct ResultsDeadLettersOptions {
  ResultPlaces places;
  std::vector<std::string> letters;
  bool all = false;
  int limit = 50;
};

DeadLetters open_letters(Context& context, const ResultsDeadLettersOptions& options) {
  const Engine engine = context.existing_engine();
  return DeadLetters{open_broker_of(context, engine, options.places)};
}

std::string json_of(const DeadLetters::Letter& letter) {
  return JsonObject{}
      .text("letter", letter.name)
      .text("id", letter.delivery->id())
      .text("queue", letter.queue())
      .number("bytes", letter.delivery->size())
      .text("reason", letter.reason())
      .str();
}

/// Those that were named, all of which have to be there.
std::vector<DeadLetters::Letter> chosen_letters(DeadLetters& letters,
                                                const ResultsDeadLettersOptions& options) {
  auto found = letters.take(most_letters);
  if (options.all) return found;
  for (const auto& name : options.letters)
    if (std::ranges::find(found, name, &DeadLetters::Letter::name) == found.end())
      throw InvalidRequest{fmt::format(
          "there is no dead letter '{}'; 'holdfast results dead-letters list' names them", name)};
  std::erase_if(found, [&](const auto& each) {
    return std::ranges::find(options.letters, each.name) == options.letters.end();
  });
  return found;
}

Exit list_letters(Context& context, const ResultsDeadLettersOptions& options) {
  auto letters = open_letters(context, options);
  const auto found = letters.take(options.limit);
  if (context.json) {
    for (const auto& letter : found) context.print_json(json_of(letter));
    return Exit::ok;
  }
  if (found.empty()) {
    context.confirm("no dead letters");
    return Exit::ok;
  }
  Table table{{{"LETTER"}, {"ID"}, {"QUEUE"}, {"BYTES", true}, {"REASON"}}};
  for (const auto& letter : found)
    table.add({letter.name, letter.delivery->id().empty() ? "-" : letter.delivery->id(),
               letter.queue().empty() ? "-" : letter.queue(),
               std::to_string(letter.delivery->size()),
               letter.reason().empty() ? "-" : letter.reason()});
  context.print(table.text(context.out));
  return Exit::ok;
}

Exit show(Context& context, const ResultsDeadLettersOptions& options) {
  auto letters = open_letters(context, options);
  for (const auto& letter : chosen_letters(letters, options))
    context.print(letter.delivery->body());
  return Exit::ok;
}

Exit change(Context& context, const ResultsDeadLettersOptions& options, const char* past,
            void (DeadLetters::*act)(const DeadLetters::Letter&)) {
  if (options.letters.empty() != options.all)
    throw InvalidRequest{"name dead letters or give --all, and not both"};
  auto letters = open_letters(context, options);
  const auto found = chosen_letters(letters, options);
  for (const auto& letter : found) (letters.*act)(letter);
  if (context.json)
    context.print_json(JsonObject{}.number("changed", found.size()).str());
  else
    context.confirm(
        fmt::format("{} dead letter{} {}", found.size(), found.size() == 1 ? "" : "s", past));
  return Exit::ok;
}

Exit replay(Context& context, const ResultsDeadLettersOptions& options) {
  return change(context, options, "replayed", &DeadLetters::replay);
}

Exit discard(Context& context, const ResultsDeadLettersOptions& options) {
  return change(context, options, "discarded", &DeadLetters::discard);
}

CLI::App* add(CLI::App& group, const char* name, const char* description,
              ResultsDeadLettersOptions& options) {
  CLI::App* command = group.add_subcommand(name, description);
  add_broker_option(*command, options.places.broker);
  return command;
}

}  // namespace

void add_results_dead_letters(CLI::App& parent, Context& context) {
  CLI::App& group = *parent.add_subcommand("dead-letters", "Look at messages that were rejected");
  group.require_subcommand(1);
  auto listed = std::make_shared<ResultsDeadLettersOptions>();
  CLI::App* command = add(group, "list", "List dead letters with their reasons", *listed);
  command->add_option("--limit", listed->limit, "At most so many; default: 50")
      ->check(CLI::Range(1, most_letters));
  chosen(*command, context, listed, list_letters);

  auto shown = std::make_shared<ResultsDeadLettersOptions>();
  command = add(group, "show", "Print the body of a dead letter", *shown);
  command->add_option("LETTER", shown->letters, "As 'list' names it")
      ->required()
      ->expected(1)
      ->type_name("");
  chosen(*command, context, shown, show);

  for (auto [name, description, run] :
       {std::tuple{"replay", "Send dead letters to their queues again", &replay},
        std::tuple{"discard", "Remove dead letters", &discard}}) {
    auto options = std::make_shared<ResultsDeadLettersOptions>();
    command = add(group, name, description, *options);
    command->add_option("LETTER", options->letters, "As 'list' names them")->type_name("");
    command->add_flag("--all", options->all, "All of them");
    chosen(*command, context, options, run);
  }
}

}  // namespace holdfast::cli
