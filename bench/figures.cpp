#include "figures.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::bench {

namespace {

std::string amount(double value, const std::string& unit) {
  if (unit == "/s") return fmt::format("{:.0f} /s", value);
  return fmt::format("{:.{}f} {}", value, value < 1 ? 3 : value < 100 ? 2 : 0, unit);
}

std::string aim_text(const Figure& figure) {
  if (!figure.aim) return "";
  auto bound = figure.aim->on == Aim::On::ratio
                   ? fmt::format("{:g} x", figure.aim->bound)
                   : fmt::format("{:g} {}", figure.aim->bound, figure.unit);
  return fmt::format("{} {}", figure.aim->at_least ? ">=" : "<", bound);
}

std::vector<std::string> cells(const Figure& figure) {
  return {figure.name,
          amount(figure.value, figure.unit),
          figure.compared() ? figure.against : "",
          figure.compared() ? amount(figure.reference, figure.unit) : "",
          figure.compared() ? fmt::format("{:.2f} x", figure.ratio) : "",
          aim_text(figure),
          !figure.aim    ? ""
          : figure.met() ? "met"
                         : "MISSED"};
}

void print_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    bool number = i == 1 || i == 3 || i == 4;
    line += number ? fmt::format("{:>{}}  ", row[i], widths[i])
                   : fmt::format("{:<{}}  ", row[i], widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print("{}\n", line);
}

}  // namespace

bool Figure::met() const {
  double reached = aim->on == Aim::On::ratio ? ratio : value;
  return aim->at_least ? reached >= aim->bound : reached < aim->bound;
}

void print_table(const Circumstances& circumstances, const std::vector<Figure>& figures) {
  const auto& machine = circumstances.machine;
  fmt::print("durability  {}\n", circumstances.durability);
  fmt::print("machine     {} x {}, {}, kernel {}\n", machine.cores, machine.processor,
             machine.memory, machine.kernel);
  fmt::print("storage     {}, fdatasync of 4 KiB p50 {:.2f} ms\n", machine.file_system,
             machine.sync_ms);
  fmt::print("software    SQLite {}, {}\n", machine.sqlite, machine.compiler);
  fmt::print("command     {}\ndate        {}\n\n", circumstances.command, circumstances.date);

  std::vector<std::vector<std::string>> rows{
      {"measure", "Holdfast", "compared with", "that", "ratio", "aim", ""}};
  for (const auto& figure : figures) rows.push_back(cells(figure));
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) print_row(row, widths);
}

void print_json(const Circumstances& circumstances, const std::vector<Figure>& figures) {
  const auto& machine = circumstances.machine;
  boost::json::array list;
  for (const auto& figure : figures) {
    boost::json::object one{
        {"id", figure.id}, {"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
    if (figure.compared()) {
      one["against"] = figure.against;
      one["reference"] = figure.reference;
      one["ratio"] = figure.ratio;
    }
    if (figure.aim) {
      one["aim"] = aim_text(figure);
      one["met"] = figure.met();
    }
    list.push_back(std::move(one));
  }
  boost::json::object all{{"durability", circumstances.durability},
                          {"date", circumstances.date},
                          {"command", circumstances.command},
                          {"cores", machine.cores},
                          {"processor", machine.processor},
                          {"memory", machine.memory},
                          {"kernel", machine.kernel},
                          {"file_system", machine.file_system},
                          {"fdatasync_p50_ms", machine.sync_ms},
                          {"sqlite", machine.sqlite},
                          {"compiler", machine.compiler},
                          {"figures", std::move(list)}};
  fmt::print("{}\n", boost::json::serialize(all));
}

}  // namespace holdfast::bench
