#include <holdfast/http/response.hpp>

#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>

#include <holdfast/payload.hpp>

#include "http/headers.hpp"
#include "http/json.hpp"

namespace holdfast::http {

std::string json_text(const Response& response) {
  Writing headers;
  for (const auto& [name, value] : response.headers) headers.text(name, value);
  return Writing{}
      .number("status", response.status)
      .json("headers", headers.str())
      .json("body", body_text(response.body))
      .fraction("duration", response.duration)
      .text("request_id", response.request_id)
      .text("url", response.url)
      .text("http_method", lower(to_string(response.method)))
      .texts("redirects", response.redirects)
      .json("context", boost::json::serialize(response.context))
      .str();
}

boost::json::value to_json(const Response& response) { return parse_json(json_text(response)); }

Response response_from_json(const boost::json::value& json) {
  Reading read{json, "the response"};
  Response response;
  response.status = static_cast<int>(read.number("status"));
  response.headers = read.headers("headers");
  response.body = read.body("body");
  response.duration = read.fraction("duration");
  response.request_id = read.text("request_id");
  response.url = read.text("url");
  response.method = read.method("http_method");
  response.redirects = read.texts("redirects");
  response.context = read.any("context");
  return response;
}

boost::json::value to_json(const RequestError& error) {
  boost::json::object json{{"error_type", to_string(error.type)},
                           {"message", error.message},
                           {"duration", error.duration},
                           {"request_id", error.request_id},
                           {"url", error.url},
                           {"http_method", lower(to_string(error.method))},
                           {"redirects", boost::json::value_from(error.redirects)},
                           {"context", error.context}};
  if (error.response) json["response"] = to_json(*error.response);
  return json;
}

RequestError error_from_json(const boost::json::value& json) {
  Reading read{json, "the error"};
  RequestError error;
  auto type = parse_error_type(read.text("error_type"));
  if (!type) read.refuse("error_type", "a known type of error");
  error.type = *type;
  error.message = read.text("message");
  error.duration = read.fraction("duration");
  error.request_id = read.text("request_id");
  error.url = read.text("url");
  error.method = read.method("http_method");
  error.redirects = read.texts("redirects");
  error.context = read.any("context");
  if (const auto* response = read.find("response")) error.response = response_from_json(*response);
  return error;
}

boost::json::value Response::json() const { return parse_json(body); }

std::string_view Response::header(std::string_view name) const {
  auto at = headers.find(lower(name));
  return at == headers.end() ? std::string_view{} : at->second;
}

}  // namespace holdfast::http
