#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <holdfast/blobs.hpp>
#include <holdfast/broker.hpp>
#include <holdfast/diagnosis.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/error.hpp>
#include <holdfast/http/sidekiq.hpp>
#include <holdfast/liveness.hpp>
#include <holdfast/state_machine.hpp>

#include "engines/azure/blobs.hpp"
#include "engines/filesystem/blob_directory.hpp"
#include "engines/postgres/diagnose.hpp"
#include "engines/postgres/engine.hpp"
#include "engines/rabbitmq/open.hpp"
#include "engines/redis/address.hpp"
#include "engines/redis/engine.hpp"
#include "engines/redis/ledger.hpp"
#include "engines/redis/liveness.hpp"
#include "engines/s3/blobs.hpp"
#include "engines/sidekiq/dialect.hpp"
#include "engines/sqlite/diagnose.hpp"
#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/is_store.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast {

namespace {

/// The file of a store, and for whom its files are.
struct StoreFile {
  std::string path;
  FilesFor files_for = FilesFor::owner;
};

void take_parameter(std::string_view parameter, StoreFile& file, Settings& settings) {
  if (parameter == "durability=power-safe") {
    settings.durability = Durability::power_safe;
  } else if (parameter == "durability=crash-safe") {
    settings.durability = Durability::crash_safe;
  } else if (parameter == "access=owner") {
    file.files_for = FilesFor::owner;
  } else if (parameter == "access=group") {
    file.files_for = FilesFor::group;
  } else {
    throw ConfigError{
        fmt::format("unknown parameter '{}' in the store address; allowed: durability=power-safe, "
                    "durability=crash-safe, access=owner, access=group",
                    parameter)};
  }
}

/// `path?durability=crash-safe&access=group` becomes the path and what follows it.
StoreFile take_parameters(std::string_view address, Settings& settings) {
  auto question = address.find('?');
  StoreFile file{std::string{address.substr(0, question)}};
  while (question != std::string_view::npos) {
    address.remove_prefix(question + 1);
    question = address.find('&');
    take_parameter(address.substr(0, question), file, settings);
  }
  return file;
}

/// The file of a store's address; its parameters go into `settings`.
StoreFile file_of(std::string_view address, Settings& settings) {
  settings.validate();
  auto colon = address.find(':');
  auto scheme = address.substr(0, colon);
  if (colon == std::string_view::npos || scheme != "sqlite") {
    // Only the part before the colon: there may be a password in the rest.
    throw ConfigError{
        fmt::format("'{}' is not the address of a store; write sqlite:FILE, for example "
                    "sqlite:work.db, postgres://USER@HOST/DATABASE or redis://HOST:PORT",
                    colon == std::string_view::npos ? address : scheme)};
  }
  auto file = take_parameters(address.substr(colon + 1), settings);
  const auto& path = file.path;
  if (path.empty()) throw ConfigError{"the store address names no file; write sqlite:FILE"};
  if (path.starts_with("//"))
    throw ConfigError{fmt::format(
        "sqlite:{} has two slashes; a file has no host: write sqlite:FILE or sqlite:/FOLDER/FILE",
        path)};
  return file;
}

/// What there is for the addresses of one kind of store.
struct Scheme {
  bool (*has)(std::string_view address);
  Engine (*open)(std::string_view address, Settings settings, Stay stay);
  /// Its name, without secrets; throws `ConfigError` where the address makes no sense.
  std::string (*check)(std::string_view address);
  Diagnosis (*diagnose)(std::string_view address, const DiagnosisOptions& options,
                        Settings settings);
  bool (*holds_store)(std::string_view address);
};

constexpr Scheme postgres_scheme{
    .has = postgres::is_postgres,
    .open =
        [](std::string_view address, Settings settings, Stay) {
          settings.validate();
          auto parsed = postgres::parse_address(address, settings);
          return Engine{postgres::open_store(parsed, std::move(settings))};
        },
    .check =
        [](std::string_view address) {
          Settings settings;
          return postgres::parse_address(address, settings).name;
        },
    .diagnose =
        [](std::string_view address, const DiagnosisOptions& options, Settings settings) {
          auto parsed = postgres::parse_address(address, settings);
          return postgres::diagnose(parsed, options, std::move(settings));
        },
    .holds_store =
        [](std::string_view address) {
          Settings settings;
          return postgres::holds_store(postgres::parse_address(address, settings));
        },
};

constexpr Scheme redis_scheme{
    .has = redis::is_address,
    .open = [](std::string_view address, Settings settings,
               Stay) { return Engine{redis::open_store(address, std::move(settings))}; },
    .check = [](std::string_view address) { return redis::Address::parse(address).name(); },
    .diagnose = [](std::string_view, const DiagnosisOptions&, Settings) -> Diagnosis {
      throw InvalidRequest{
          "only stores in files are mended by us; 'holdfast queue status' shows how a store in "
          "Redis is doing"};
    },
    .holds_store = redis::holds_store,
};

/// Jobs of a Ruby application, which are no tasks.
[[noreturn]] void refuse_sidekiq(std::string_view address) {
  sidekiq::parse_address(address);
  throw ConfigError{
      "Sidekiq's Redis has jobs of a Ruby application and no tasks; 'holdfast http run', 'http "
      "list' and 'http stats' (and holdfast::http::SidekiqProcessor) work with it"};
}

constexpr Scheme sidekiq_scheme{
    .has = http::is_sidekiq_address,
    .open = [](std::string_view address, Settings, Stay) -> Engine { refuse_sidekiq(address); },
    .check =
        [](std::string_view address) {
          return "sidekiq+" + sidekiq::parse_address(address).redis.name();
        },
    .diagnose = [](std::string_view address, const DiagnosisOptions&, Settings) -> Diagnosis {
      refuse_sidekiq(address);
    },
    .holds_store = [](std::string_view) { return true; },  // which `open` says more about
};

/// What no other takes; it says what addresses there are.
constexpr Scheme file_scheme{
    .has = [](std::string_view) { return true; },
    .open =
        [](std::string_view address, Settings settings, Stay stay) {
          auto file = file_of(address, settings);
          return Engine{sqlite::open_store(file.path, std::move(settings), system_clock(),
                                           {.stay = stay, .files_for = file.files_for})};
        },
    .check =
        [](std::string_view address) {
          Settings settings;
          file_of(address, settings);
          return std::string{address};
        },
    .diagnose =
        [](std::string_view address, const DiagnosisOptions& options, Settings settings) {
          auto file = file_of(address, settings);
          return sqlite::diagnose(file.path, options, std::move(settings), file.files_for);
        },
    .holds_store =
        [](std::string_view address) {
          Settings settings;
          auto path = file_of(address, settings).path;
          return std::filesystem::exists(path) && sqlite::may_be_store(path);
        },
};

/// The one place that knows which engines there are.
constexpr std::array schemes{postgres_scheme, redis_scheme, sidekiq_scheme, file_scheme};

const Scheme& scheme_of(std::string_view address) {
  return *std::ranges::find_if(schemes, [&](const Scheme& each) { return each.has(address); });
}

}  // namespace

