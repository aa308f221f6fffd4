#include <holdfast/settings.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <holdfast/error.hpp>

#include "settings/keys.hpp"
#include "settings/program.hpp"

namespace holdfast {
namespace {

using std::chrono_literals::operator""ms;
using testing::HasSubstr;

std::string refusal(const std::string& yaml) {
  try {
    parse_config(yaml, "work.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal(const Settings& settings) {
  try {
    settings.validate();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

std::string read_document(const std::string& path) {
  std::ifstream file{HOLDFAST_SOURCE_DIR "/" + path};
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Settings, AnEmptyFileGivesTheDefaults) {
  for (const char* yaml : {"", "# nothing\n", "---\n", "queue:\n", "queue:\n  heartbeat:\n"}) {
    const Settings settings = parse_settings(yaml, "work.yaml");
    EXPECT_EQ(settings.heartbeat.interval, 30'000ms) << yaml;
    EXPECT_EQ(settings.recovery.action, RecoveryAction::retry) << yaml;
  }
}

TEST(Settings, TheNamesOfTheOriginalAreRead) {
  const Settings settings = parse_settings(
      "queue:\n"
      "  recovery:\n"
      "    action: fail  # retry, fail, pending\n"
      "    maxRecoveryAttempts: 5\n"
      "    integrityCheckOnStartup: false\n"
      "  heartbeat:\n"
      "    intervalSeconds: 0.5\n"
      "    staleThresholdMultiplier: 4\n"
      "    detectionIntervalSeconds: 1\n",
      "work.yaml");
  EXPECT_EQ(settings.recovery.action, RecoveryAction::fail);
  EXPECT_EQ(settings.recovery.max_recovery_attempts, 5);
  EXPECT_FALSE(settings.recovery.integrity_check_on_startup);
  EXPECT_EQ(settings.heartbeat.interval, 500ms);
  EXPECT_EQ(settings.heartbeat.lease(), 2'000ms);
  EXPECT_EQ(settings.heartbeat.detection_interval, 1'000ms);
}

TEST(Settings, OurOwnKeysAreReadBesideThem) {
  const ConfigFile config = parse_config(
      "store: sqlite:other.db\n"
      "queue:\n"
      "  durability: crash-safe\n"
      "  worker: {concurrency: 3, prefetch: 7, drainTimeoutSeconds: 1.5, stopGraceSeconds: 2}\n"
      "  retention: {completedHours: 1, failedHours: 2, maxFinished: 3, maxBytes: 5000000000}\n"
      "  limits: {payloadBytes: 10, resultBytes: 11, logLinesPerAttempt: 12}\n",
      "work.yaml");
  EXPECT_EQ(config.store, "sqlite:other.db");
  EXPECT_EQ(config.settings.durability, Durability::crash_safe);
  EXPECT_EQ(config.settings.worker.concurrency, 3);
  EXPECT_EQ(config.settings.worker.prefetch, 7);
  EXPECT_EQ(config.settings.worker.drain_timeout, 1'500ms);
  EXPECT_EQ(config.settings.worker.stop_grace, 2'000ms);
  EXPECT_EQ(config.settings.retention.completed, std::chrono::hours{1});
  EXPECT_EQ(config.settings.retention.failed, std::chrono::hours{2});
  EXPECT_EQ(config.settings.retention.max_finished, 3);
  EXPECT_EQ(config.settings.retention.max_bytes, 5'000'000'000);
  EXPECT_EQ(config.settings.limits.payload_bytes, 10);
  EXPECT_EQ(config.settings.limits.result_bytes, 11);
  EXPECT_EQ(config.settings.limits.log_lines_per_attempt, 12);
}

TEST(Settings, TheFormatOfLogsIsTheProgramsOwn) {
  EXPECT_EQ(parse_whole_config("log:\n", "work.yaml").program.log_format, LogFormat::text);
  EXPECT_EQ(parse_whole_config("log: {format: json}\n", "work.yaml").program.log_format,
            LogFormat::json);
  parse_settings("log: {format: json}\n", "work.yaml");
}

TEST(Settings, HaveNamesThatAreHidden) {
  EXPECT_TRUE(parse_whole_config("hide:\n  keys:\n", "work.yaml").program.hide_keys.empty());
  const auto config = parse_whole_config(
      "\nhide:\n  keys: [card_number, '*_iban']\n  allow: [token]\n", "work.yaml");
  EXPECT_EQ(config.program.hide_keys, (std::vector<std::string>{"card_number", "*_iban"}));
  EXPECT_EQ(config.program.hide_allow, std::vector<std::string>{"token"});
  EXPECT_EQ(config.program.hide_line, 4);
}

TEST(Settings, HaveTheModeOfBlobs) {
  EXPECT_EQ(parse_whole_config("blobs:\n", "work.yaml").program.blob_mode, BlobMode::owner);
  EXPECT_EQ(parse_whole_config("blobs: {mode: 0640}\n", "work.yaml").program.blob_mode,
            BlobMode::group);
}

TEST(Settings, TheCollectorOfTracesIsTheProgramsOwn) {
  EXPECT_EQ(parse_whole_config("traces:\n", "work.yaml").program.traces_endpoint, "");
  const auto config = parse_whole_config("\ntraces: {endpoint: http://c:4318}\n", "work.yaml");
  EXPECT_EQ(config.program.traces_endpoint, "http://c:4318");
  EXPECT_EQ(config.program.traces_line, 2);
}

struct Mistake {
  const char* what;
  const char* yaml;
  const char* says;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreRefusedWithFileLineAndWhatIsAllowed) {
  EXPECT_THAT(refusal(GetParam().yaml), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Mistakes,
    testing::Values(
        Mistake{"UnknownKey", "queue:\n  heartbeat:\n    interval: 3\n",
                "work.yaml:3: unknown key 'interval' in queue.heartbeat; allowed: "
                "detectionIntervalSeconds, intervalSeconds, staleThresholdMultiplier"},
        Mistake{"UnknownSection", "queue:\n  hartbeat:\n",
                "work.yaml:2: unknown key 'hartbeat' in queue; allowed: durability, heartbeat,"},
        Mistake{"UnknownTopLevelKey", "\nqueues:\n",
                "work.yaml:2: unknown key 'queues' at the top level; allowed: blobs, hide, ledger, "
                "log, queue, store, traces"},
        Mistake{"RepeatedKey", "queue:\n  recovery:\n    action: fail\n    action: retry\n",
                "work.yaml:4: key 'action' appears twice in queue.recovery"},
        Mistake{"RepeatedSection", "queue:\n  recovery:\n  recovery:\n",
                "work.yaml:3: key 'recovery' appears twice in queue"},
        Mistake{"WrongChoice", "queue:\n  recovery:\n    action: restart\n",
                "work.yaml:3: queue.recovery.action is 'restart'; allowed: one of retry, fail, "
                "pending"},
        Mistake{"WordForANumber", "queue:\n  heartbeat:\n    intervalSeconds: often\n",
                "work.yaml:3: queue.heartbeat.intervalSeconds is 'often'; allowed: seconds from"},
        Mistake{"UnitBehindTheNumber", "queue:\n  heartbeat:\n    intervalSeconds: 30s\n",
                "work.yaml:3: queue.heartbeat.intervalSeconds is '30s'; allowed:"},
        Mistake{"NotANumber", "queue:\n  heartbeat:\n    intervalSeconds: nan\n",
                "is 'nan'; allowed: seconds from 0.01 to 86400"},
        Mistake{"ZeroInterval", "queue:\n  heartbeat:\n    intervalSeconds: 0\n",
                "is '0'; allowed: seconds from 0.01 to 86400"},
        Mistake{"MultiplierOfOne", "queue:\n  heartbeat:\n    staleThresholdMultiplier: 1\n",
                "is '1'; allowed: a whole number from 2 to 1000"},
        Mistake{"FractionWhereAWholeNumberIsDue",
                "queue:\n  heartbeat:\n    staleThresholdMultiplier: 2.5\n",
                "is '2.5'; allowed: a whole number from 2 to 1000"},
        Mistake{"HugeNumber", "queue:\n  limits:\n    payloadBytes: 1e99\n",
                "is '1e99'; allowed: a whole number from 2 to 100000000"},
        Mistake{"YesForTrue", "queue:\n  recovery:\n    integrityCheckOnStartup: yes\n",
                "is 'yes'; allowed: true or false"},
        Mistake{"ListForAValue", "queue:\n  worker:\n    prefetch: [1]\n",
                "work.yaml:3: queue.worker.prefetch must be a single value; allowed: a whole"},
        Mistake{"EmptyValue", "queue:\n  worker:\n    prefetch:\n",
                "work.yaml:3: queue.worker.prefetch must be a single value"},
        Mistake{"ValueForASection", "queue:\n  worker: 4\n",
                "work.yaml:2: queue.worker must be a map with the keys concurrency, "},
        Mistake{"ListForTheFile", "- queue\n", "work.yaml:1: the file must be a map with the keys"},
        Mistake{"UnknownLogFormat", "log:\n  format: xml\n",
                "work.yaml:2: log.format is 'xml'; allowed: one of text, json"},
        Mistake{"BlobModeForEverybody", "blobs:\n  mode: 0644\n",
                "work.yaml:2: blobs.mode is '0644'; allowed: one of 0600, 0640"},
        Mistake{"UnknownLogKey", "log:\n  level: info\n",
                "work.yaml:2: unknown key 'level' in log; allowed: format"},
        Mistake{"NameForAListOfNames", "hide:\n  keys: card\n",
                "work.yaml:2: hide.keys must be a list of names, such as [card_number]"},
        Mistake{"ListInAListOfNames", "hide:\n  allow: [token, [x]]\n",
                "work.yaml:2: hide.allow has an element that is not a name"},
        Mistake{"EmptyCollector", "traces:\n  endpoint:\n",
                "work.yaml:2: traces.endpoint must be the address of a collector"},
        Mistake{"EmptyStore", "store: ''\n", "work.yaml:1: store must be the address of a store"},
        Mistake{"BrokenYaml", "queue:\n  worker: [1\n", "work.yaml:3: not valid YAML: "},
        Mistake{"SecondDocument", "queue:\n---\nqueue:\n", "a second document begins here"},
        Mistake{"LeaseOfMonths",
                "queue:\n  heartbeat:\n    intervalSeconds: 86400\n"
                "    staleThresholdMultiplier: 100\n",
                "work.yaml:2: queue.heartbeat: intervalSeconds times staleThresholdMultiplier"},
        Mistake{"TinyStore", "queue:\n  retention:\n    maxBytes: 1000\n",
                "work.yaml:3: queue.retention.maxBytes is 1000, which no store stays below"}),
    [](const auto& mistake) { return mistake.param.what; });

TEST(Settings, SettingsMadeInCodeAreCheckedToo) {
  Settings settings;
  EXPECT_EQ(refusal(settings), "accepted");
  settings.heartbeat.interval = -1ms;
  EXPECT_THAT(refusal(settings), HasSubstr("queue.heartbeat.intervalSeconds is -0.001; allowed:"));
  settings = {};
  settings.worker.concurrency = -2;
  EXPECT_THAT(refusal(settings), HasSubstr("queue.worker.concurrency is -2; allowed:"));
  settings = {};
  settings.recovery.action = static_cast<RecoveryAction>(7);
  EXPECT_THAT(refusal(settings), HasSubstr("queue.recovery.action is 7; allowed: one of retry"));
}

TEST(Settings, AFileThatCannotBeReadIsNamed) {
  EXPECT_THROW(load_settings("/nowhere/work.yaml"), ConfigError);
  try {
    load_settings("/nowhere/work.yaml");
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot read /nowhere/work.yaml: No such file"));
  }
  EXPECT_THROW(load_settings(std::filesystem::temp_directory_path().string()), ConfigError);
}

TEST(Settings, TheDocumentListsEveryKeyWithItsDefaultAndWhatIsAllowed) {
  const std::string document = read_document("docs/configuration.md");
  for (const Key& key : setting_keys())
    EXPECT_THAT(document, HasSubstr(fmt::format("| `{}` | `{}` | {} |", key.path(),
                                                key.text(Settings{}), key.allowed())));
}

TEST(Settings, TheFileInTheDocumentSpellsOutTheDefaults) {
  const std::string document = read_document("docs/configuration.md");
  const std::string fence = "```yaml\n";
  const auto begin = document.find(fence) + fence.size();
  const std::string yaml = document.substr(begin, document.find("```", begin) - begin);
  const ConfigFile config = parse_config(yaml, "docs/configuration.md");
  EXPECT_EQ(config.store, "sqlite:holdfast.db");
  for (const Key& key : setting_keys()) {
    EXPECT_EQ(key.text(config.settings), key.text(Settings{})) << key.path();
    EXPECT_THAT(yaml, HasSubstr(fmt::format("{}: {}", key.name, key.text(Settings{}))));
  }
}

}  // namespace
}  // namespace holdfast
