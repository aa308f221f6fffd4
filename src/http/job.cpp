#include "http/job.hpp"

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/http/signature.hpp>

#include "http/headers.hpp"
#include "http/url_characters.hpp"

namespace holdfast::http {

namespace {

constexpr Millis usual_host_patience{60'000};

void add_identity(Job& job, const ProcessorOptions& options) {
  auto& headers = job.request.headers;
  headers["x-request-id"] = job.id;
  headers.emplace("idempotency-key", job.id);
  headers.emplace("user-agent", options.user_agent);
}

/// The secret, or nothing; one that makes no sense is like one that cannot be read.
std::optional<Secret> look_up(const std::string& name, const ProcessorOptions& options) {
  if (!options.secrets) return {};
  try {
    auto secret = options.secrets(name);
    if (secret) validate(secret->binding);
    return secret;
  } catch (const std::exception& error) {
    throw SecretUnreadable{
        fmt::format("it needs the secret '{}', which cannot be read: {}", name, error.what())};
  }
}

/// Of one request: looks up what it names, as far as bindings allow that.
class Keeper {
 public:
  Keeper(const Asker& asker, const Origin& origin, const ProcessorOptions& options)
      : options_{options}, use_{origin, asker.queue, asker.kind, asker.unbound_secrets} {}

  std::string secret(const std::string& name) const {
    auto secret = look_up(name, options_);
    if (!secret)
      throw InvalidRequest{
          fmt::format("it needs the secret '{}', which this processor does not have", name)};
    check_use(fmt::format("secret '{}'", name), secret->binding, use_);
    return std::move(secret->value);
  }

  std::vector<std::string> keys(const std::string& name) const {
    const auto at = options_.signing_keys.find(name);
    if (at == options_.signing_keys.end())
      throw InvalidRequest{fmt::format(
          "it is to be signed with '{}', a key that this processor does not have", name)};
    std::vector<std::string> keys;
    for (const auto& key : at->second) {
      check_use(fmt::format("signing key '{}'", name), key.binding, use_);
      keys.push_back(signing_key(key.value));
    }
    return keys;
  }

 private:
  const ProcessorOptions& options_;
  SecretUse use_;
};

void add_secrets(Job& job, const Asker& asker, const Keeper& keeper) {
  for (const auto& [header, name] : job.request.secret_headers) {
    auto value = keeper.secret(name);
    check_header(header, value);
    job.secrets[header] = std::move(value);
  }
  Parameters params;
  for (const auto& [param, name] : asker.secret_params)
    params.emplace_back(param, keeper.secret(name));
  job.request.url = with_parameters(job.request.url, params);
}

}  // namespace

void sign(Job& job, const Origin& to) {
  if (job.signing_keys.empty() || to != job.bound_to) return;
  auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  auto& headers = job.request.headers;
  headers["webhook-id"] = job.id;
  headers["webhook-timestamp"] = std::to_string(now.time_since_epoch().count());
  headers["webhook-signature"] = signature(job.id, now, job.request.body, job.signing_keys);
}

const Headers& secrets_for(const Job& job, const Origin& to) {
  static const Headers none;
  return to == job.bound_to ? job.secrets : none;
}

void leave_origin(Job& job) {
  job.bound_to = {};
  job.secrets.clear();
  job.signing_keys.clear();
  std::erase_if(job.request.headers,
                [](const auto& header) { return !is_harmless_header(header.first); });
}

Job make_job(Request request, std::string id, const Asker& asker, const ProcessorOptions& options) {
  Job job;
  job.request = std::move(request);
  job.request.url = escaped(job.request.url);
  job.id = std::move(id);
  job.timeout = job.request.timeout.value_or(options.request_timeout);
  job.host_patience =
      job.request.host_patience.value_or(options.breaker.patience.value_or(usual_host_patience));
  job.max_redirects = job.request.max_redirects.value_or(options.max_redirects);
  add_identity(job, options);
  job.bound_to = origin_of(job.request.url);
  const Keeper keeper{asker, job.bound_to, options};
  add_secrets(job, asker, keeper);
  if (!job.request.sign_with.empty()) job.signing_keys = keeper.keys(job.request.sign_with);
  return job;
}

}  // namespace holdfast::http
