#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/ids.hpp>
#include <holdfast/task.hpp>

/// Values on their way to the server, in PostgreSQL's binary format: nothing needs to be quoted,
/// and numbers need not become text and numbers again.
namespace holdfast::postgres {

/// Numbers of built-in types; they are the same in every server.
enum class Type : unsigned {
  boolean = 16,
  bigint = 20,
  text = 25,
  real = 701,
  booleans = 1000,
  texts = 1009,
  bigints = 1016,
  uuid = 2950,
  uuids = 2951,
};

/// One parameter of a statement.
struct Value {
  Type type = Type::text;
  bool null = false;
  std::string bytes{};
};

Value to_value(std::int64_t number);
Value to_value(double number);
/// Bytes that are not UTF-8 are replaced: the server would refuse them.
Value to_value(std::string_view text);
inline Value to_value(int number) { return to_value(std::int64_t{number}); }
inline Value to_value(const std::string& text) { return to_value(std::string_view{text}); }
inline Value to_value(const char* text) { return to_value(std::string_view{text}); }
Value to_value(bool yes);
Value uuid_value(std::span<const std::uint8_t, 16> bytes);
template <class Tag>
Value to_value(const Id<Tag>& id) {
  return uuid_value(id.bytes);
}
inline Value to_value(Token token) { return to_value(token.value); }
inline Value to_value(Millis time) { return to_value(std::int64_t{time.count()}); }
inline Value to_value(WallTime time) { return to_value(time.time_since_epoch()); }
inline Value to_value(TaskState state) { return to_value(static_cast<std::int64_t>(state)); }
inline Value to_value(Value value) { return value; }
template <class T>
Value to_value(const std::optional<T>& value) {
  if (value) return to_value(*value);
  auto none = to_value(T{});
  none.null = true;
  none.bytes.clear();
  return none;
}

/// An array, built element by element.
class Array {
 public:
  explicit Array(Type element);

  template <class T>
  void add(const T& value) {
    auto element = to_value(value);
    element.null ? add_null() : add_bytes(element.bytes);
  }
  void add_null();
  std::size_t size() const { return count_; }
  /// The whole as a parameter.
  Value value() const;

 private:
  void add_bytes(std::string_view bytes);

  Type element_;
  std::size_t count_ = 0;
  std::string bytes_{};
};

Value to_value(const std::vector<std::string>& texts);
Value to_value(std::span<const TaskId> ids);
inline Value to_value(const std::vector<TaskId>& ids) {
  return to_value(std::span<const TaskId>{ids});
}
Value to_value(std::span<const WorkerId> ids);

/// What comes back.
std::int64_t read_integer(std::string_view bytes);  ///< of two, four or eight bytes
double read_real(std::string_view bytes);
/// The elements of an array without NULLs.
std::vector<std::string_view> read_array(std::string_view bytes);

}  // namespace holdfast::postgres
