#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/blobs.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/inspector.hpp>
#include <holdfast/log.hpp>

#include "cli/failure.hpp"
#include "cli/systemd.hpp"
#include "cli/terminal.hpp"
#include "settings/program.hpp"

namespace holdfast::cli {

/// What every command is given: the options before it, the store (opened when first asked for) and
/// the way out. Whatever is printed goes through here, so nothing reaches a terminal raw.
class Context {
 public:
  std::string store_option;      ///< --store or HOLDFAST_STORE; empty: neither
  std::string ledger_option;     ///< --ledger; empty: not given
  std::string blob_mode_option;  ///< --blob-mode; empty: not given
  std::string config_path;       ///< --config
  bool json = false;
  bool quiet = false;
  /// Of what goes to standard error while a command runs that has a log; see cli/log.hpp.
  LogFormat log_format = LogFormat::text;
  /// What followed a lone `--`: another program's words, never looked into.
  std::vector<std::string> program;
  /// What the command line asked for. Set while it is read, run afterwards.
  std::function<Exit()> command;

  Systemd systemd{};
  Terminal out = Terminal::of(1);
  Terminal err = Terminal::of(2);

  /// The configuration file, or the defaults where none was named.
  const ConfigFile& config();
  /// What it says to the program rather than to the store.
  const ProgramSettings& program_settings();
  std::string store_address();
  /// Tells an engine where ledgers are kept outside of it, if anywhere.
  void name_ledger(const Engine& engine, Stay stay);

  /// Opens a store of blobs with the mode that the command line or the configuration says.
  std::shared_ptr<BlobStore> blobs(const std::string& address);

  /// Opens the store, creating it if it is not there.
  Engine engine(Stay stay = Stay::brief);
  /// Opens the store; where there is none it throws, because a question must not create one.
  Engine existing_engine(Stay stay = Stay::brief);
  /// Throws like `existing_engine` where there is no store, and opens none.
  void require_store();
  Inspector inspector(Stay stay = Stay::brief) { return Inspector{existing_engine(stay)}; }

  /// A line for people, on standard output, made visible.
  void say(std::string_view line) const;
  /// The same unless --quiet was given: for what only confirms.
  void confirm(std::string_view line) const;
  /// Text of ours that is safe already: tables, help, generated scripts.
  void print(std::string_view text) const;
  /// One JSON document, on a line of its own.
  void print_json(std::string_view document) const;

 private:
  const WholeConfig& whole_config();

  std::optional<WholeConfig> config_;
  std::optional<Engine> engine_;
};

/// The file of a SQLite address; nothing for other addresses, which `open` deals with.
std::optional<std::string> sqlite_file(std::string_view address);
/// Whether the address says that the files of the store are for a group (`?access=group`).
bool is_for_group(std::string_view address);

WallTime wall_now();

}  // namespace holdfast::cli
