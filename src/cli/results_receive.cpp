#include <cstdio>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/results_options.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct ResultsReceiveOptions {
  std::string broker;
  std::string queue;
  int count = 1;
  std::string wait = "10s";
  bool declare = false;
};

std::string document_of(Delivery& delivery) {
  JsonObject headers;
  for (const auto& [name, value] : delivery.headers()) headers.text(name, value);
  return JsonObject{}
      .text("queue", delivery.queue())
      .text("id", delivery.id())
      .json("headers", headers.str())
      .text("body", delivery.body())
      .str();
}

/// Printed before it is acknowledged: who is killed in between gets it again.
void hand_out(const Context& context, Consumer& consumer, const DeliveryPtr& delivery) {
  if (context.json)
    context.print_json(document_of(*delivery));
  else
    context.say(delivery->body());
  if (std::fflush(stdout) != 0) throw Error{"standard output cannot be written"};
  consumer.acknowledge(std::span{&delivery, 1});
}

/// What creates the queue may have been started a moment ago.
void listen(Consumer& consumer, const std::string& queue,
            std::chrono::steady_clock::time_point until) {
  while (true) {
    try {
      return consumer.listen(queue);
    } catch (const QueueMissing&) {
      if (std::chrono::steady_clock::now() >= until) throw;
      consumer.receive(Millis{100});
    }
  }
}

Exit run_results_receive(Context& context, const ResultsReceiveOptions& options) {
  const auto wait = parse_duration(options.wait, "--wait");
  const Engine engine = context.existing_engine();
  const auto broker = open_broker_of(context, engine, {.broker = options.broker});
  if (options.declare) broker->declare(options.queue);
  const auto consumer = broker->consume({.prefetch = 1});
  const auto until = std::chrono::steady_clock::now() + wait;
  listen(*consumer, options.queue, until);
  int received = 0;
  while (received < options.count) {
    const auto left = std::chrono::ceil<Millis>(until - std::chrono::steady_clock::now());
    auto news = consumer->receive(std::max(left, Millis{0}));
    for (const auto& delivery : news.deliveries) {
      if (received++ < options.count) hand_out(context, *consumer, delivery);
    }
    if (!news.missing.empty())
      throw QueueMissing{fmt::format("queue '{}' was removed", options.queue)};
    if (news.deliveries.empty() && left <= Millis{0}) break;
  }
  if (received == 0)
    throw InvalidRequest{
        fmt::format("no message came to queue '{}' within {}", options.queue, options.wait)};
  return Exit::ok;
}

}  // namespace

void add_results_receive(CLI::App& parent, Context& context) {
  auto options = std::make_shared<ResultsReceiveOptions>();
  CLI::App* command =
      parent.add_subcommand("receive", "Take messages from a queue and print their bodies");
  command->add_option("QUEUE", options->queue, "The queue")->required()->type_name("");
  command->add_option("--count", options->count, "At most this many; default: 1")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--wait", options->wait, "How long to wait for them; default: 10s")
      ->type_name("TIME");
  command->add_flag("--declare", options->declare, "Create the queue if it does not exist");
  add_broker_option(*command, options->broker);
  chosen(*command, context, options, run_results_receive);
}

}  // namespace holdfast::cli