Engine open(std::string_view address, Settings settings, Stay stay) {
  return scheme_of(address).open(address, std::move(settings), stay);
}

std::string check_address(std::string_view address) { return scheme_of(address).check(address); }

Diagnosis diagnose(std::string_view address, const DiagnosisOptions& options, Settings settings) {
  return scheme_of(address).diagnose(address, options, std::move(settings));
}

bool holds_store(std::string_view address) { return scheme_of(address).holds_store(address); }

std::shared_ptr<BlobStore> open_blobs(std::string_view address, BlobMode mode) {
  constexpr std::string_view scheme = "dir:";
  if (azure::is_address(address)) return azure::open_blobs(address);
  if (s3::is_address(address)) return s3::open_blobs(address);
  if (!address.starts_with(scheme) || address.size() == scheme.size())
    throw ConfigError{fmt::format(
        "'{}' is not the address of a store of blobs; write dir:FOLDER, azure://ACCOUNT/CONTAINER "
        "or s3://BUCKET",
        address.substr(0, address.find(':')))};
  return filesystem::open_blob_directory(
      std::string{address.substr(scheme.size())},
      mode == BlobMode::group ? FilesFor::readers : FilesFor::owner);
}

std::shared_ptr<Liveness> open_liveness(std::string_view address) {
  if (!redis::is_address(address))
    throw ConfigError{
        fmt::format("'{}' is not an address where workers tell each other that they live; write "
                    "redis://HOST:PORT",
                    address.substr(0, address.find(':')))};
  return std::make_shared<redis::RedisLiveness>(redis::Address::parse(address));
}

void keep_ledgers_in(const Engine& engine, std::string_view address, Stay stay) {
  if (!redis::is_address(address))
    throw ConfigError{fmt::format(
        "'{}' is not an address where ledgers can be kept beside a store; write redis://HOST:PORT",
        address.substr(0, address.find(':')))};
  auto ledger = std::make_shared<redis::RedisLedger>(redis::Address::parse(address),
                                                     engine.parts().name_everywhere());
  if (stay != Stay::brief) ledger->check_server();
  engine.parts().transactions().keep_ledgers_in(std::move(ledger));
}

std::shared_ptr<Broker> open_broker(std::string_view address, const Settings& settings) {
  if (rabbitmq::is_address(address)) return rabbitmq::open_broker(address);
  if (!address.starts_with("sqlite:"))
    throw ConfigError{fmt::format(
        "'{}' is not the address of a broker; write sqlite:FILE or amqp://USER@HOST/VHOST",
        address.substr(0, address.find(':')))};
  return open_broker(open(address, settings));
}

std::shared_ptr<Broker> open_broker(const Engine& engine) {
  if (auto own = engine.parts().own_broker(engine)) return own;
  throw InvalidRequest{fmt::format(
      "{} has no queues for messages of its own; name a broker (--broker): sqlite:FILE or "
      "amqp://USER@HOST/VHOST",
      engine.name())};
}

}  // namespace holdfast
