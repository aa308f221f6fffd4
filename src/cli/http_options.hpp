#pragma once

#include <string>
#include <vector>

#include <holdfast/http/processor.hpp>

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// How requests and answers are kept in the store.
struct PayloadFlags {
  std::string blobs{};
  std::vector<std::string> keys{};  ///< NAME=FILE, the current one first
  std::size_t threshold = http::PayloadOptions{}.threshold;
  bool sign_only = false;
  bool accept_plain = false;
  bool refuse_unbound = false;
  std::vector<std::string> sealed_kinds{};
};

/// What the commands that perform requests have in common.
struct EgressFlags {
  http::EgressOptions egress{};
  std::string ca_file{};
  std::string proxy{};
  std::string secrets_folder{};
  std::vector<std::string> signing_keys{};  ///< NAME=FILE; of one name, the current one first
  PayloadFlags payloads{};
};

/// Those of the payloads, too.
void add_egress_flags(CLI::App& command, EgressFlags& flags, Context& context);
/// What it takes to read them.
void add_payload_flags(CLI::App& command, PayloadFlags& flags, Context& context);
/// How those who write them seal them.
void add_sign_payloads_flag(CLI::App& command, PayloadFlags& flags);
/// Which of them are refused, for those who act upon what they read.
void add_refusal_flags(CLI::App& command, PayloadFlags& flags);
/// The same for those who read payloads of any kind: programs and remote workers.
void add_sealed_kinds_flag(CLI::App& command, PayloadFlags& flags);
void apply(const EgressFlags& flags, Context& context, http::ProcessorOptions& options);
/// For those who only enqueue or read answers, too. Throws `ConfigError` for files that have no key
/// in them.
http::PayloadOptions payloads_of(const PayloadFlags& flags, Context& context);

/// The files of secrets and signing keys that are bound to no host, for a warning at the start.
std::vector<std::string> unbound_secrets(const EgressFlags& flags);

/// Nothing changes where the option was not given.
void set_duration(Millis& value, const std::string& text, const std::string& option);

/// `Name: value` apart. Throws `InvalidRequest` naming `option`.
std::pair<std::string, std::string> name_and_value(const std::string& text, char between,
                                                   const std::string& option);

}  // namespace holdfast::cli
