#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <holdfast/error.hpp>
#include <holdfast/settings.hpp>

#include "settings/keys.hpp"
#include "settings/program.hpp"

namespace holdfast {

namespace {

constexpr std::size_t largest_file = 1'000'000;
/// Every name in a document is compared with each of them.
constexpr std::size_t most_names = 100;

/// Walks one document along the table of keys.
class Reader {
 public:
  explicit Reader(const std::string& name) : name_{name} {
    children_[""] = {"blobs", "hide", "ledger", "log", "queue", "store", "traces"};
    children_["blobs"] = {"mode"};
    children_["hide"] = {"allow", "keys"};
    children_["log"] = {"format"};
    children_["traces"] = {"endpoint"};
    for (const Key& key : setting_keys()) {
      keys_[key.path()] = &key;
      std::string parent{key.section};
      children_[parent].insert(std::string{key.name});
      if (const auto dot = parent.rfind('.'); dot != std::string::npos)
        children_[parent.substr(0, dot)].insert(parent.substr(dot + 1));
    }
  }

  WholeConfig read(const YAML::Node& document) {
    if (document && !document.IsNull()) read_map("", document);
    return std::move(config_);
  }

  int line_of(const std::string& path) const {
    const auto seen = lines_.find(path);
    return seen == lines_.end() ? 1 : seen->second;
  }

 private:
  [[noreturn]] void refuse(const YAML::Node& at, const std::string& what) const {
    throw ConfigError{fmt::format("{}:{}: {}", name_, at.Mark().line + 1, what)};
  }

  void read_map(const std::string& path, const YAML::Node& node) {
    const auto& allowed = children_.at(path);
    const std::string where = path.empty() ? "at the top level" : "in " + path;
    if (!node.IsMap())
      refuse(node, fmt::format("{} must be a map with the keys {}",
                               path.empty() ? "the file" : path, fmt::join(allowed, ", ")));
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const YAML::Node& key = entry.first;
      if (!key.IsScalar()) refuse(key, fmt::format("a key {} is not a plain word", where));
      const std::string& word = key.Scalar();
      if (!allowed.contains(word))
        refuse(key, fmt::format("unknown key '{}' {}; allowed: {}", word, where,
                                fmt::join(allowed, ", ")));
      if (!seen.insert(word).second)
        refuse(key, fmt::format("key '{}' appears twice {}; keep one", word, where));
      read_entry(path.empty() ? word : path + "." + word, key, entry.second);
    }
  }

  void read_entry(const std::string& path, const YAML::Node& key, const YAML::Node& value) {
    lines_[path] = key.Mark().line + 1;
    if (path == "store") return read_store(key, value);
    if (path == "ledger") return read_ledger(key, value);
    if (path == "hide.keys") return read_names(path, key, value, config_.program.hide_keys);
    if (path == "hide.allow") return read_names(path, key, value, config_.program.hide_allow);
    if (path == "blobs.mode") return read_blob_mode(key, value);
    if (path == "log.format") return read_log_format(key, value);
    if (path == "traces.endpoint") return read_traces_endpoint(key, value);
    if (children_.contains(path)) {
      // A section whose every line is commented out is an empty value, not a mistake.
      if (!value.IsNull()) read_map(path, value);
      return;
    }
    const Key& setting = *keys_.at(path);
    if (!value.IsScalar())
      refuse(key, fmt::format("{} must be a single value; allowed: {}", path, setting.allowed()));
    const auto number = read_value(setting, value.Scalar());
    if (!number || !setting.fits(*number))
      refuse(value,
             fmt::format("{} is '{}'; allowed: {}", path, value.Scalar(), setting.allowed()));
    setting.set(config_.file.settings, *number);
  }

  void read_store(const YAML::Node& key, const YAML::Node& value) {
    if (!value.IsScalar() || value.Scalar().empty())
      refuse(key, "store must be the address of a store, such as sqlite:work.db");
    config_.file.store = value.Scalar();
    config_.file.store_line = value.Mark().line + 1;
  }

  void read_ledger(const YAML::Node& key, const YAML::Node& value) {
    if (!value.IsScalar() || value.Scalar().empty())
      refuse(key, "ledger must be the address of a Redis server, such as redis://HOST:PORT");
    config_.program.ledger = value.Scalar();
  }

