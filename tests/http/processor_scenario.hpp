#pragma once

#include <gmock/gmock.h>

#include <mutex>

#include <fmt/format.h>
#include <holdfast/holdfast.hpp>
#include <holdfast/http.hpp>

#include "support/http_server.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::http {

/// What callbacks were told, by the context of the request.
struct Told {
  std::map<std::string, Response> responses;
  std::map<std::string, RequestError> errors;
  int calls = 0;
};

/// A store, a client and a processor for it, and callbacks that keep what they are told.
class ProcessorScenario : public testing::Test {
 protected:
  static Settings settings() {
    Settings settings;
    settings.worker.drain_timeout = Millis{100};
    return settings;
  }
  static ProcessorOptions lenient() {
    ProcessorOptions options;
    options.egress.allow_private = true;
    options.until_empty = true;
    return options;
  }
  /// May be sent to this server.
  static Binding bound_to(const test::HttpServer& server) {
    return {.hosts = {fmt::format("http://127.0.0.1:{}", server.port())}};
  }
  /// A call whose callback keeps the answer under `name`.
  static Call call(const std::string& name) { return callback("keep", name); }

  /// Performs whatever is enqueued, and then the callbacks.
  Told perform(ProcessorOptions options) {
    summary_ = Processor{engine_, options}.run();
    return call_back(options.payloads);
  }
  Told perform() { return perform(lenient()); }

  Told call_back(const PayloadOptions& payloads = {}) {
    Told told;
    std::mutex mutex;
    Tasks tasks{engine_};
    on<std::string>(
        tasks, "keep",
        [&](const Response& response, const std::string& name) {
          std::lock_guard lock{mutex};
          told.responses[name] = response;
          ++told.calls;
        },
        [&](const RequestError& error, const std::string& name) {
          std::lock_guard lock{mutex};
          told.errors[name] = error;
          ++told.calls;
        },
        payloads);
    Worker{tasks, {.until_empty = true}}.run();
    return told;
  }

  test::TempStore store_;
  Engine engine_ = open(store_.address() + "?durability=crash-safe", settings());
  Inspector inspector_{engine_};
  Client client_{engine_, {.timeout = Millis{20'000}, .persistence = {.attempts = 1}}};
  ProcessorSummary summary_{};
};

}  // namespace holdfast::http
