#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/blobs.hpp>
#include <holdfast/log.hpp>
#include <holdfast/settings.hpp>

namespace holdfast {

/// What a configuration file says to the program `holdfast`. It is nothing that a store has to
/// know, so it is no part of `Settings`.
struct ProgramSettings {
  LogFormat log_format = LogFormat::text;
  std::string traces_endpoint{};  ///< of a collector; empty: no traces
  int traces_line = 0;            ///< where it stands
  std::string ledger{};           ///< where ledgers are kept outside of the store; empty: nowhere
  BlobMode blob_mode = BlobMode::owner;
  std::vector<std::string> hide_keys{};   ///< names of members whose values are hidden, too
  std::vector<std::string> hide_allow{};  ///< and of those that never are
  int hide_line = 0;                      ///< where they stand
};

/// All of a file.
struct WholeConfig {
  ConfigFile file{};
  ProgramSettings program{};
};
/// Throw `ConfigError` like `load_config` and `parse_config`.
WholeConfig load_whole_config(const std::string& path);
WholeConfig parse_whole_config(const std::string& yaml, const std::string& name);

std::string_view to_string(LogFormat format);
/// As it is written: `0600`, `0640`.
std::string_view to_string(BlobMode mode);
std::optional<BlobMode> parse_blob_mode(std::string_view text);

}  // namespace holdfast
