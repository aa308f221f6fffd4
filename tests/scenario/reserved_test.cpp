// Everything that a program can hand over, and what is reserved for Holdfast itself in it. A new
// way in belongs into `ways_in`.

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <functional>

#include <holdfast/batches.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/http.hpp>
#include <holdfast/sqlite.hpp>
#include <holdfast/state_machine.hpp>

#include "support/temp_store.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// What a caller chooses; nothing of it is reserved at first.
struct Words {
  std::string kind = "keep";
  std::string queue = "work";
  std::string payload = "{}";
};

class Reserved : public testing::Test {
 protected:
  Reserved() { sqlite3_open(store_.database().c_str(), &db_); }
  ~Reserved() override { sqlite3_close(db_); }

  using WayIn = std::function<void(const Words&)>;
  std::map<std::string, WayIn> ways_of_tasks() {
    auto task = [](const Words& words) {
      return NewTask{words.kind, words.payload, {.queue = words.queue}};
    };
    return {
        {"enqueue", [=, this](const Words& words) { Tasks{engine_}.enqueue(task(words)); }},
        {"enqueue_all",
         [=, this](const Words& words) {
           Tasks{engine_}.enqueue_all({NewTask{"keep", "{}"}, task(words)});
         }},
        {"own transaction",
         [=, this](const Words& words) {
           sqlite3_exec(db_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
           try {
             sqlite::enqueue_all(engine_, db_, {task(words)});
           } catch (const std::exception&) {
             sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
             throw;
           }
           sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr);
         }},
        {"schedule",
         [=, this](const Words& words) {
           Schedules{engine_}.add({.name = "s", .cron = "0 0 1 1 *", .task = task(words)});
         }},
        {"follow-up",
         [=, this](const Words& words) {
           std::exception_ptr thrown;
           Tasks tasks{engine_};
           tasks.on_json("outer", [&](Attempt& attempt) -> Outcome {
             try {
               attempt.then_json(words.kind, words.payload, {.queue = words.queue});
             } catch (const InvalidRequest&) {
               thrown = std::current_exception();
             }
             return done;
           });
           tasks.enqueue(NewTask{"outer", "{}"});
           run(tasks, {.until_empty = true});
           if (thrown) std::rethrow_exception(thrown);
         }},
        {"asynchronous follow-up",
         [=, this](const Words& words) {
           std::exception_ptr thrown;
           Tasks tasks{engine_};
           tasks.on_async("outer", [&](const std::shared_ptr<OpenAttempt>& attempt) {
             try {
               attempt->then_json(words.kind, words.payload, {.queue = words.queue});
             } catch (const InvalidRequest&) {
               thrown = std::current_exception();
             }
             attempt->end(done);
           });
           tasks.enqueue(NewTask{"outer", "{}"});
           run(tasks, {.until_empty = true});
           if (thrown) std::rethrow_exception(thrown);
         }},
    };
  }
  /// Queues of batches and kinds of transactions are not the caller's to choose.
  std::map<std::string, WayIn> other_ways() {
    return {
        {"batch",
         [this](const Words& words) {
           NewBatch batch{.app = words.queue, .op = "op", .then = words.kind};
           batch.rows.push_back({1, words.payload});
           Batches{engine_}.submit(batch);
         }},
        {"appended rows",
         [this](const Words& words) {
           const auto id =
               Batches{engine_}
                   .submit({.app = words.queue, .op = "op", .wait = true, .then = words.kind})
                   .id;
           Batches{engine_}.append(id, {{1, words.payload}}, true);
         }},
        {"slow query",
         [this](const Words& words) {
           Batches{engine_}.submit_query(words.queue, words.kind, words.payload, "{}");
           if (words.kind.starts_with("holdfast"))
             throw InvalidRequest{"it is no kind, but reserved"};
         }},
        {"context of a batch",
         [this](const Words& words) {
           NewBatch batch{
               .app = words.queue, .op = "op", .context = words.payload, .then = words.kind};
           batch.rows.push_back({1, "{}"});
           Batches{engine_}.submit(batch);
         }},
        {"transaction",
         [this](const Words& words) {
           start_transaction(engine_, words.queue, "", words.payload, {});
           if (words.kind.starts_with("holdfast"))
             throw InvalidRequest{"it has no kind, but reserved"};
         }},
        {"queue of a request",
         [this](const Words& words) {
           http::Client client{engine_, {.task = {.queue = words.queue}}};
           http::Call call;
           call.callback = words.kind;
           client.get("http://127.0.0.1:1/", call);
           if (words.payload != "{}") throw InvalidRequest{"it has no payload, but reserved"};
         }},
        {"callback of a request",
         [this](const Words& words) {
           http::Call call;
           call.callback = words.kind;
           call.callback_queue = words.queue;
           http::Client{engine_}.get("http://127.0.0.1:1/", call);
           if (words.payload != "{}") throw InvalidRequest{"it has no payload, but reserved"};
         }},
    };
  }
  std::map<std::string, WayIn> ways_in() {
    auto all = ways_of_tasks();
    all.merge(other_ways());
    return all;
  }
  static std::string refusal(const WayIn& way, const Words& words) {
    try {
      way(words);
      return "";
    } catch (const InvalidRequest& error) {
      return error.what();
    }
  }

