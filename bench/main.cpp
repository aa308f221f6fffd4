#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>

#include "measures.hpp"
#include "samples.hpp"
#include "scratch.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

namespace {

struct Group {
  const char* name;
  std::vector<Figure> (*measure)(const Plan&);
  bool by_name_only = false;  ///< too long for every day
};
constexpr Group groups[] = {{"enqueue", measure_enqueue},
                            {"claim", measure_claim},
                            {"pick-up", measure_pick_up},
                            {"idle", measure_idle},
                            {"memory", measure_memory},
                            {"kills", measure_kills},
                            {"recovery", measure_recovery},
                            {"start-up", measure_start_up, true},
                            {"retention", measure_retention, true}};

bool wanted(const Group& group, const std::vector<std::string>& only, bool quick) {
  if (only.empty()) return quick || !group.by_name_only;
  return std::ranges::count(only, group.name) > 0;
}

std::string today() {
  auto now = std::time(nullptr);
  char text[32] = {};
  std::strftime(text, sizeof text, "%F %R UTC", std::gmtime(&now));
  return text;
}

Circumstances look_around(const Plan& plan, const std::string& command) {
  Scratch scratch{plan.folder};
  bool safe = plan.durability == Durability::power_safe;
  return {.machine = look_at_machine(scratch.folder()),
          .command = command,
          .durability = safe ? "power-safe (synchronous=FULL)" : "crash-safe (synchronous=NORMAL)",
          .date = today()};
}

int measure(int count, char** words) {
  CLI::App app{"Measures Holdfast on SQLite beside a raw SQLite loop in the same run."};
  Plan plan;
  bool json = false, crash_safe = false;
  std::vector<std::string> only;
  app.add_flag("--quick", plan.quick,
               "A few seconds: shows that it works, the numbers mean little");
  app.add_flag("--json", json, "For programs");
  app.add_flag("--crash-safe", crash_safe, "In this durability mode; power-safe is the default");
  app.add_option("--folder", plan.folder, "Where stores are made")->check(CLI::ExistingDirectory);
  app.add_option(
      "--only", only,
      "Only these: enqueue claim pick-up idle memory kills recovery; and, minutes each and "
      "therefore only by name: start-up retention");
  CLI11_PARSE(app, count, words);
  if (crash_safe) plan.durability = Durability::crash_safe;

  std::string command = "script/bench";
  for (int i = 1; i < count; ++i) command += fmt::format(" {}", words[i]);
  auto circumstances = look_around(plan, command);
  std::vector<Figure> figures;
  for (const auto& group : groups) {
    if (!wanted(group, only, plan.quick)) continue;
    fmt::print(stderr, "measuring: {}\n", group.name);
    for (auto& figure : group.measure(plan)) figures.push_back(std::move(figure));
  }
  json ? print_json(circumstances, figures) : print_table(circumstances, figures);
  return 0;
}

}  // namespace

Figure Rounds::figure(std::string id, std::string name, std::string against) const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / reference[i]);
  return {.id = std::move(id),
          .name = std::move(name),
          .value = median(ours),
          .unit = "/s",
          .against = std::move(against),
          .reference = median(reference),
          .ratio = median(ratios)};
}

}  // namespace holdfast::bench

int main(int count, char** words) {
  try {
    if (count > 1 && std::string{words[1]} == holdfast::bench::worker_argument)
      return holdfast::bench::be_worker({words + 2, words + count});
    if (count > 1 && std::string{words[1]} == holdfast::bench::hoarder_argument)
      return holdfast::bench::be_hoarder({words + 2, words + count});
    return holdfast::bench::measure(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "holdfast_bench: {}\n", error.what());
    return 2;
  }
}
