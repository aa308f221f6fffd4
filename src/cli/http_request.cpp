#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/http.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/http_options.hpp"
#include "cli/http_print.hpp"
#include "cli/input_file.hpp"
#include "cli/task_options.hpp"
#include "documents/json.hpp"
#include "http/headers.hpp"

namespace holdfast::cli {

namespace {

struct HttpRequestOptions {
  http::Method method = http::Method::get;
  std::string url;
  std::vector<std::string> headers, secret_headers, params;
  std::string data_file;
  std::string timeout, host_patience, delay;
  std::string context;
  bool hold = false;
  bool raise = false;
  bool print = false;
  http::Call call;
  http::ClientOptions client;
  EgressFlags egress;
};

http::Call call_of(const HttpRequestOptions& options) {
  auto call = options.call;
  for (const auto& header : options.headers) {
    auto [name, value] = name_and_value(header, ':', "--header");
    auto [at, is_new] = call.headers.try_emplace(http::lower(name), value);
    // One header of several values is the same as several of one.
    if (!is_new) at->second += ", " + value;
  }
  if (!options.data_file.empty()) call.body = content_of_input(options.data_file);
  for (const auto& param : options.params)
    call.params.push_back(name_and_value(param, '=', "--param"));
  if (!options.timeout.empty()) call.timeout = parse_duration(options.timeout, "--timeout");
  if (!options.host_patience.empty())
    call.host_patience = parse_duration(options.host_patience, "--host-patience");
  if (!options.context.empty()) call.context = parse_json(options.context);
  if (options.hold) call.on_ambiguous = http::OnAmbiguous::hold;
  if (options.raise) call.raise_error_responses = true;
  return call;
}

std::map<std::string, std::string> secret_headers_of(const HttpRequestOptions& options,
                                                     const http::Headers& others) {
  std::map<std::string, std::string> headers;
  for (const auto& header : options.secret_headers) {
    auto [name, secret] = name_and_value(header, ':', "--secret-header");
    name = http::lower(name);
    if (others.contains(name))
      throw InvalidRequest{fmt::format("header '{}' has a value and a secret; keep one", name)};
    if (!headers.emplace(name, secret).second)
      throw InvalidRequest{fmt::format("header '{}' has two secrets; keep one", name)};
  }
  return headers;
}

Exit run_http_request(Context& context, const HttpRequestOptions& options) {
  auto call = call_of(options);
  call.secret_headers = secret_headers_of(options, call.headers);
  auto client_options = options.client;
  client_options.payloads = payloads_of(options.egress.payloads, context);
  if (!options.delay.empty()) client_options.task.delay = parse_duration(options.delay, "--delay");
  if (options.print)
    return perform_and_print(context,
                             {options.method, options.url, call, client_options, options.egress});
  http::Client client{context.engine(), client_options};
  auto id = client.enqueue(client.build(options.method, options.url, call));
  if (context.json)
    context.print_json(JsonObject{}.text("id", id.text()).str());
  else
    context.say(id.text());
  return Exit::ok;
}

void add_call_options(CLI::App& command, HttpRequestOptions& options) {
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
  if (has_body) {
    auto* data = command.add_option("--data", options.call.body, "The body")->type_name("TEXT");
    command.add_option("--data-file", options.data_file, "File with the body; - is stdin")
        ->type_name("FILE")
        ->excludes(data);
  }
  // Others do no more when they are sent twice, and are sent again whatever was asked for.
  if (!http::is_idempotent(options.method))
    command.add_flag("--hold", options.hold,
                     "Do not send it again by itself once it may have been sent");
  command.add_option("--timeout", options.timeout, "For each hop, such as 5s; default: 30s")
      ->type_name("TIME");
  command
      .add_option("--host-patience", options.host_patience,
                  "How long to wait for a host whose circuit breaker is open, from when it opened; "
                  "default: the processor's setting")
      ->type_name("TIME");
  command
      .add_option("--max-redirects", options.call.max_redirects,
                  "Follow so many; default: what whoever sends it says; 0 follows none")
      ->check(CLI::Range(0, 50));
  command
      .add_option("--attempts", options.client.persistence.attempts,
                  "Give up after so many; default: 4")
      ->check(CLI::Range(1, 1'000));
  command.add_option("--sign-with", options.call.sign_with, "Name of a key of whoever sends")
      ->type_name("NAME");
  command.add_flag("--raise", options.raise, "Take answers of 400 and more for errors");
}

void add_method(CLI::App& parent, Context& context, http::Method method, const std::string& name) {
  auto options = std::make_shared<HttpRequestOptions>();
  options->method = method;
  CLI::App* command =
      parent.add_subcommand(name, fmt::format("Enqueue a {} request", http::to_string(method)));
  add_call_options(*command, *options);
  command->add_option("--callback", options->call.callback, "Kind of the task that gets the answer")
      ->type_name("KIND");
  command
      ->add_option("--callback-queue", options->call.callback_queue,
                   "Queue of that task; default: default")
      ->needs("--callback")
      ->type_name("QUEUE");
  command->add_option("--context", options->context, "JSON that the callback gets, too")
      ->type_name("JSON");
  add_place_options(*command, options->client.task);
  command->add_option("--delay", options->delay, "Send it no sooner than this from now (10s, 5m)")
      ->type_name("DURATION");
  command->add_flag("--print", options->print, "Perform it now and print the answer");
  add_egress_flags(*command, options->egress, context);
  chosen(*command, context, options, run_http_request);
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
