#include <holdfast/http/request.hpp>

#include <boost/json/value_from.hpp>

#include "http/headers.hpp"
#include "http/json.hpp"

namespace holdfast::http {

boost::json::value to_json(const Request& request) {
  boost::json::object json;
  json["http_method"] = lower(to_string(request.method));
  json["url"] = request.url;
  json["headers"] = boost::json::value_from(request.headers);
  if (!request.secret_headers.empty())
    json["secret_headers"] = boost::json::value_from(request.secret_headers);
  json["body"] = body_json(request.body);
  if (request.timeout) json["timeout_ms"] = request.timeout->count();
  if (request.host_patience) json["host_patience_ms"] = request.host_patience->count();
  if (request.max_redirects) json["max_redirects"] = *request.max_redirects;
  if (request.raise_error_responses) json["raise_error_responses"] = *request.raise_error_responses;
  if (request.on_ambiguous == OnAmbiguous::hold) json["on_ambiguous"] = "hold";
  if (!request.sign_with.empty()) json["sign_with"] = request.sign_with;
  if (!request.callback.empty()) json["callback"] = request.callback;
  if (!request.callback_queue.empty()) json["callback_queue"] = request.callback_queue;
  if (!request.context.is_null()) json["context"] = request.context;
  return json;
}

Request request_from_json(const boost::json::value& json) {
  Reading read{json, "the request"};
  Request request;
  request.method = read.method("http_method");
  request.url = read.text("url");
  request.headers = merge({}, read.headers("headers"));
  request.secret_headers = merge({}, read.headers("secret_headers"));
  request.body = read.body("body");
  if (read.find("timeout_ms")) request.timeout = Millis{read.number("timeout_ms")};
  if (read.find("host_patience_ms"))
    request.host_patience = Millis{read.number("host_patience_ms")};
  if (read.find("max_redirects"))
    request.max_redirects = static_cast<int>(read.number("max_redirects"));
  if (read.find("raise_error_responses"))
    request.raise_error_responses = read.flag("raise_error_responses");
  auto ambiguous = read.text("on_ambiguous");
  if (ambiguous == "hold")
    request.on_ambiguous = OnAmbiguous::hold;
  else if (!ambiguous.empty() && ambiguous != "retry")
    read.refuse("on_ambiguous", "retry or hold");
  request.sign_with = read.text("sign_with");
  request.callback = read.text("callback");
  request.callback_queue = read.text("callback_queue");
  request.context = read.any("context");
  validate(request);
  return request;
}

}  // namespace holdfast::http
