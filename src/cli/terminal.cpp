#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cwchar>

#include <fmt/format.h>

#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

const char* code_of(Colour colour) {
  switch (colour) {
    case Colour::plain:
      return "0";
    case Colour::dim:
      return "2";
    case Colour::bold:
      return "1";
    case Colour::green:
      return "32";
    case Colour::yellow:
      return "33";
    case Colour::red:
      return "31";
    case Colour::cyan:
      return "36";
  }
  return "0";
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

struct Character {
  std::size_t size;
  int columns;
};

Character first_of(std::string_view text) {
  const std::size_t size = utf8_character(text);
  if (size == 0) return {1, 1};
  const int columns = ::wcwidth(static_cast<wchar_t>(code_point(text, size)));
  return {size, std::max(columns, 0)};
}

}  // namespace

Terminal Terminal::of(int fd) {
  Terminal terminal;
  terminal.interactive = ::isatty(fd) == 1;
  if (!terminal.interactive) return terminal;
  terminal.colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0) terminal.width = size.ws_col;
  return terminal;
}

std::string painted(const Terminal& terminal, Colour colour, std::string_view text) {
  if (!terminal.colour || colour == Colour::plain) return std::string{text};
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(colour), text);
}

int display_width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Character next = first_of(text);
    columns += next.columns;
    text.remove_prefix(next.size);
  }
  return columns;
}

std::string shortened(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string{text};
  std::size_t kept = 0;
  for (int used = 0;;) {
    const Character next = first_of(text.substr(kept));
    used += next.columns;
    if (used > columns - 1) return std::string{text.substr(0, kept)} + "…";
    kept += next.size;
  }
}

std::vector<std::string> wrapped(std::string_view text, int columns) {
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const bool first = lines.back().empty();
    if (!first && display_width(lines.back()) + 1 + display_width(word) > columns)
      lines.emplace_back(word);
    else
      lines.back().append(first ? "" : " ").append(word);
  }
  return lines;
}

}  // namespace holdfast::cli
