#pragma once

#include <functional>
#include <string>

#include <holdfast/http/payloads.hpp>
#include <holdfast/http/response.hpp>
#include <holdfast/tasks.hpp>

namespace holdfast::http {

namespace detail {

template <class Context>
Context context_as(const boost::json::value& json) {
  Context context{};
  holdfast::detail::read_json(json, context,
                              holdfast::detail::JsonPlace{nullptr, "context of the request"});
  return context;
}

}  // namespace detail

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
/// A callback whose context has another shape is held, as a task with an unfit payload is.
template <class Context, class Complete, class Failed>
void on(Tasks& tasks, const std::string& kind, Complete on_complete, Failed on_error,
        PayloadOptions payloads = {}) {
  Callback callback;
  callback.on_complete = [on_complete](const Response& response, Attempt&) {
    on_complete(response, detail::context_as<Context>(response.context));
  };
  callback.on_error = [on_error](const RequestError& error, Attempt&) {
    on_error(error, detail::context_as<Context>(error.context));
  };
  on(tasks, kind, std::move(callback), std::move(payloads));
}

}  // namespace holdfast::http
