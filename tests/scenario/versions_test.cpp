#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>

#include <holdfast/holdfast.hpp>
#include <holdfast/transactions.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

namespace v1 {
struct Mail {
  std::string to;
};
BOOST_DESCRIBE_STRUCT(Mail, (), (to))
}  // namespace v1

namespace v2 {
struct Mail {
  std::string to;
  std::vector<std::string> copies{};
  std::optional<std::string> reply_to{};
};
BOOST_DESCRIBE_STRUCT(Mail, (), (to, copies, reply_to))
}  // namespace v2

/// The member is another type: what is in flight cannot be read.
namespace broken {
struct Mail {
  std::vector<std::string> to;
};
BOOST_DESCRIBE_STRUCT(Mail, (), (to))
}  // namespace broken

class Versions : public testing::Test {
 protected:
  template <class Mail>
  WorkerSummary work(std::atomic<int>& sent) {
    Tasks tasks{engine_};
    tasks.on<Mail>("mail", [&](const Mail& mail, Attempt&) {
      EXPECT_FALSE(mail.to.empty());
      ++sent;
      return done;
    });
    return Worker{tasks, {.until_empty = true}}.run();
  }

  TempStore store_;
  Engine engine_ = open(store_.address());
  Tasks producer_{engine_};
  Inspector inspector_{engine_};
  std::atomic<int> sent_ = 0;
};

TEST_F(Versions, AWorkerReadsWhatAProducerOfItsOwnVersionLeftEmpty) {
  const auto id = producer_.enqueue("mail", v2::Mail{.to = "ada@example.org"});
  work<v2::Mail>(sent_);
  EXPECT_EQ(inspector_.task(id)->state, TaskState::completed) << inspector_.task(id)->cause;
}

TEST_F(Versions, ANewWorkerReadsWhatAnOldProducerEnqueued) {
  const auto id = producer_.enqueue("mail", v1::Mail{"ada@example.org"});
  work<v2::Mail>(sent_);
  EXPECT_EQ(inspector_.task(id)->state, TaskState::completed) << inspector_.task(id)->error;
}

TEST_F(Versions, AnOldWorkerReadsWhatANewProducerEnqueued) {
  const auto id = producer_.enqueue("mail", v2::Mail{"ada@example.org", {"bob@example.org"}, {}});
  work<v1::Mail>(sent_);
  EXPECT_EQ(inspector_.task(id)->state, TaskState::completed) << inspector_.task(id)->error;
}

TEST_F(Versions, WhatDoesNotFitIsHeldUntilAVersionThatReadsItIsDeployed) {
  const auto id = producer_.enqueue("mail", v1::Mail{"ada@example.org"}, {.max_attempts = 1});
  work<broken::Mail>(sent_);
  const auto held = inspector_.task(id);
  EXPECT_EQ(held->state, TaskState::held);
  EXPECT_THAT(held->cause, HasSubstr("to: expected an array, found a string"));
  EXPECT_EQ(inspector_.retry({.ids = {id}}), 1);
  work<v2::Mail>(sent_);
  EXPECT_EQ(inspector_.task(id)->state, TaskState::completed);
  EXPECT_EQ(sent_, 1);
}

TEST_F(Versions, AnAsynchronousHandlerMayThrowAnything) {
  Tasks tasks{engine_};
  tasks.on_async("odd", [](const std::shared_ptr<OpenAttempt>&) { throw 17; });
  tasks.on_async("unfit", [](const std::shared_ptr<OpenAttempt>& attempt) {
    attempt->end(done_with(from_payload<broken::Mail>(attempt->payload())));
  });
  const auto odd = tasks.enqueue("odd", 1, {.max_attempts = 1});
  const auto unfit = tasks.enqueue("unfit", v1::Mail{"x"}, {.max_attempts = 1});
  Worker{tasks, {.until_empty = true}}.run();
  EXPECT_EQ(inspector_.task(odd)->state, TaskState::failed);
  EXPECT_THAT(inspector_.task(odd)->error, HasSubstr("not a std::exception"));
  EXPECT_EQ(inspector_.task(unfit)->state, TaskState::held);
}

enum class Step { begins, ends };
BOOST_DESCRIBE_ENUM(Step, begins, ends)

template <class Mail>
void run_transactions(const Engine& engine) {
  Transactions<Step> mails{engine, "mails"};
  mails
      .on(Step::begins,
          [](Transaction& transaction) {
            EXPECT_FALSE(transaction.input<Mail>().to.empty());
            return go(Step::ends);
          })
      .completes(Step::ends);
  TransactionRunner{engine, mails.machine(), {.until_empty = true}}.run();
}

TEST_F(Versions, ATransactionWhoseInputDoesNotFitIsHeldToo) {
  TransactionInspector transactions{engine_};
  Transactions<Step>{engine_, "mails"}.start("m-1", v1::Mail{"ada@example.org"});
  run_transactions<broken::Mail>(engine_);
  const auto held = transactions.find("m-1");
  EXPECT_EQ(held->task.state, TaskState::held);
  EXPECT_THAT(held->task.cause, HasSubstr("input of the transaction does not fit its type: to: "));
  EXPECT_EQ(inspector_.retry({.ids = {held->task.id}}), 1);
  run_transactions<v2::Mail>(engine_);
  EXPECT_EQ(transactions.find("m-1")->task.state, TaskState::completed);
}

/// What it recorded was written by another version, too.
template <class Mail>
void run_drafts(const Engine& engine, const std::function<Mail(Transaction&)>& read) {
  Transactions<Step> drafts{engine, "drafts"};
  drafts
      .on(Step::begins,
          [&](Transaction& transaction) -> Next {
            if (read(transaction).to.empty()) return holdfast::fail("it was not recorded");
            return go(Step::ends);
          })
      .completes(Step::ends);
  TransactionRunner{engine, drafts.machine(), {.until_empty = true}}.run();
}

template <class Mail>
Mail recorded_once(Transaction& transaction) {
  return once<Mail>(transaction, "draft", [](const std::string&) { return Mail{}; });
}

TEST_F(Versions, ATransactionWhoseLedgerDoesNotFitIsHeldToo) {
  TransactionInspector transactions{engine_};
  const auto read_by_hand = [](Transaction& transaction) {
    return from_payload<broken::Mail>(transaction.recorded("draft", 0).value());
  };
  const std::function<broken::Mail(Transaction&)> readers[] = {recorded_once<broken::Mail>,
                                                               read_by_hand};
  for (const auto& read : readers) {
    const auto id = Transactions<Step>{engine_, "drafts"}.start("", 1);
    run_drafts<v1::Mail>(engine_, [](Transaction& transaction) -> v1::Mail {
      once<v1::Mail>(transaction, "draft", [](auto&) { return v1::Mail{"ada@example.org"}; });
      throw UnfitTransaction{"stopped by an operator"};
    });
    EXPECT_EQ(inspector_.retry({.ids = {transaction_task(id)}}), 1);
    run_drafts<broken::Mail>(engine_, read);
    const auto held = transactions.find(id);
    EXPECT_EQ(held->task.state, TaskState::held);
    EXPECT_THAT(held->task.cause, HasSubstr("to: expected an array, found a string"));
    EXPECT_EQ(inspector_.retry({.ids = {held->task.id}}), 1);
    run_drafts<v2::Mail>(engine_, recorded_once<v2::Mail>);
    EXPECT_EQ(transactions.find(id)->task.state, TaskState::completed);
  }
}

}  // namespace
}  // namespace holdfast::test
