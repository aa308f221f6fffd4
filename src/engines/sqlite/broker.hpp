#pragma once

#include <memory>

#include <holdfast/broker.hpp>
#include <holdfast/engine.hpp>

#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

/// Queues in a file: the broker where one machine is enough. Publishing and acknowledging are
/// commits of the file. Who takes messages holds a lock while it lives, so what a dead one had is
/// delivered again within a second.
class SqliteBroker final : public Broker, public std::enable_shared_from_this<SqliteBroker> {
 public:
  explicit SqliteBroker(Engine engine);

  using Broker::publish;
  void declare(const std::string& queue) override;
  std::optional<std::int64_t> messages(const std::string& queue) override;
  bool remove(const std::string& queue) override;
  void publish(std::span<const Message> messages) override;
  std::unique_ptr<Consumer> consume(const ConsumerOptions& options) override;
  std::string name() const override { return engine_.name(); }

  Store& store() { return store_; }
  WorkWatch& mail() { return mail_; }
  std::string file_of(const std::string& name) const {
    return store_.files.messages() + "/" + name;
  }
  /// After the commit that took them out of the table.
  void remove_files(const std::vector<std::string>& files) const;

 private:
  std::string write_file(const std::string& body) const;
  void remove_abandoned_files();

  Engine engine_;
  Store& store_;
  WorkWatch mail_;
};

}  // namespace holdfast::sqlite
