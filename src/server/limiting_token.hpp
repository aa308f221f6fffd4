#pragma once

#include <string>
#include <string_view>

#include "server/problem.hpp"
#include "server/request.hpp"
#include "server/token.hpp"

namespace holdfast::server {

/// The token whose queues and kinds limit what this caller enqueues and works on; nothing: no
/// limits, as for operators. Lives as long as the caller.
const ProgramToken* limiting_token(const Caller& caller);

/// The refusal where the token is not for this queue or kind (`what` says which).
Problem not_allowed(const ProgramToken& token, std::string_view what, const std::string& name);

/// Tells callers apart: two requests with the same text are by the same credential. A token that
/// was made again under an old name is another one.
std::string credential_of(const Caller& caller);

}  // namespace holdfast::server
