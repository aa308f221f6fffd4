#pragma once

#include <string>
#include <vector>

#include <holdfast/http/processor.hpp>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What the commands that perform requests have in common.
struct EgressFlags {
  http::EgressOptions egress{};
  std::string ca_file{};
  std::string proxy{};
  std::string secrets_folder{};
  std::string blobs{};
  std::vector<std::string> signing_keys{};  ///< NAME=FILE; of one name, the current one first
  std::vector<std::string> payload_keys{};  ///< NAME=FILE, the current one first
};

void add_egress_flags(CLI::App& command, EgressFlags& flags);
void apply(const EgressFlags& flags, http::ProcessorOptions& options);
/// How requests and answers are kept, for those who only enqueue, too. Throws `ConfigError` for
/// files that have no key in them.
http::PayloadOptions payloads_of(const EgressFlags& flags);

/// `Name: value` apart. Throws `InvalidRequest` naming `option`.
std::pair<std::string, std::string> name_and_value(const std::string& text, char between,
                                                   const std::string& option);

}  // namespace holdfast::cli
