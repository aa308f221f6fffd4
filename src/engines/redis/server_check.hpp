#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/redis/server.hpp"

namespace holdfast::redis {

/// What to tell people about a version whose script engine lets everyone who may run scripts take
/// over the server (CVE-2025-49844 and others of that release); empty: nothing. `info` is the
/// answer to `INFO server` of Redis or Valkey.
///
/// Distributions repair versions without changing their number: Debian 12's 7.0.15 is safe from
/// 5:7.0.15-1~deb12u6 on and looks the same before. So nothing is said about 7.0.15.
std::string script_engine_warning(std::string_view info);

/// What is unsafe about this server and the way to it, for the log: at most one sentence for each.
/// What the user may not ask about is left out. Throws `Disconnected`.
std::vector<std::string> look_for_holes(Server& server);

}  // namespace holdfast::redis
