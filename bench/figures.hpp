#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"

namespace holdfast::bench {

/// What was hoped for, and on what: the value itself or its ratio to what it is compared with.
struct Aim {
  enum class On { value, ratio };
  On on = On::value;
  bool at_least = false;
  double bound = 0;
};

/// One line of the table.
struct Figure {
  std::string id;    ///< for programs
  std::string name;  ///< for people
  double value = 0;
  std::string unit;       ///< `/s`, `ms`, `MB`, `%`
  std::string against{};  ///< what it is compared with; empty: nothing
  double reference = 0;   ///< what that reached, in the same unit
  double ratio = 0;       ///< median of the ratios of the single rounds
  std::optional<Aim> aim{};

  bool compared() const { return !against.empty(); }
  bool met() const;
};

/// The circumstances that a table is worth nothing without.
struct Circumstances {
  Machine machine;
  std::string command;
  std::string durability;
  std::string date;
};

void print_table(const Circumstances& circumstances, const std::vector<Figure>& figures);
void print_json(const Circumstances& circumstances, const std::vector<Figure>& figures);

}  // namespace holdfast::bench
