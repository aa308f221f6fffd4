#include <holdfast/settings.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "settings/keys.hpp"
#include "settings/program.hpp"

namespace holdfast {

void Settings::validate() const {
  for (const Key& key : setting_keys())
    if (!key.fits(key.get(*this)))
      throw ConfigError{
          fmt::format("{} is {}; allowed: {}", key.path(), key.text(*this), key.allowed())};
  check_together(*this);
}

WholeConfig load_whole_config(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw ConfigError{fmt::format("{} is a directory; name a YAML file", path)};
  std::ifstream file{path, std::ios::binary};
  if (!file)
    throw ConfigError{
        fmt::format("cannot read {}: {}; name a YAML file that exists and is readable", path,
                    std::strerror(errno))};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (file.bad()) throw ConfigError{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  return parse_whole_config(text, path);
}

ConfigFile load_config(const std::string& path) { return load_whole_config(path).file; }

Settings load_settings(const std::string& path) { return load_config(path).settings; }

Settings parse_settings(const std::string& yaml, const std::string& name) {
  return parse_config(yaml, name).settings;
}

}  // namespace holdfast
