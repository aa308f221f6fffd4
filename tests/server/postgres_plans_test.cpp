#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include <holdfast/batches.hpp>
#include <holdfast/holdfast.hpp>

#include "support/postgres_server.hpp"
#include "support/questions.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A server that writes down the plan of every statement, and reads a table from the beginning to
/// the end only where nothing else is left. So what is seen does not depend on how many rows there
/// are.
class Plans : public testing::Test {
 protected:
  std::string heard() const {
    std::ifstream file{server_.folder() + "/server.log"};
    return std::string{std::istreambuf_iterator<char>{file}, {}}.substr(forgotten_);
  }
  void forget() { forgotten_ += heard().size(); }

  PostgresServer server_{{.settings = "session_preload_libraries = 'auto_explain'\n"
                                      "auto_explain.log_min_duration = 0\n"
                                      "log_min_messages = log\n"
                                      "enable_seqscan = off\n"}};
  std::size_t forgotten_ = 0;
};

TEST_F(Plans, OfListsAndCountsReadNoTableOfTasksFromTheBeginningToTheEnd) {
  const auto engine = open(server_.new_store());
  fill_with_tasks(engine);
  forget();
  ask_every_question(engine);
  const auto all = heard();
  EXPECT_THAT(all, HasSubstr("Query Text: SELECT t.id"));
  EXPECT_THAT(all, HasSubstr("Index Only Scan using tasks_finished"));
  EXPECT_THAT(all, HasSubstr("Index Only Scan using tasks_ready"));
  EXPECT_THAT(all, Not(HasSubstr("Seq Scan on tasks")));
  forget();
  Inspector{engine}.count({.tag = "tag"});
  EXPECT_THAT(heard(), HasSubstr("Seq Scan on tasks")) << "this is how one would be seen";
}

TEST_F(Plans, OfAppendedRowsReadThoseOfTheBatchOnce) {
  Batches batches{open(server_.new_store())};
  const auto id = batches.submit({.app = "shop", .op = "price", .wait = true}).id;
  batches.append(id, {{1, "{}"}, {2, "{}"}});
  forget();
  batches.append(id, {{3, "{}"}, {4, "{}"}});
  const auto all = heard();
  EXPECT_THAT(all, HasSubstr("INTERSECT"));
  EXPECT_THAT(all, HasSubstr("SetOp Intersect"));
  EXPECT_THAT(all, Not(HasSubstr("Nested Loop")));
}

}  // namespace
}  // namespace holdfast::test
