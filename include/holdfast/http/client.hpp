#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/http/payloads.hpp>
#include <holdfast/http/request.hpp>
#include <holdfast/http/response.hpp>
#include <holdfast/tasks.hpp>

namespace holdfast::http {

/// The kind of tasks that requests are.
inline constexpr const char* request_kind = "holdfast.http";

using Parameters = std::vector<std::pair<std::string, std::string>>;

/// What every request of a client has, unless it says otherwise.
struct ClientOptions {
  /// Relative URLs go below this one. Requests with absolute URLs to another origin (scheme, host
  /// and port) get neither the headers nor the secret headers of the client.
  std::string base_url{};
  Headers headers{};
  std::map<std::string, std::string> secret_headers{};  ///< header to the name of a secret
  Millis timeout{30'000};
  Persistence persistence{};
  TaskOptions task{};  ///< queue, priority, tags; its attempts and back-off come from `persistence`
  PayloadOptions payloads{};
};

/// What one request can say about itself.
struct Call {
  Parameters params{};  ///< encoded and added to the URL's own
  Headers headers{};    ///< added to the client's, and instead of one of the same name
  std::map<std::string, std::string> secret_headers{};  ///< in the same way
  std::string body{};
  std::string callback{};        ///< kind of the callback's task; see `on`
  std::string callback_queue{};  ///< of that task; empty: the queue `default`
  boost::json::value context{};  ///< for the callback; `with` takes any described struct
  std::optional<Millis> timeout{};
  std::optional<Millis> host_patience{};  ///< see `Request`
  std::optional<int> max_redirects{};
  std::optional<bool> raise_error_responses{};
  OnAmbiguous on_ambiguous = OnAmbiguous::retry;
  std::string sign_with{};
  std::optional<TaskId> id{};  ///< to repeat an enqueue whose reply was lost

  template <class T>
  Call&& with(const T& value) && {
    context = holdfast::detail::write_json(value);
    return std::move(*this);
  }
};

/// `callback("store_profile", Reader{7})`: what most calls consist of.
template <class T>
Call callback(std::string kind, const T& context) {
  Call call;
  call.callback = std::move(kind);
  call.context = holdfast::detail::write_json(context);
  return call;
}

/// Hands requests over. When a call returns, the request is durable; a `Processor`, in this process
/// or another, performs it.
class Client {
 public:
  explicit Client(Engine engine, ClientOptions options = {});

  TaskId get(std::string_view url, Call call = {});
  TaskId post(std::string_view url, Call call = {});
  TaskId put(std::string_view url, Call call = {});
  TaskId patch(std::string_view url, Call call = {});
  TaskId delete_(std::string_view url, Call call = {});
  TaskId head(std::string_view url, Call call = {});
  /// A body of JSON, and the header that says so.
  template <class T>
  TaskId post_json(std::string_view url, const T& value, Call call = {}) {
    call.body = to_payload(value);
    call.headers.emplace("content-type", "application/json");
    return post(url, std::move(call));
  }

  /// The request that a call would make, without enqueuing it.
  Request build(Method method, std::string_view url, const Call& call) const;
  /// The task that `enqueue` would make of it; what is kept outside of the store is there already.
  /// It is for looking at: its kind is reserved, so `Tasks::enqueue` refuses it.
  NewTask task_for(const Request& request, std::optional<TaskId> id = {}) const;
  TaskId enqueue(const Request& request, std::optional<TaskId> id = {});
  /// Many in one atomic step: all or none.
  std::vector<TaskId> enqueue_all(const std::vector<Request>& requests);

  /// The answer to a request without a callback, which is kept with its task; nothing: it is not
  /// there, or not yet. Throws `InvalidRequest` where it was sealed with other options than this
  /// client's, and `BlobError` where blobs cannot be reached.
  std::optional<Response> answer(TaskId id) const;

 private:
  Tasks tasks_;
  ClientOptions options_;
};

}  // namespace holdfast::http
