#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/http_sidekiq.hpp"
#include "cli/table.hpp"
#include "documents/http_health.hpp"
#include "documents/http_requests.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct HttpListOptions {
  int limit = 50;
};

Exit run_http_list(Context& context, const HttpListOptions& options) {
  if (is_sidekiq(context)) return list_sidekiq(context, options.limit);
  const auto requests = requests_in_flight(context.existing_engine(), options.limit, wall_now());
  Table table{{{"REQUEST"}, {"AGE", true}, {"METHOD"}, {"HOST"}, {"WORKER"}, {"HEARTBEAT", true}}};
  for (const auto& request : requests) {
    if (context.json) context.print_json(request_json(request));
    table.add({request.id.text(), duration_text(request.age), request.method, request.host,
               request.worker, request.heartbeat_age ? duration_text(*request.heartbeat_age) : ""});
  }
  if (context.json) return Exit::ok;
  if (requests.empty())
    context.confirm("no requests are in flight");
  else
    context.print(table.text(context.out));
  for (const auto& host : hosts_left_alone(context.existing_engine(), wall_now()))
    context.say(sentence_of(host));
  return Exit::ok;
}

}  // namespace

void add_http_list(CLI::App& parent, Context& context) {
  auto options = std::make_shared<HttpListOptions>();
  CLI::App* command = parent.add_subcommand("list", "List requests in flight");
  command->add_option("--limit", options->limit, "At most so many; default: 50")
      ->check(CLI::Range(1, 100'000));
  chosen(*command, context, options, run_http_list);
}

}  // namespace holdfast::cli
