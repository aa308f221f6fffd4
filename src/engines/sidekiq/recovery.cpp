#include "engines/sidekiq/recovery.hpp"

#include <array>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sidekiq/jobs.hpp"
#include "engines/sidekiq/script.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::sidekiq {

namespace {

constexpr int at_once = 200;
constexpr const char* last_look = "holdfast:last_look";

SystemTime now() { return std::chrono::system_clock::now(); }

constexpr std::string_view unknown = "unknown";  // see recover.lua

/// What becomes of the job of a request whose process died, and why if it is the end of it.
struct Verdict {
  Effect effect;
  std::string why{};
};

Verdict judge(const std::string& text, const std::string& phase, int max_recoveries) {
  if (text.empty()) return {{.what = "nothing"}, "its job is not there any more"};
  boost::json::object job;
  try {
    job = parse_job(text);
  } catch (const InvalidRequest&) {
    return {{.what = "dead", .text = text}, "its job cannot be read"};
  }
  auto recoveries = recoveries_of(job) + 1;
  set_recoveries(job, recoveries);
  std::string why;
  if (phase == unknown)
    why =
        "it may have been sent by a Ruby process: the gem's registry, which would tell, expired or "
        "was cleared after the process that held it was last heard of";
  // Empty: of a Ruby process, which does not say. What a later version may call it is not known.
  else if (!phase.empty() && phase != "taken")
    why = "it may have been sent when its process died, and is not sent again by itself";
  else if (recoveries > max_recoveries)
    why = fmt::format("its process has died {} times while it was in flight", recoveries);
  if (!why.empty()) return {{.what = "dead", .text = not_sent_again_text(job, why, now())}, why};
  return {{.what = "push", .where = queue_of(job), .text = again_text(job, now())}};
}

}  // namespace

Recovery::Recovery(redis::Server& server, const Dialect& dialect, RecoveryOptions options, Log log)
    : server_{server}, dialect_{dialect}, options_{std::move(options)}, log_{std::move(log)} {}

std::string Recovery::key(std::string_view name) const {
  return fmt::format("{}:{}", dialect_.prefix, name);
}

bool Recovery::may_look() {
  auto interval = options_.heartbeat_interval;
  // When one of ours looked. The gem's own note says nothing: what Ruby leaves, it leaves each
  // time.
  auto last = server_.call({"GET", key(last_look)}).number();
  auto time = server_.call({"TIME"});
  auto server_now = time[0].number() * 1'000 + time[1].number() / 1'000;
  if (last != 0 && server_now - last < interval.count()) return false;
  auto seconds = std::max<std::int64_t>(2 * interval / std::chrono::seconds{1}, 120);
  return !server_
              .call({"SET", key("gc_lock"), options_.process, "NX", "EX", std::to_string(seconds)})
              .is_nil();
}

void Recovery::done_looking() {
  auto time = server_.call({"TIME"});
  auto milliseconds = time[0].number() * 1'000 + time[1].number() / 1'000;
  auto keep = std::max<std::int64_t>(options_.heartbeat_interval * 3 / 2 / Millis{1}, 1);
  auto note = [&](std::string_view name) {
    return redis::Command{"SET", key(name), std::to_string(milliseconds), "PX",
                          std::to_string(keep)};
  };
  server_.call_all(std::array{note(last_look), note("gc_last_run")});
}

void Recovery::unlock() {
  try {
    server_.run(scripts::unlock, {std::string{dialect_.prefix}, options_.process});
  } catch (const StoreError& error) {
    log_(Severity::info, fmt::format("the registry stays locked for a while: {}", error.what()));
  }
}

Recovered Recovery::run_once() {
  if (!may_look()) return {};
  try {
    auto recovered = recover_all({});
    done_looking();
    unlock();
    return recovered;
  } catch (...) {
    unlock();  // the next process need not wait until the lock expires
    throw;
  }
}

Recovered Recovery::recover_all(const std::map<std::string, std::string>& dead) {
  Recovered all;
  std::vector<std::string> tried;  // and are still there
  while (true) {
    auto orphans = find(dead, tried);
    if (orphans.empty()) return all;
    for (const auto& orphan : orphans)
      if (!recover(orphan, dead, all)) tried.push_back(orphan.id);
  }
}

Recovered Recovery::recover_from(const std::map<std::string, std::string>& dead) {
  auto recovered = recover_all(dead);
  for (const auto& [process, life] : dead)
    server_.run(scripts::bury, {std::string{dialect_.prefix}, process, life});
  return recovered;
}

std::vector<Recovery::Orphan> Recovery::find(const std::map<std::string, std::string>& dead,
                                             const std::vector<std::string>& tried) {
  redis::Command command{std::string{dialect_.prefix},
                         std::to_string(options_.orphan_threshold.count()), std::to_string(at_once),
                         std::to_string(dead.size())};
  for (const auto& [process, life] : dead) command.push_back(process);
  command.insert(command.end(), tried.begin(), tried.end());
  auto reply = server_.run(scripts::orphans, command);
  std::vector<Orphan> orphans;
  constexpr std::size_t values_each = 4;
  for (std::size_t i = 0; i + values_each <= reply.size(); i += values_each)
    orphans.push_back(
        {reply[i].string(), reply[i + 1].string(), reply[i + 2].string(), reply[i + 3].string()});
  return orphans;
}

bool Recovery::recover(const Orphan& orphan, const std::map<std::string, std::string>& dead,
                       Recovered& all) {
  try {
    auto verdict = judge(orphan.text, orphan.phase, options_.max_recoveries);
    auto at = dead.find(orphan.process);
    const auto life = at == dead.end() ? std::string{} : at->second;
    auto what = take_over(orphan, life, verdict.effect);
    if (what == unknown) {
      verdict = judge(orphan.text, what, options_.max_recoveries);
      what = take_over(orphan, life, verdict.effect);
    }
    if (what == "elsewhere")
      log_(Severity::info,
           fmt::format("request {} was put back on its queue by another process", orphan.id));
    if (what != "recovered") return false;
    if (verdict.why.empty()) {
      ++all.again;
      log_(Severity::info,
           fmt::format("recovered request {}: its process is dead, and it is back on queue {}",
                       orphan.id, verdict.effect.where));
    } else {
      ++all.dead;
      log_(Severity::error,
           fmt::format("request {} is not sent again: {}", orphan.id, verdict.why));
    }
    return true;
  } catch (const redis::Disconnected&) {
    throw;
  } catch (const StoreError& error) {
    // Of this one; the others must not wait for it.
    ++all.failed;
    log_(Severity::error,
         fmt::format("request {} cannot be recovered: {}", orphan.id, error.what()));
    return false;
  }
}

std::string Recovery::take_over(const Orphan& orphan, const std::string& life,
                                const Effect& effect) {
  redis::Command command{std::string{dialect_.prefix},
                         orphan.id,
                         orphan.text,
                         std::to_string(options_.orphan_threshold.count()),
                         std::to_string(options_.ttl_seconds),
                         life};
  add(command, effect);
  kill_point(KillPoint::http_sidekiq_before_recover);
  auto what = server_.run(scripts::recover, command).string();
  kill_point(KillPoint::http_sidekiq_after_recover);
  return what;
}

}  // namespace holdfast::sidekiq
