#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <boost/json/parse.hpp>

#include <holdfast/holdfast.hpp>
#include <holdfast/traces.hpp>

#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

/// The names of all families in a text for Prometheus.
std::set<std::string> families(const std::string& text) {
  std::set<std::string> names;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string hash, type, name;
    if (words >> hash >> type >> name && hash == "#" && type == "TYPE") names.insert(name);
  }
  return names;
}

class MetricsScenario : public testing::Test {
 protected:
  void work() {
    tasks_.on_json("good", [](Attempt&) { return done; });
    tasks_.on_json("bad", [](Attempt&) { return fail("no"); });
    for (int i = 0; i < 3; ++i) tasks_.enqueue(NewTask{"good", "{}"});
    tasks_.enqueue(NewTask{"bad", "{}"});
    Worker{tasks_, {.concurrency = 2, .until_empty = true}}.run();
  }

  TempStore store_;
  Engine engine_ = open(store_.address());
  Tasks tasks_{engine_};
};

TEST_F(MetricsScenario, EventsAreCounted) {
  auto metrics = count_events(engine_);
  work();
  auto text = metrics->text();
  for (auto line :
       {R"(holdfast_task_transitions_total{from="pending",to="running"} 4)",
        R"(holdfast_task_transitions_total{from="running",to="completed"} 3)",
        R"(holdfast_task_transitions_total{from="running",to="failed"} 1)",
        R"(holdfast_recoveries_total{trigger="start-up"} 1)",
        R"(holdfast_orphans_total{decision="pending"} 0)",
        "holdfast_recovery_duration_seconds_count 1", "holdfast_workers_started_total 1",
        "holdfast_workers_dead_total 0", "holdfast_stale_writes_refused_total 0"})
    EXPECT_THAT(text, HasSubstr(std::string{line} + "\n"));
}

TEST_F(MetricsScenario, StoreSaysWhatIsInIt) {
  work();
  tasks_.enqueue(NewTask{"nobody", "{}", {.queue = "later"}});
  auto text = store_metrics(engine_);
  auto store = "store=\"" + engine_.name() + "\"";
  for (auto line :
       {R"(holdfast_store_tasks{%,queue="default",state="completed"} 3)",
        R"(holdfast_store_tasks{%,queue="default",state="failed"} 1)",
        R"(holdfast_store_tasks{%,queue="later",state="pending"} 1)",
        R"(holdfast_store_workers{%,state="stopped"} 1)",
        R"(holdfast_store_orphans_total{%,decision="held"} 0)",
        R"(holdfast_store_recoveries_total{%} 0)", R"(holdfast_store_run_level{%} 0)"}) {
    std::string expected{line};
    expected.replace(expected.find('%'), 1, store);
    EXPECT_THAT(text, HasSubstr(expected + "\n"));
  }
}

TEST_F(MetricsScenario, FileHasTheLastWord) {
  auto path = store_.folder() / "worker-1.prom";
  {
    MetricsFile file{engine_, path, std::chrono::hours{1}};
    EXPECT_THAT(content(path), HasSubstr("process=\"worker-1\""));
    work();
  }
  EXPECT_THAT(content(path), HasSubstr(R"(from="running",to="completed"} 3)"));
  for (const auto& each : std::filesystem::directory_iterator{store_.folder()})
    EXPECT_NE(each.path().extension(), ".tmp") << each.path();
}

TEST_F(MetricsScenario, FileThatCannotBeWrittenIsRefusedAtOnce) {
  EXPECT_THROW((MetricsFile{engine_, store_.folder() / "no" / "such.prom"}), ConfigError);
}

/// What is exported and not described, or described and not exported.
TEST_F(MetricsScenario, TheDocumentationNamesEveryOne) {
  auto metrics = count_events(engine_);
  const TraceExport traces{engine_, {.endpoint = "http://127.0.0.1:9", .metrics = metrics}};
  auto there = families(metrics->text());
  there.merge(families(store_metrics(engine_)));
  std::set<std::string> described;
  std::istringstream lines{content(HOLDFAST_SOURCE_DIR "/docs/metrics.md")};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("| `holdfast_")) described.insert(line.substr(3, line.find('`', 3) - 3));
  EXPECT_EQ(there, described);
}

/// Every metric that the dashboard asks for, whatever its expression does with it.
TEST_F(MetricsScenario, TheGrafanaDashboardAsksForNoOther) {
  auto there = families(count_events(engine_)->text());
  there.merge(families(store_metrics(engine_)));
  const auto board = content(HOLDFAST_SOURCE_DIR "/packaging/grafana/holdfast.json");
  std::set<std::string> asked;
  const std::regex name{"holdfast_[a-z_]+"}, ending{"_(bucket|sum|count)$"};
  const boost::json::value document = boost::json::parse(board);
  for (const auto& panel : document.at("panels").as_array()) {
    const auto* targets = panel.as_object().if_contains("targets");
    if (!targets) continue;
    for (const auto& target : targets->as_array()) {
      const std::string expression{target.at("expr").as_string()};
      std::sregex_iterator found{expression.begin(), expression.end(), name};
      EXPECT_NE(found, std::sregex_iterator{}) << expression;
      for (; found != std::sregex_iterator{}; ++found) asked.insert(found->str());
    }
  }
  EXPECT_GT(asked.size(), 10U);
  for (const auto& metric : asked)
    EXPECT_TRUE(there.contains(metric) || there.contains(std::regex_replace(metric, ending, "")))
        << metric;
}

}  // namespace
}  // namespace holdfast::test
