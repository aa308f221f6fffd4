#pragma once

#include <string_view>

#include <holdfast/attempt.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/http/request.hpp>

namespace holdfast::http {

/// Whether a request asks for that: it says `hold`, and sending it twice would do more than once.
inline bool is_only_once(const Request& request) {
  return request.on_ambiguous == OnAmbiguous::hold && !is_idempotent(request.method);
}

/// The durable step between "not sent" and "maybe sent", for requests that must not be sent twice
/// by themselves. True: this attempt may send, and everybody will know that it may have. False: an
/// earlier attempt may have sent it, and nobody has said since that it may be sent again.
bool begin_sending(Attempt& attempt, const Engine& engine);

/// Notes that this attempt certainly sent nothing, or was turned away, so that the next one may.
void may_be_sent_again(Attempt& attempt);

}  // namespace holdfast::http
