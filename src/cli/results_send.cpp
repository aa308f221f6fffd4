#include <charconv>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/input_file.hpp"
#include "cli/results_options.hpp"
#include "documents/json.hpp"
#include "results/produce.hpp"

namespace holdfast::cli {

namespace {

struct ResultsSendOptions {
  std::string broker;
  std::string id;
  std::string file = "-";
  std::vector<std::string> header;
  std::string series;
  std::int64_t ordinal = 0;
  std::string queue;
};

results::AnnouncedSeries announced(const std::string& text) {
  const auto equals = text.rfind('=');
  results::AnnouncedSeries series{.name = text.substr(0, equals)};
  const auto digits = equals == text.npos ? "" : text.substr(equals + 1);
  const auto* end = digits.data() + digits.size();
  auto [stopped, error] = std::from_chars(digits.data(), end, series.count);
  if (digits.empty() || series.name.empty() || error != std::errc{} || stopped != end ||
      series.count < 0)
    throw InvalidRequest{fmt::format("--header '{}' is not SERIES=COUNT, such as Files=3", text)};
  return series;
}

Message message_of(const ResultsSendOptions& options) {
  const bool part = !options.series.empty();
  if (part + !options.header.empty() + !options.queue.empty() != 1)
    throw InvalidRequest{
        "say what is sent: --header SERIES=COUNT, or --series NAME --ordinal N, or --queue QUEUE"};
  if (!options.queue.empty()) {
    auto body = content_of_input(options.file);
    return {.queue = options.queue, .body = std::move(body), .id = options.id};
  }
  if (options.id.empty())
    throw InvalidRequest{"--id is missing: the transaction that the message is for"};
  if (part) {
    if (options.ordinal < 1) throw InvalidRequest{"--ordinal is missing; parts begin with 1"};
    return results::part_message_of(options.id, options.series, options.ordinal,
                                    content_of_input(options.file));
  }
  std::vector<results::AnnouncedSeries> series;
  for (const auto& text : options.header) series.push_back(announced(text));
  return results::header_message_of(options.id, series);
}

Exit run_results_send(Context& context, const ResultsSendOptions& options) {
  const auto message = message_of(options);
  const Engine engine = context.existing_engine();
  const auto broker = open_broker_of(context, engine, {.broker = options.broker});
  try {
    broker->publish(message);
  } catch (const QueueMissing&) {
    throw QueueMissing{fmt::format(
        "there is no queue '{}', and nothing was sent; 'holdfast results run' makes the "
        "queues that it is told of, and those of a result when that begins",
        message.queue)};
  }
  if (context.json)
    context.print_json(
        JsonObject{}.text("queue", message.queue).number("bytes", message.body.size()).str());
  else
    context.confirm(fmt::format("sent to queue '{}'", message.queue));
  return Exit::ok;
}

}  // namespace

void add_results_send(CLI::App& parent, Context& context) {
  auto options = std::make_shared<ResultsSendOptions>();
  CLI::App* command =
      parent.add_subcommand("send", "Send a header, a part or any other message to a queue");
  command->add_option("FILE", options->file, "The bytes; default: standard input")->type_name("");
  command
      ->add_option("--id", options->id,
                   "The transaction that it is for; with --queue the id of the message")
      ->type_name("ID");
  command
      ->add_option("--header", options->header,
                   "Send the header of a result with SERIES=COUNT, such as Files=3; repeatable")
      ->allow_extra_args(false)
      ->type_name("SERIES=COUNT");
  command->add_option("--series", options->series, "Send a part of this series")->type_name("NAME");
  command->add_option("--ordinal", options->ordinal, "Which part it is; parts begin with 1")
      ->type_name("N");
  command->add_option("--queue", options->queue, "Send the bytes as they are to this queue")
      ->type_name("QUEUE");
  add_broker_option(*command, options->broker);
  chosen(*command, context, options, run_results_send);
}

}  // namespace holdfast::cli
