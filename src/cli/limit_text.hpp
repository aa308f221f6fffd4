#pragma once

#include <string>

#include <holdfast/limit.hpp>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What a limit is named by on the command line.
struct LimitName {
  std::string scope;
  std::string name;
  LimitScope parsed() const { return *parse_limit_scope(scope); }
};
void add_limit_name(CLI::App& command, LimitName& name);

/// Reads `100/1m`: so many in each period. Throws `InvalidRequest` that says what is allowed.
Rate parse_rate(const std::string& text);
/// `100 in 1m, burst 20`
std::string rate_text(const Rate& rate);

}  // namespace holdfast::cli
