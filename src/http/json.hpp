#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <holdfast/http/request.hpp>

namespace holdfast::http {

/// Writes an object as text, member by member. Answers come by the thousand, and a tree of values
/// for each of them would take longer than many a request.
class Writing {
 public:
  Writing& text(std::string_view name, std::string_view value);
  Writing& number(std::string_view name, std::int64_t value);
  Writing& fraction(std::string_view name, double value);
  Writing& texts(std::string_view name, const std::vector<std::string>& values);
  Writing& json(std::string_view name, std::string_view value);  ///< which is JSON already

  std::string str();  ///< the end of it
  std::size_t size() const { return text_.size(); }

 private:
  void member(std::string_view name);

  std::string text_{'{'};
};

/// A text, in quotes, with what JSON does not allow in them escaped.
void append_quoted(std::string& to, std::string_view text);

/// Bytes as JSON: `{"encoding":"text","value":...}`, base64 where they are not valid UTF-8, null
/// where there are none. Whatever a server sends can be kept.
std::string body_text(std::string_view bytes);
boost::json::value body_json(std::string_view bytes);

/// Reads members of an object that somebody else wrote. Each throws `InvalidRequest` that names the
/// member.
class Reading {
 public:
  Reading(const boost::json::value& json, std::string_view what);

  /// Null: it is not there, or null.
  const boost::json::value* find(std::string_view name) const;
  std::string text(std::string_view name) const;  ///< empty: it is not there
  std::int64_t number(std::string_view name) const;
  double fraction(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  Headers headers(std::string_view name) const;
  std::string body(std::string_view name) const;
  Method method(std::string_view name) const;
  boost::json::value any(std::string_view name) const;

  [[noreturn]] void refuse(std::string_view name, std::string_view wanted) const;

 private:
  const boost::json::object* object_;
  std::string_view what_;
};

}  // namespace holdfast::http
