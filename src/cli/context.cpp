#include "cli/context.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include <holdfast/diagnosis.hpp>
#include <holdfast/error.hpp>
#include <holdfast/state_machine.hpp>

#include "cli/log.hpp"
#include "documents/secret_names.hpp"
#include "engines/sqlite/is_store.hpp"
#include "recovery/clock.hpp"
#include "recovery/plain_text.hpp"
#include "tasks/engine_parts.hpp"
#include "traces/collector.hpp"

namespace holdfast::cli {

namespace {

constexpr std::string_view default_store = "sqlite:holdfast.db";

/// What only others than the reader of the file can judge, said with its line.
template <class Check>
void check_line(const std::string& file, int line, const Check& check) {
  try {
    check();
  } catch (const ConfigError& error) {
    throw ConfigError{fmt::format("{}:{}: {}", file, line, error.what())};
  }
}

}  // namespace

std::optional<std::string> sqlite_file(std::string_view address) {
  constexpr std::string_view scheme = "sqlite:";
  if (!address.starts_with(scheme)) return {};
  address.remove_prefix(scheme.size());
  return std::string{address.substr(0, address.find('?'))};
}

bool is_for_group(std::string_view address) {
  const auto question = address.find('?');
  return question != address.npos && address.find("access=group", question) != address.npos;
}

const WholeConfig& Context::whole_config() {
  if (config_) return *config_;
  config_ = config_path.empty() ? WholeConfig{} : load_whole_config(config_path);
  const auto& file = config_->file;
  const auto& ours = config_->program;
  if (!file.store.empty())
    check_line(config_path, file.store_line, [&] { check_address(file.store); });
  if (!ours.traces_endpoint.empty())
    check_line(config_path, ours.traces_line, [&] { traces_address(ours.traces_endpoint); });
  check_line(config_path, ours.hide_line,
             [&] { set_hide_rules({.keys = ours.hide_keys, .allow = ours.hide_allow}); });
  return *config_;
}

const ConfigFile& Context::config() { return whole_config().file; }
const ProgramSettings& Context::program_settings() { return whole_config().program; }

std::string Context::store_address() {
  if (!store_option.empty()) return store_option;
  return config().store.empty() ? std::string{default_store} : config().store;
}

void Context::name_ledger(const Engine& engine, Stay stay) {
  auto address = ledger_option;
  const char* environment = std::getenv("HOLDFAST_LEDGER");
  if (address.empty() && environment) address = environment;
  if (address.empty()) address = program_settings().ledger;
  if (!address.empty()) keep_ledgers_in(engine, address, stay);
}

std::shared_ptr<BlobStore> Context::blobs(const std::string& address) {
  if (!blob_mode_option.empty() && !address.starts_with("dir:"))
    throw ConfigError{"--blob-mode is for blobs in a folder (dir:FOLDER); leave it out"};
  auto mode = parse_blob_mode(blob_mode_option).value_or(program_settings().blob_mode);
  return open_blobs(address, mode);
}

Engine Context::engine(Stay stay) {
  if (engine_) return *engine_;
  engine_ = open(store_address(), config().settings, stay);
  // Most commands do not need it, and must not fail where it is away.
  name_ledger(*engine_, Stay::brief);
  // What is shown may not be all that there was.
  if (engine_->run_level() == RunLevel::read_only && !quiet)
    log_line(*this, Severity::warning, "store_read_only",
             "the store can only be read now; 'holdfast doctor' says why");
  if (const auto found = engine_->parts().start_up(); found && !found->evidence.empty() && !quiet)
    log_line(*this, Severity::warning, "store_repaired",
             to_text(StoreRepaired{*found}) + "; 'holdfast queue recovery-report' tells all of it");
  return *engine_;
}

void Context::require_store() {
  const auto file = sqlite_file(store_address());
  if (!file && !holds_store(store_address()))
    throw InvalidRequest{fmt::format(
        "there is no store at {}; is a name in it mistyped? Whoever adds work there, or works "
        "there, begins one",
        check_address(store_address()))};
  std::error_code unknown;
  if (file && !file->empty() && !std::filesystem::exists(*file, unknown) && !unknown)
    throw InvalidRequest{fmt::format(
        "there is no store at {}; name one with --store or HOLDFAST_STORE, or begin one with "
        "'holdfast task add'",
        *file)};
  if (file && !sqlite::may_be_store(*file))
    throw InvalidRequest{fmt::format(
        "{} is a database of somebody else's, with no store in it; 'holdfast task add' would begin "
        "one there",
        *file)};
}

Engine Context::existing_engine(Stay stay) {
  require_store();
  return engine(stay);
}

void Context::say(std::string_view line) const { print(plain(line) + "\n"); }

void Context::confirm(std::string_view line) const {
  if (!quiet) say(line);
}

void Context::print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Context::print_json(std::string_view document) const {
  print(document);
  print("\n");
}

WallTime wall_now() { return system_clock().wall(); }

}  // namespace holdfast::cli
