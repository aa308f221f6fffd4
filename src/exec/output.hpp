#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// Cuts a stream of bytes into lines without trusting it: of each line only the first `longest`
/// bytes are kept.
class LineCutter {
 public:
  /// `missing`: so many bytes of the line were not kept.
  using OnLine = std::function<void(const std::string& line, std::size_t missing)>;
  LineCutter(std::size_t longest, OnLine on_line)
      : longest_{longest}, on_line_{std::move(on_line)} {}

  void feed(std::string_view bytes);
  /// The stream is over: what is left is a line, too.
  void finish();

 private:
  void keep(std::string_view bytes);
  void end_line();

  std::size_t longest_;
  OnLine on_line_;
  std::string line_;
  std::size_t missing_ = 0;
};

/// What a program says while it runs: its lines go to the log of its task, which keeps as many as
/// it may, and the last ones are remembered for the end.
class Output {
 public:
  using Log = std::function<void(std::string_view line)>;
  Output(Log log, std::size_t result_bytes);
  Output(const Output&) = delete;  // the cutters refer to it

  void on_output(std::string_view bytes) { output_.feed(bytes); }
  void on_errors(std::string_view bytes) { errors_.feed(bytes); }
  void finish();

  /// The last line of standard output that was not blank, if it is JSON; else nothing.
  std::string result() const;
  /// If that line is longer than a result may be, and JSON as far as it was kept: how long it is.
  std::optional<std::size_t> too_long_result() const;
  /// The last lines of standard error, separated by newlines; empty if it said nothing.
  std::string last_errors() const;

  /// Leaves room in the 4 KB that a log keeps of a line to say that it was cut.
  static constexpr std::size_t longest_log_line = 4'000;

 private:
  void log(const std::string& line, std::size_t missing);

  Log log_;
  std::string last_output_;
  std::size_t last_output_missing_ = 0;
  std::deque<std::string> last_errors_;
  LineCutter output_;
  LineCutter errors_;
};

/// `text` with every byte that is not part of valid UTF-8 replaced, because logs and reasons are
/// shown as JSON.
std::string as_utf8(std::string_view text);

}  // namespace holdfast