  void read_names(const std::string& path, const YAML::Node& key, const YAML::Node& value,
                  std::vector<std::string>& names) {
    config_.program.hide_line = key.Mark().line + 1;
    if (value.IsNull()) return;
    if (!value.IsSequence()) refuse(key, path + " must be a list of names, such as [card_number]");
    for (const auto& each : value) {
      if (!each.IsScalar() || each.Scalar().empty())
        refuse(key, path + " has an element that is not a name");
      names.push_back(each.Scalar());
    }
    if (names.size() > most_names)
      refuse(key,
             fmt::format("{} has {} names; allowed: at most {}", path, names.size(), most_names));
  }

  void read_log_format(const YAML::Node& key, const YAML::Node& value) {
    const std::string text = value.IsScalar() ? value.Scalar() : "";
    for (const auto format : {LogFormat::text, LogFormat::json}) {
      if (text != to_string(format)) continue;
      config_.program.log_format = format;
      return;
    }
    refuse(key, fmt::format("log.format is '{}'; allowed: one of text, json", text));
  }

  void read_blob_mode(const YAML::Node& key, const YAML::Node& value) {
    const std::string text = value.IsScalar() ? value.Scalar() : "";
    const auto mode = parse_blob_mode(text);
    if (!mode) refuse(key, fmt::format("blobs.mode is '{}'; allowed: one of 0600, 0640", text));
    config_.program.blob_mode = *mode;
  }

  void read_traces_endpoint(const YAML::Node& key, const YAML::Node& value) {
    if (!value.IsScalar() || value.Scalar().empty())
      refuse(key,
             "traces.endpoint must be the address of a collector, such as http://127.0.0.1:4318");
    config_.program.traces_endpoint = value.Scalar();
    config_.program.traces_line = value.Mark().line + 1;
  }

  static std::optional<double> read_value(const Key& key, const std::string& text) {
    if (key.kind == KeyKind::flag) {
      if (text == "true") return 1;
      if (text == "false") return 0;
      return {};
    }
    if (key.kind == KeyKind::choice) {
      for (std::size_t i = 0; i < key.choices.size(); ++i)
        if (key.choices[i] == text) return static_cast<double>(i);
      return {};
    }
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
      return {};
    return number;
  }

  const std::string& name_;
  WholeConfig config_;
  std::map<std::string, const Key*> keys_;
  std::map<std::string, std::set<std::string>> children_;
  std::map<std::string, int> lines_;
};

}  // namespace

std::string_view to_string(LogFormat format) { return format == LogFormat::json ? "json" : "text"; }

std::string_view to_string(BlobMode mode) { return mode == BlobMode::group ? "0640" : "0600"; }

std::optional<BlobMode> parse_blob_mode(std::string_view text) {
  for (const auto mode : {BlobMode::owner, BlobMode::group})
    if (text == to_string(mode)) return mode;
  return {};
}

ConfigFile parse_config(const std::string& yaml, const std::string& name) {
  return parse_whole_config(yaml, name).file;
}

WholeConfig parse_whole_config(const std::string& yaml, const std::string& name) {
  if (yaml.size() > largest_file)
    throw ConfigError{fmt::format("{}: {} bytes are too many for a configuration file; allowed: {}",
                                  name, yaml.size(), largest_file)};
  try {
    const auto documents = YAML::LoadAll(yaml);
    if (documents.size() > 1)
      throw ConfigError{fmt::format("{}:{}: a second document begins here; allowed: one in a file",
                                    name, documents[1].Mark().line + 1)};
    Reader reader{name};
    WholeConfig config = reader.read(documents.empty() ? YAML::Node{} : documents.front());
    try {
      config.file.settings.validate();
    } catch (const ConfigError& error) {
      // Each value fits by itself, so the culprit is a combination: its message begins with a key.
      const std::string what = error.what();
      throw ConfigError{fmt::format(
          "{}:{}: {}", name, reader.line_of(what.substr(0, what.find_first_of(": "))), what)};
    }
    return config;
  } catch (const YAML::Exception& error) {
    throw ConfigError{
        fmt::format("{}:{}: not valid YAML: {}", name, error.mark.line + 1, error.msg)};
  }
}

}  // namespace holdfast
