#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::server {

/// `%41` becomes `A`; nothing if that cannot be read, or stands for a control character.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);

/// The parameters of a request. Whoever reads them names them, so that one that nobody reads, such
/// as a misspelt filter, can be refused instead of doing something else than was meant.
class Query {
 public:
  Query() = default;
  /// Nothing if it cannot be read.
  static std::optional<Query> parse(std::string_view text);

  std::optional<std::string> find(std::string_view name) const;
  std::string text(std::string_view name) const { return find(name).value_or(""); }
  std::vector<std::string> all(std::string_view name) const;
  /// Throws `Problem` if it is not a whole number in that range.
  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t least,
                      std::int64_t most) const;
  bool flag(std::string_view name) const;

  /// Throws `Problem` if there is a parameter that is not one of these.
  void only(const std::set<std::string_view>& known) const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace holdfast::server
