#pragma once

#include <functional>
#include <string>

#include <holdfast/http/payloads.hpp>
#include <holdfast/http/response.hpp>
#include <holdfast/tasks.hpp>

namespace holdfast::http {

/// What becomes of the answer to a request: a task like any other, run by ordinary workers. One
/// that throws is tried again.
struct Callback {
  std::function<void(const Response&, Attempt&)> on_complete{};
  std::function<void(const RequestError&, Attempt&)> on_error{};  ///< none: errors fail the task
};

/// Says what the callback named `kind` does.
void on(Tasks& tasks, const std::string& kind, Callback callback, PayloadOptions payloads = {});

/// The same with the context as the type that it was when the request was made:
/// `on_complete(const Response&, const Context&)`, `on_error(const RequestError&, const Context&)`.
template <class Context, class Complete, class Failed>
void on(Tasks& tasks, const std::string& kind, Complete on_complete, Failed on_error,
        PayloadOptions payloads = {}) {
  Callback callback;
  callback.on_complete = [on_complete](const Response& response, Attempt&) {
    on_complete(response, boost::json::value_to<Context>(response.context));
  };
  callback.on_error = [on_error](const RequestError& error, Attempt&) {
    on_error(error, boost::json::value_to<Context>(error.context));
  };
  on(tasks, kind, std::move(callback), std::move(payloads));
}

}  // namespace holdfast::http
