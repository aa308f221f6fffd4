#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

/// The members of a JSON object that somebody sent. Values stay the text that they are until they
/// are asked for, so that a payload is kept as it was written: a parser would round its large
/// numbers. Every error is a `Problem` that names the member.
class Fields {
 public:
  /// Reads a whole body; an empty one is an object without members.
  static Fields of_body(const std::string& body);
  /// `text` is JSON that was checked; it must outlive this.
  explicit Fields(std::string_view text, std::string where = {});

  /// Throws if there is a member that is not one of these.
  const Fields& only(const std::set<std::string_view>& known) const;

  bool empty() const { return members_.empty(); }
  bool has(std::string_view name) const { return members_.contains(name); }
  /// As it was written.
  std::optional<std::string_view> raw(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::string required_text(std::string_view name) const;
  std::optional<std::int64_t> number(std::string_view name, std::int64_t least,
                                     std::int64_t most) const;
  std::int64_t required_number(std::string_view name, std::int64_t least, std::int64_t most) const;
  std::optional<double> fraction(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::optional<Fields> object(std::string_view name) const;
  std::vector<Fields> objects(std::string_view name, std::size_t most) const;

 private:
  std::string place(std::string_view name) const;

  std::map<std::string, std::string_view, std::less<>> members_;
  std::string where_;
};

/// Where the value that `text` begins with ends. `text` is JSON that was checked.
std::size_t value_length(std::string_view text);
/// The elements of an array, or the names and values of an object in turn, as they were written.
std::vector<std::string_view> elements(std::string_view text);
/// The text of a JSON string.
std::string unquoted(std::string_view text);

}  // namespace holdfast::server