  TempStore store_;
  Engine engine_ = open(store_.address());
  sqlite3* db_ = nullptr;
};

TEST_F(Reserved, IsRefusedOnEveryWayIn) {
  for (const auto& [name, way] : ways_in()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(refusal(way, {}), "") << "nothing of it is reserved";
    for (const auto* own : {"holdfast.http", "holdfast.http.forget", "holdfast.tx", "holdfast.x",
                            "holdfast.", "holdfast-move-1"}) {
      EXPECT_THAT(refusal(way, {.kind = own}), HasSubstr("reserved")) << own;
      EXPECT_THAT(refusal(way, {.queue = own}), HasSubstr("reserved")) << own;
    }
    for (const auto* payload :
         {R"({"$blob":"x"})", R"({"$encrypted":{"key":"a","value":"b"}})", R"({"$secret":"x"})",
          R"( { "a" : 1 , "$blob" : "x" } )", R"({"\u0024blob":"x"})", R"({"$\u0062lob":"x"})",
          R"({"$blob":"x","$blob":"y"})"})
      EXPECT_THAT(refusal(way, {.payload = payload}), HasSubstr("reserved")) << payload;
    for (const auto* payload : {R"({"a":{"$blob":"x"}})", R"([{"$secret":1}])", R"("$blob")",
                                R"({"$blobs":"x","blob":1,"":2})", R"({"a":"\u0024blob"})"}) {
      const auto why = refusal(way, {.payload = payload});
      EXPECT_TRUE(why.empty() || why == "it has no payload, but reserved") << why << payload;
    }
    EXPECT_EQ(refusal(way, {.kind = "holdfast", .queue = "Holdfast.x"}).find("begin with"),
              std::string::npos)
        << "only what begins with it";
  }
}

/// Earlier versions took them, and they are to be done.
TEST_F(Reserved, WhatIsInTheStoreAlreadyRuns) {
  const auto id =
      enqueue_own(engine_, {{"holdfast.x", R"({"$blob":"x"})", {.queue = "holdfast.y"}}}).front();
  Tasks tasks{engine_};
  tasks.on_json("holdfast.x", [](Attempt& attempt) -> Outcome {
    return queue_of(attempt) == "holdfast.y" ? Outcome{done} : fail(queue_of(attempt));
  });
  run(tasks, {.until_empty = true});
  EXPECT_EQ(Inspector{engine_}.task(id)->state, TaskState::completed);
}

TEST_F(Reserved, NothingOfAPartlyRefusedListIsEnqueued) {
  EXPECT_THROW(Tasks{engine_}.enqueue_all({NewTask{"keep", "{}"}, NewTask{"holdfast.x", "{}"}}),
               InvalidRequest);
  EXPECT_EQ(Inspector{engine_}.count({}), 0);
}

}  // namespace
}  // namespace holdfast::test
