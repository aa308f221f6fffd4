#include "documents/secret_names.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include "documents/ascii.hpp"

namespace holdfast {

namespace {

using Words = std::vector<std::string>;

/// What a name means is at its end, so of a longer one the end decides.
constexpr std::size_t longest_secret_name = 200;
constexpr std::size_t longest_rule = 200;

/// The last word of a name that holds a credential.
constexpr std::array secret_words = {
    "password",   "passwords",   "passwd",    "passphrase",    "passcode", "passkey",   "pwd",
    "pass",       "secret",      "secrets",   "token",         "tokens",   "apikey",    "apikeys",
    "credential", "credentials", "cred",      "creds",         "dsn",      "cookie",    "cookies",
    "bearer",     "jwt",         "otp",       "totp",          "csrf",     "xsrf",      "mnemonic",
    "connstr",    "keypass",     "storepass", "authorization", "sessid",   "sessionid", "pw",
    "cvv",        "cvc",         "sas"};
/// What a name without separators ends with: `dbpassword`, `clientsecret`.
constexpr std::array secret_endings = {
    "password",    "passwd",        "passphrase",       "secret",        "token",
    "apikey",      "apisecret",     "accesskey",        "privatekey",    "secretkey",
    "signingkey",  "sharedkey",     "masterkey",        "accountkey",    "sshkey",
    "authkey",     "credentials",   "credential",       "setcookie",     "sessionid",
    "sessid",      "authorization", "connectionstring", "encryptionkey", "licensekey",
    "accesskeyid", "passwort",      "kennwort"};
/// `userpwd`, `dbpass`: shorter, so what is before them must be known.
constexpr std::array owners = {"db",   "database", "user",  "root",  "admin", "my",
                               "smtp", "mail",     "ftp",   "mysql", "redis", "pg",
                               "ssh",  "http",     "proxy", "login"};
constexpr std::array short_endings = {"pwd", "pass"};
/// Two words that are a credential together.
constexpr std::array<std::array<std::string_view, 2>, 60> pairs = {{
    {"api", "key"},
    {"api", "keys"},
    {"access", "key"},
    {"access", "keys"},
    {"private", "key"},
    {"private", "keys"},
    {"secret", "key"},
    {"signing", "key"},
    {"encryption", "key"},
    {"decryption", "key"},
    {"master", "key"},
    {"ssh", "key"},
    {"rsa", "key"},
    {"aes", "key"},
    {"hmac", "key"},
    {"auth", "key"},
    {"account", "key"},
    {"shared", "key"},
    {"service", "key"},
    {"server", "key"},
    {"deploy", "key"},
    {"webhook", "key"},
    {"session", "key"},
    {"subscription", "key"},
    {"license", "key"},
    {"licence", "key"},
    {"gpg", "key"},
    {"pgp", "key"},
    {"client", "key"},
    {"storage", "key"},
    {"host", "key"},
    {"session", "id"},
    {"sess", "id"},
    {"connection", "string"},
    {"conn", "string"},
    {"conn", "str"},
    {"x", "auth"},
    {"basic", "auth"},
    {"proxy", "auth"},
    {"http", "auth"},
    {"auth", "code"},
    {"authorization", "code"},
    {"otp", "code"},
    {"recovery", "codes"},
    {"backup", "codes"},
    {"seed", "phrase"},
    {"verification", "code"},
    {"recovery", "code"},
    {"backup", "code"},
    {"unlock", "code"},
    {"2fa", "code"},
    {"mfa", "code"},
    {"pass", "word"},
    {"pass", "words"},
    {"pass", "phrase"},
    {"pass", "code"},
    {"certificate", "key"},
    {"cert", "key"},
    {"tls", "key"},
    {"ssl", "key"},
}};
/// Before `signature`, it lets its holder in; alone, it may end a letter.
constexpr std::array signers = {"amz", "hub",    "hmac", "webhook", "request", "access",
                                "url", "google", "goog", "slack",   "stripe",  "shared"};
/// What may follow a credential in its name without making it something else.
constexpr std::array same_thing = {
    "value",   "values",  "text",         "string", "plain",   "plaintext", "raw",
    "hash",    "digest",  "salt",         "hex",    "base64",  "b64",       "encoded",
    "enc",     "pem",     "data",         "header", "headers", "old",       "new",
    "current", "confirm", "confirmation", "repeat", "again",   "backup",    "base"};
/// Of an access key or a secret, its id too: who knows the rest of it has the whole.
constexpr std::array with_id = {"key", "secret", "accesskey"};
constexpr std::array parameters = {"key",  "sig",  "signature", "auth",
                                   "once", "hmac", "sid",       "code_verifier"};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

/// `X-Api-Key`, `xApiKey` and `XAPIKey` are x, api, key. `PassWord` is pass, word.
Words words_of(std::string_view name) {
  Words words;
  bool begins = true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_upper(c) && !is_lower(c) && !is_digit(c)) {
      begins = true;
      continue;
    }
    const bool after_small = i > 0 && (is_lower(name[i - 1]) || is_digit(name[i - 1]));
    const bool before_small = i + 1 < name.size() && is_lower(name[i + 1]);
    const bool after_big = i > 0 && is_upper(name[i - 1]);
    if (begins || (is_upper(c) && (after_small || (after_big && before_small))))
      words.emplace_back();
    words.back() += lower(c);
    begins = false;
  }
  return words;
}

