#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/engine.hpp>
#include <holdfast/error.hpp>

#include "cli/command.hpp"
#include "documents/json.hpp"
#include "settings/keys.hpp"

namespace holdfast::cli {

namespace {

struct ConfigCheckOptions {
  std::string file;
};

std::string value_json(const Key& key, const Settings& settings) {
  const std::string text = key.text(settings);
  return key.kind == KeyKind::choice ? json_string(text) : text;
}

Exit run_config_check(Context& context, const ConfigCheckOptions& options) {
  if (!options.file.empty()) context.config_path = options.file;
  if (context.config_path.empty())
    throw InvalidRequest{"which file? Write 'holdfast config check FILE'"};
  const ConfigFile& config = context.config();
  const std::string store = check_address(context.store_address());
  const auto& ledger = context.program_settings().ledger;
  const std::string ledgers = ledger.empty() ? "in the store" : check_address(ledger);
  const auto log_format = to_string(context.program_settings().log_format);
  const auto blob_mode = to_string(context.program_settings().blob_mode);
  const auto& traces = context.program_settings().traces_endpoint;
  if (context.json) {
    JsonObject document;
    document.text("file", context.config_path).text("store", store);
    document.text("ledger", ledgers).text("log.format", log_format);
    document.text("blobs.mode", blob_mode);
    document.text("traces.endpoint", traces);
    document.json("hide.keys", json_array(context.program_settings().hide_keys));
    document.json("hide.allow", json_array(context.program_settings().hide_allow));
    for (const Key& key : setting_keys())
      document.json(key.path(), value_json(key, config.settings));
    context.print_json(document.str());
    return Exit::ok;
  }
  context.confirm(fmt::format("{} is fine; in force are:", context.config_path));
  context.say(fmt::format("{:<40} {}", "store", store));
  context.say(fmt::format("{:<40} {}", "ledger", ledgers));
  context.say(fmt::format("{:<40} {}", "log.format", log_format));
  context.say(fmt::format("{:<40} {}", "blobs.mode", blob_mode));
  context.say(fmt::format("{:<40} {}", "traces.endpoint", traces.empty() ? "none" : traces));
  for (const auto& [name, list] : {std::pair{"hide.keys", &context.program_settings().hide_keys},
                                   {"hide.allow", &context.program_settings().hide_allow}})
    context.say(fmt::format("{:<40} {}", name,
                            list->empty() ? "none" : fmt::format("{}", fmt::join(*list, ", "))));
  for (const Key& key : setting_keys())
    context.say(fmt::format("{:<40} {}", key.path(), key.text(config.settings)));
  return Exit::ok;
}

}  // namespace

void add_config_check(CLI::App& parent, Context& context) {
  auto options = std::make_shared<ConfigCheckOptions>();
  CLI::App* command =
      parent.add_subcommand("check", "Check a configuration file and print what is in force");
  command->add_option("FILE", options->file, "The file; default: what --config names")
      ->type_name("");
  chosen(*command, context, options, run_config_check);
}

}  // namespace holdfast::cli
