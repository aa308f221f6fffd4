#include <holdfast/http/callbacks.hpp>

#include <fmt/format.h>

#include "http/blob_trouble.hpp"
#include "http/forget.hpp"
#include "http/owner.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {

namespace {

Outcome call(const Callback& callback, const boost::json::value& document, Attempt& attempt) {
  const auto* object = document.if_object();
  if (const auto* response = object ? object->if_contains("response") : nullptr) {
    callback.on_complete(response_from_json(*response), attempt);
    return done;
  }
  const auto* failure = object ? object->if_contains("error") : nullptr;
  if (!failure) return fail("this is not the answer to a request");
  auto error = error_from_json(*failure);
  if (!callback.on_error) return fail(fmt::format("{}: {}", to_string(error.type), error.message));
  callback.on_error(error, attempt);
  return done;
}

}  // namespace

void on(Tasks& tasks, const std::string& kind, Callback callback, PayloadOptions payloads) {
  validate(payloads);
  check_not_reserved("kind of the callback", kind);
  if (!callback.on_complete)
    throw InvalidRequest{fmt::format("the callback '{}' does nothing with answers", kind)};
  tasks.on_json(kind,
                [callback = std::move(callback), payloads = std::move(payloads),
                 warning = UnboundWarning{tasks.engine()}](Attempt& attempt) -> Outcome {
                  Unsealed unsealed;
                  try {
                    unsealed = unseal(attempt.payload(), owner_of(attempt), payloads);
                  } catch (const BlobError& error) {
                    return come_again(error);
                  } catch (const PayloadRefused& error) {
                    return hold(error.what());
                  }
                  if (unsealed.unbound) warning.say(attempt.task());
                  auto outcome = call(callback, unsealed.document, attempt);
                  if (!unsealed.blob.empty()) forget_when_done(attempt, unsealed.blob);
                  return outcome;
                });
}

}  // namespace holdfast::http