bool is_number(std::string_view word) { return std::ranges::all_of(word, is_digit); }

/// `password2` is one, too.
std::string_view without_number(std::string_view word) {
  auto end = word.size();
  while (end > 0 && is_digit(word[end - 1])) --end;
  return end == 0 ? word : word.substr(0, end);
}

bool is_secret_word(std::string_view word) {
  if (is_among(secret_words, word)) return true;
  const auto ends_it = [&](std::string_view ending) { return word.ends_with(ending); };
  if (std::ranges::any_of(secret_endings, ends_it)) return true;
  for (const std::string_view ending : short_endings)
    if (word.ends_with(ending) && is_among(owners, word.substr(0, word.size() - ending.size())))
      return true;
  return false;
}

bool is_pair(std::string_view first, std::string_view second) {
  for (const auto& pair : pairs)
    if (pair[0] == first && pair[1] == second) return true;
  return second == "signature" && is_among(signers, first);
}

/// Whether these words name a credential at their end.
bool ends_in_secret(std::span<const std::string> words) {
  if (words.empty()) return false;
  const auto last = without_number(words.back());
  if (is_secret_word(last)) {
    // How many tokens a text has, and how many may be used, is counted.
    const bool counted = last == "tokens" && words.size() > 1;
    const bool boarding =
        last == "pass" && words.size() > 1 && !is_among(owners, words[words.size() - 2]);
    // Names of errors, such as `missing_secret`.
    const bool absent = words.size() > 1 && words[words.size() - 2] == "missing";
    return !counted && !boarding && !absent;
  }
  if (words.size() < 2) return last == "auth";
  return is_pair(words[words.size() - 2], last);
}

bool is_secret_by_words(std::span<const std::string> words) {
  while (!words.empty()) {
    if (ends_in_secret(words)) return true;
    const auto& last = words.back();
    if (words.size() > 1 && last == "id" && is_among(with_id, words[words.size() - 2]))
      return ends_in_secret(words.first(words.size() - 1));
    if (!is_among(same_thing, last) && !is_number(last)) return false;
    words = words.first(words.size() - 1);
  }
  return false;
}

/// Lower case, letters and digits (and the stars of a rule) only: what all spellings have in
/// common.
std::string plainest(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (is_upper(c) || is_lower(c) || is_digit(c) || c == '*' ||
        static_cast<unsigned char>(c) >= 0x80)
      plain += lower(c);
  return plain;
}

bool fits(std::string_view rule, std::string_view name) {
  std::size_t r = 0, n = 0, star = rule.npos, from = 0;
  while (n < name.size()) {
    if (r < rule.size() && rule[r] == '*') {
      star = r++;
      from = n;
    } else if (r < rule.size() && rule[r] == name[n]) {
      ++r;
      ++n;
    } else if (star != rule.npos) {
      r = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (r < rule.size() && rule[r] == '*') ++r;
  return r == rule.size();
}

struct Rules {
  Words keys{}, allow{};
};

std::atomic<std::shared_ptr<const Rules>>& rules_of_process() {
  static std::atomic<std::shared_ptr<const Rules>> rules{std::make_shared<const Rules>()};
  return rules;
}

bool is_one_of(const Words& rules, std::string_view plain) {
  return std::ranges::any_of(rules, [&](const auto& rule) { return fits(rule, plain); });
}

}  // namespace

std::string fault_of_rule(std::string_view name) {
  if (name.size() > longest_rule)
    return fmt::format("is {} bytes long; allowed: at most {}", name.size(), longest_rule);
  const auto plain = plainest(name);
  if (std::ranges::all_of(plain, [](char c) { return c == '*'; }))
    return "has no letters; name a member, such as card_number or *_iban";
  return {};
}

void set_hide_rules(const HideRules& rules) {
  Rules made;
  for (const auto& [from, to] : {std::pair{&rules.keys, &made.keys}, {&rules.allow, &made.allow}})
    for (const auto& each : *from) {
      if (const auto fault = fault_of_rule(each); !fault.empty())
        throw ConfigError{fmt::format("the name '{}' {}", each, fault)};
      to->push_back(plainest(each));
    }
  rules_of_process() = std::make_shared<const Rules>(std::move(made));
}

bool is_secret_name(std::string_view name) {
  if (name.size() > longest_secret_name) name.remove_prefix(name.size() - longest_secret_name);
  const auto rules = rules_of_process().load();
  if (!rules->keys.empty() || !rules->allow.empty()) {
    const auto plain = plainest(name);
    if (is_one_of(rules->allow, plain)) return false;
    if (is_one_of(rules->keys, plain)) return true;
  }
  return is_secret_by_words(words_of(name));
}

bool is_plain_value(std::string_view name, std::string_view value) {
  if (value == "null" || value == "true" || value == "false" || value == "\"\"") return true;
  const bool number = !value.empty() && value.size() <= 20 &&
                      std::ranges::all_of(value, [](char c) { return is_digit(c) || c == '.'; });
  return number && (name == "tokens" || name == "pass");
}

bool is_secret_parameter(std::string_view name) {
  const auto rules = rules_of_process().load();
  if (name.size() <= longest_secret_name && is_one_of(rules->allow, plainest(name))) return false;
  std::string small{name.substr(0, longest_secret_name)};
  std::ranges::transform(small, small.begin(), lower);
  return is_among(parameters, small) || is_secret_name(name);
}

}  // namespace holdfast
