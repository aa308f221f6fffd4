#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/compression.hpp"
#include "http/curl_errors.hpp"
#include "http/redirect.hpp"
#include "http/transfer.hpp"

namespace holdfast::http {

namespace {

double duration_of(CURL* handle) {
  curl_off_t micros = 0;
  curl_easy_getinfo(handle, CURLINFO_TOTAL_TIME_T, &micros);
  return static_cast<double>(micros) / 1e6;
}

}  // namespace

Answer Transfer::failed(ErrorType type, std::string message) const {
  RequestError error;
  error.type = type;
  error.message = std::move(message);
  // Nothing was sent, and the handle still knows of another request.
  if (type != ErrorType::circuit_open) error.duration = duration_of(handle_.get());
  error.request_id = job_.id;
  error.url = job_.request.url;
  error.method = job_.request.method;
  error.redirects = response_.redirects;
  error.context = job_.request.context;
  return {std::move(error), maybe_sent_};
}

Answer Transfer::broken(CURLcode code) const {
  if (refused_) {
    auto answer = failed(*refused_, refusal_);
    answer.dropped = dropped_;
    return answer;
  }
  // That is what libcurl says of a line that is longer than it takes.
  if (code == CURLE_OUT_OF_MEMORY)
    return failed(ErrorType::response_too_large, "a header of the answer is too long");
  return failed(error_type_of(code, error_),
                fmt::format("{}: {}", origin_.host, explain(code, error_)));
}

std::optional<Answer> Transfer::finish(CURLcode code) {
  if (code != CURLE_OK) return broken(code);
  long status = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  auto turn = decide_redirect(response_.status, std::string{response_.header("location")},
                              {job_.request.url, job_.request.method, !job_.request.body.empty()},
                              response_.redirects, job_.max_redirects);
  if (const auto* wrong = std::get_if<WrongTurn>(&turn)) {
    auto answer = failed(wrong->type, wrong->message);
    answer.location = response_.header("location");
    return answer;
  }
  if (const auto* next = std::get_if<Follow>(&turn)) return follow(*next);
  if (auto undecodable = decode_body()) return undecodable;
  response_.duration = duration_of(handle_.get());
  response_.request_id = job_.id;
  response_.url = std::move(job_.request.url);
  response_.method = job_.request.method;
  response_.context = std::move(job_.request.context);
  return Answer{std::move(response_), true};
}

/// Not by libcurl: one without an end is a whole answer to Debian's.
std::optional<Answer> Transfer::decode_body() {
  const auto most = site_.options.max_response_bytes;
  auto decoded = decode(response_.body, response_.header("content-encoding"), most);
  if (!decoded) return {};
  if (const auto* why = std::get_if<Undecodable>(&*decoded))
    return *why == Undecodable::too_large
               ? failed(ErrorType::response_too_large,
                        fmt::format("the answer has more than {} bytes when it is decoded", most))
               : damaged();
  response_.body = std::get<std::string>(std::move(*decoded));
  // They speak of what was sent.
  response_.headers.erase("content-encoding");
  response_.headers.erase("content-length");
  return {};
}

Answer Transfer::damaged() const {
  auto answer = failed(
      ErrorType::response_damaged,
      fmt::format("{} answered {}, but what it said is compressed, and broken off or damaged",
                  origin_.host, response_.status));
  answer.status = response_.status;
  return answer;
}

std::optional<Answer> Transfer::follow(const Follow& next) {
  auto& request = job_.request;
  response_.redirects.push_back(request.url);
  request.url = next.url;
  origin_ = origin_of(request.url);
  request.method = next.method;
  if (!next.keep_body) {
    request.body.clear();
    request.headers.erase("content-type");
  }
  if (!next.same_origin) leave_origin(job_);
  return {};
}

}  // namespace holdfast::http
