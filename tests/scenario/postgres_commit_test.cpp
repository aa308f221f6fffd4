#include <gmock/gmock.h>
#include <libpq-fe.h>

#include <csignal>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Commits wait while somebody holds this lock.
constexpr const char* gate = R"(
  CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END';
  CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON commit_test.tasks
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_gate();
)";

/// A server of its own, because it is made to crash. It writes nothing down before a commit does.
class PostgresCommit : public testing::Test {
 protected:
  PostgresCommit() {
    open(address_);
    server_.ask(gate);
    log_writer_ = pid_of("backend_type = 'walwriter'");
    ::kill(log_writer_, SIGSTOP);
    PQclear(PQexec(db_.get(), "SELECT pg_advisory_lock(42)"));
  }

  pid_t pid_of(const std::string& which) const {
    auto pid = server_.ask("SELECT pid FROM pg_stat_activity WHERE " + which);
    return pid.empty() ? 0 : static_cast<pid_t>(std::stol(pid));
  }

  /// One process of the server dies, so it begins anew with what was written down.
  void crash(pid_t victim) const {
    ::kill(victim, SIGKILL);
    ::kill(log_writer_, SIGKILL);
    EXPECT_TRUE(eventually([&] { return answers(); }, 60s));
  }
  bool answers() const {
    try {
      return pid_of("backend_type = 'walwriter' AND pid <> " + std::to_string(log_writer_)) != 0;
    } catch (const std::exception&) {
      return false;
    }
  }

  /// Until others have committed under the number of that transaction.
  void use_up(std::int64_t transaction) const {
    while (std::stoll(server_.ask("SELECT pg_current_xact_id()")) <= transaction) {
    }
    ASSERT_EQ(server_.ask(fmt::format("SELECT pg_xact_status('{}')", transaction)), "committed");
  }

  TempStore folder_;
  PostgresServer server_;
  std::string address_ = server_.address("schema=commit_test");
  std::unique_ptr<PGconn, void (*)(PGconn*)> db_{PQconnectdb(server_.connection().c_str()),
                                                 PQfinish};
  pid_t log_writer_ = 0;
};

TEST_F(PostgresCommit, IsNotTakenForThatOfAnotherAfterACrash) {
  Process client{{CRASH_DRIVER, "enqueue", "store=" + address_,
                  "journals=" + folder_.folder().string(), "count=1", "print=1"}};
  const std::string waiting = "wait_event = 'advisory'";
  ASSERT_TRUE(eventually([&] { return pid_of(waiting) != 0; }, 60s)) << client.err();
  auto transaction =
      std::stoll(server_.ask("SELECT backend_xid FROM pg_stat_activity WHERE " + waiting));
  client.stop();
  crash(pid_of(waiting));
  use_up(transaction);
  client.signal(SIGCONT);
  auto ending = client.wait();
  ASSERT_TRUE(ending);
  EXPECT_FALSE(ending->ok()) << "it was told that its task is there: " << client.out();
  EXPECT_THAT(client.err(), HasSubstr("cannot be asked whether it did"));
  EXPECT_EQ(server_.ask("SELECT count(*) FROM commit_test.tasks"), "0");
}

}  // namespace
}  // namespace holdfast::test
