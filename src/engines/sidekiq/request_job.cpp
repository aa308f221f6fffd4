#include "engines/sidekiq/request_job.hpp"

#include <cmath>

#include <fmt/format.h>
#include <boost/json/serialize.hpp>
#include <holdfast/error.hpp>

#include "engines/sidekiq/body.hpp"
#include "engines/sidekiq/ruby_json.hpp"
#include "http/headers.hpp"
#include "http/json.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::sidekiq {

namespace {

constexpr double milliseconds_begin = 1e11;  // as seconds, that would be the year 5138
constexpr int usual_retries = 25;
constexpr std::size_t longest_id = 255;
/// The job, its arguments, the error and its response.
constexpr int levels_above_callback_arguments = 4;
constexpr std::size_t callback_arguments_at = 3;

const boost::json::array& arguments_of(const boost::json::object& job) {
  const auto* args = job.if_contains("args");
  if (!args || !args->is_array() || args->get_array().size() < 2)
    throw InvalidRequest{"the job has not the arguments of a request"};
  return args->get_array();
}

/// The name in `{"$secret": name}`.
std::optional<std::string> secret_in(const boost::json::value& value) {
  const auto* object = value.if_object();
  const auto* name = object ? object->if_contains("$secret") : nullptr;
  if (!name || !name->is_string()) return {};
  return std::string{name->get_string()};
}

/// Which are the processor's to say; what an application says of them changes nothing.
bool is_ours(std::string_view header) {
  return header == "connection" || header == "content-length" || header == "transfer-encoding" ||
         header == "proxy-authorization";
}

/// Also of whole numbers and flags, as Ruby writes them; nothing where it is none of these.
std::optional<std::string> header_value(const boost::json::value& value) {
  auto text = ruby_text(value);
  if (value.is_bool() || value.is_int64() || value.is_uint64()) return text;
  if (!value.is_string()) return {};
  return text.starts_with('"') ? std::string{value.get_string()} : text;
}

void read_headers(const http::Reading& read, http::Request& request) {
  const auto* headers = read.find("headers");
  if (!headers) return;
  if (!headers->is_object()) read.refuse("headers", "an object");
  for (const auto& [name, value] : headers->get_object()) {
    auto lowered = http::lower(name);
    if (is_ours(lowered)) continue;
    if (auto secret = secret_in(value)) {
      request.secret_headers[lowered] = *secret;
    } else if (auto text = header_value(value)) {
      request.headers[lowered] = *text;
    } else if (!value.is_null()) {
      read.refuse("headers", "an object of texts");
    }
  }
}

http::Request read_request(const boost::json::value& data) {
  http::Reading read{data, "the request"};
  if (read.find("__encrypted__"))
    throw InvalidRequest{
        "the request is encrypted by the application's own key, which only Ruby has; switch the "
        "gem's encryption off for requests that Holdfast performs"};
  if (read.find("preprocessors"))
    throw InvalidRequest{"the request names preprocessors, which only Ruby can run"};
  http::Request request;
  request.method = read.method("http_method");
  request.url = read.text("url");
  read_headers(read, request);
  if (const auto* body = read.find("body")) request.body = decode_body(*body);
  if (read.find("timeout")) {
    auto seconds = read.fraction("timeout");
    if (!(seconds > 0 && seconds < 86'400)) read.refuse("timeout", "between 0 and a day");
    request.timeout = Millis{std::llround(std::ceil(seconds * 1'000))};
  }
  if (read.find("max_redirects"))
    request.max_redirects = static_cast<int>(read.number("max_redirects"));
  return request;
}

bool is_text_of_utf8(const boost::json::value& json) {
  return is_utf8(boost::json::serialize(json));
}

/// Where the body is, if there is one.
boost::json::value* body_in(boost::json::array& args) {
  auto* data = args.empty() ? nullptr : args[0].if_object();
  return data ? data->if_contains("body") : nullptr;
}

void make_utf8(boost::json::object& job) {
  auto* args = job.contains("args") ? job["args"].if_array() : nullptr;
  if (auto* body = args ? body_in(*args) : nullptr; body && !is_text_of_utf8(*body))
    *body = bytes_body(decode_body(*body));
  if (args && args->size() > callback_arguments_at) {
    auto& said = (*args)[callback_arguments_at];
    said = parse_as_ruby(as_utf8(boost::json::serialize(said)));
  }
  if (!is_text_of_utf8(job))
    throw InvalidRequest{
        "the job has bytes that are not UTF-8 elsewhere than in the body and the callback's "
        "arguments"};
}

boost::json::value callback_arguments(const boost::json::array& args) {
  if (args.size() <= callback_arguments_at || !args[callback_arguments_at].is_object())
    return boost::json::object{};
  const auto& said = args[callback_arguments_at];
  constexpr int deepest = deepest_for_ruby - levels_above_callback_arguments;
  if (depth_of(said) > deepest)
    throw InvalidRequest{fmt::format(
        "the callback's arguments are nested deeper than {} levels, and Ruby could not read them "
        "in its callback",
        deepest)};
  return said;
}

}  // namespace

boost::json::object parse_job(const std::string& text) {
  auto json = parse_as_ruby(text);
  auto* job = json.if_object();
  if (!job) throw InvalidRequest{"the job is not a JSON object"};
  if (!is_utf8(text)) make_utf8(*job);
  return std::move(*job);
}

std::optional<std::string> payload_reference(const boost::json::object& job) {
  const auto* data = arguments_of(job)[0].if_object();
  const auto* reference = data ? data->if_contains("$ref") : nullptr;
  if (!reference) return {};
  return http::Reading{*reference, "the reference to the request"}.text("key");
}

RequestJob read_request_job(boost::json::object job, const std::string& payload) {
  RequestJob read;
  const auto& args = arguments_of(job);
  const boost::json::value data = payload.empty() ? args[0] : parse_as_ruby(payload);
  read.request = read_request(data);
  if (!args[1].is_string()) throw InvalidRequest{"the job names no callback"};
  read.callback = args[1].get_string();
  if (args.size() > 2 && args[2].is_bool()) read.request.raise_error_responses = args[2].get_bool();
  read.request.context = callback_arguments(args);
  if (args.size() > 4 && args[4].is_string()) read.id = args[4].get_string();
  if (read.id.empty()) read.id = http::Reading{job, "the job"}.text("jid");
  http::check_header("x-request-id", read.id);
  if (read.id.size() > longest_id)
    throw InvalidRequest{
        fmt::format("the id of the request has {} bytes, and at most {} are allowed",
                    read.id.size(), longest_id)};
  if (const auto* params = http::Reading{data, "the request"}.find("secret_params");
      params && params->is_object())
    for (const auto& [name, value] : params->get_object())
      if (auto secret = secret_in(value)) read.secret_params[name] = *secret;
  validate(read.request);
  read.job = std::move(job);
  return read;
}

int RequestJob::failures() const {
  const auto* count = job.if_contains("retry_count");
  boost::json::error_code none;
  return count ? static_cast<int>(count->to_number<std::int64_t>(none)) + 1 : 0;
}

std::optional<int> RequestJob::most_failures() const {
  const auto* retry = job.if_contains("retry");
  if (!retry || retry->is_null()) return usual_retries;
  if (retry->is_bool()) return retry->get_bool() ? std::optional{usual_retries} : std::nullopt;
  boost::json::error_code wrong;
  auto count = retry->to_number<std::int64_t>(wrong);
  return wrong ? usual_retries : static_cast<int>(count);
}

boost::json::value time_in_style_of(const boost::json::object& job, SystemTime now) {
  const auto* made = job.if_contains("created_at");
  boost::json::error_code none;
  auto since = now.time_since_epoch();
  if (made && made->is_number() && made->to_number<double>(none) > milliseconds_begin)
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  auto micros = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  return static_cast<double>(micros) / 1e6;
}

}  // namespace holdfast::sidekiq
