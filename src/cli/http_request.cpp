#include <array>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/http.hpp>
#include <holdfast/inspector.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/http_options.hpp"
#include "documents/json.hpp"
#include "recovery/plain_text.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast::cli {

namespace {

struct Options {
  http::Method method = http::Method::get;
  std::string url;
  std::vector<std::string> headers, secret_headers, params;
  std::string timeout;
  std::string context;
  bool hold = false;
  bool raise = false;
  bool print = false;
  http::Call call;
  http::ClientOptions client;
  EgressFlags egress;
};

http::Call call_of(const Options& options) {
  auto call = options.call;
  for (const auto& header : options.headers)
    call.headers.insert(name_and_value(header, ':', "--header"));
  for (const auto& param : options.params)
    call.params.push_back(name_and_value(param, '=', "--param"));
  if (!options.timeout.empty()) call.timeout = parse_duration(options.timeout, "--timeout");
  if (!options.context.empty()) call.context = parse_json(options.context);
  if (options.hold) call.on_ambiguous = http::OnAmbiguous::hold;
  if (options.raise) call.raise_error_responses = true;
  return call;
}

Exit print_answer(const Context& context, const TaskRecord& task) {
  if (task.state == TaskState::held) throw InvalidRequest{task.cause};
  if (task.state != TaskState::completed) throw InvalidRequest{task.error};
  auto response = http::response_from_json(parse_json(task.result).at("response"));
  if (context.json) {
    context.print_json(json_line(boost::json::serialize(to_json(response))));
  } else {
    if (!context.quiet) fmt::print(stderr, "{} {}\n", response.status, plain(response.url));
    // Into a file or a pipe as it came; a terminal gets what cannot steer it.
    if (context.out.interactive)
      context.say(response.body);
    else
      std::fwrite(response.body.data(), 1, response.body.size(), stdout);
  }
  return response.success() ? Exit::ok : Exit::refused;
}

/// Removes a request that was performed here, so that its queue is not seen any more: whoever asked
/// for it has heard how it ended. One that is held is for somebody to decide about, and stays.
/// Where the store is away by now, retention removes it.
void forget(const Engine& engine, const TaskRecord& task) {
  auto* tasks = engine.parts().task_transfer();
  if (!tasks || task.state == TaskState::held) return;
  const std::array ids{task.id};
  constexpr int most_tries = 20;
  try {
    // Those that wait for it may have to hear of it first.
    for (int tries = 0; tries < most_tries && tasks->forget(ids) == 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds{25});
  } catch (const StoreError&) {
    return;
  }
}

/// Performs it here and now, in a queue of its own, so that nobody else's request is taken along.
/// If this process dies, it stays in the store like any other.
Exit perform_and_print(Context& context, const http::Request& request,
                       http::ClientOptions client_options, const EgressFlags& flags) {
  auto id = TaskId::make();
  client_options.task.queue = "http-print-" + id.text();
  auto engine = context.engine(Stay::lasting);
  http::Client{engine, client_options}.enqueue(request, id);
  http::ProcessorOptions options;
  apply(flags, options);
  options.queues = {client_options.task.queue};
  options.until_empty = true;
  http::Processor{engine, options}.run();
  auto task = Inspector{engine}.task(id);
  if (!task) throw Error{"the request is gone before its answer could be read"};
  try {
    const auto ended = print_answer(context, *task);
    std::fflush(stdout);
    forget(engine, *task);
    return ended;
  } catch (const InvalidRequest&) {
    forget(engine, *task);  // how it failed is the answer
    throw;
  }
}

Exit run(Context& context, const Options& options) {
  auto client_options = options.client;
  for (const auto& header : options.secret_headers)
    client_options.secret_headers.insert(name_and_value(header, ':', "--secret-header"));
  client_options.payloads = payloads_of(options.egress);
  if (options.print && !options.call.callback.empty())
    throw InvalidRequest{"an answer is either printed or given to a callback, not both"};
  auto engine = context.engine();
  http::Client client{engine, client_options};
  auto request = client.build(options.method, options.url, call_of(options));
  if (options.print) return perform_and_print(context, request, client_options, options.egress);
  auto id = client.enqueue(request);
  if (context.json)
    context.print_json(JsonObject{}.text("id", id.text()).str());
  else
    context.say(id.text());
  return Exit::ok;
}

void add_call_options(CLI::App& command, Options& options) {
  command.add_option("url", options.url, "Where to")->required()->type_name("URL");
  command.add_option("--header", options.headers, "Header 'Name: value'; repeatable")
      ->allow_extra_args(false)
      ->type_name("HEADER");
  command
      .add_option("--secret-header", options.secret_headers,
                  "Header 'Name: secret', whose value is looked up by whoever sends; repeatable")
      ->allow_extra_args(false)
      ->type_name("HEADER");
  command.add_option("--param", options.params, "Parameter name=value for the URL; repeatable")
      ->allow_extra_args(false)
      ->type_name("PARAM");
  bool has_body = options.method == http::Method::post || options.method == http::Method::put ||
                  options.method == http::Method::patch;
  if (has_body) command.add_option("--data", options.call.body, "The body")->type_name("TEXT");
  // Others do no more when they are sent twice, and are sent again whatever was asked for.
  if (!http::is_idempotent(options.method))
    command.add_flag("--hold", options.hold,
                     "Do not send it again by itself once it may have been sent");
  command.add_option("--timeout", options.timeout, "For each hop, such as 5s; default: 30s")
      ->type_name("TIME");
  command
      .add_option("--attempts", options.client.persistence.attempts,
                  "Give up after so many; default: 4")
      ->check(CLI::Range(1, 1'000));
  command.add_option("--sign-with", options.call.sign_with, "Name of a key of whoever sends")
      ->type_name("NAME");
  command.add_flag("--raise", options.raise, "Take answers of 400 and more for errors");
}

void add_method(CLI::App& parent, Context& context, http::Method method, const std::string& name) {
  auto options = std::make_shared<Options>();
  options->method = method;
  CLI::App* command =
      parent.add_subcommand(name, fmt::format("Enqueue a {} request", http::to_string(method)));
  add_call_options(*command, *options);
  command->add_option("--callback", options->call.callback, "Kind of the task that gets the answer")
      ->type_name("KIND");
  command->add_option("--context", options->context, "JSON that the callback gets, too")
      ->type_name("JSON");
  command->add_option("--queue", options->client.task.queue, "Queue; default: default")
      ->type_name("QUEUE");
  command->add_flag("--print", options->print, "Perform it now and print the answer");
  add_egress_flags(*command, options->egress);
  chosen(*command, context, options, run);
}

}  // namespace

void add_http_requests(CLI::App& parent, Context& context) {
  add_method(parent, context, http::Method::get, "get");
  add_method(parent, context, http::Method::post, "post");
  add_method(parent, context, http::Method::put, "put");
  add_method(parent, context, http::Method::patch, "patch");
  add_method(parent, context, http::Method::delete_, "delete");
  add_method(parent, context, http::Method::head, "head");
}

}  // namespace holdfast::cli
