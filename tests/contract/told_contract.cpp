#include <gmock/gmock.h>

#include <fmt/format.h>

#include "contract/task_store_contract.hpp"

namespace holdfast::test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace {

/// What an exchange tells beyond what was asked of it, one line each.
std::vector<std::string> lines(const Exchanged& exchanged) {
  std::vector<std::string> told;
  for (const auto& [id, kind, step, name] : exchanged.also)
    told.push_back(fmt::format("{} {}: {} -> {} by {}", id.text(), kind,
                               step.from ? to_string(*step.from) : "new", to_string(step.to),
                               step.actor));
  return told;
}

std::string line(TaskId id, std::string_view what) { return fmt::format("{} {}", id.text(), what); }

}  // namespace

TEST_P(TaskStoreContract, TellsOfFollowUpsThatWereCreated) {
  insert("a");
  auto known = insert("b", {}, R"({"n":1})");
  NewTask first{"b", "{}", {.id = TaskId::make()}};
  NewTask waits{"c", "{}", {.after = {*first.options.id}, .id = TaskId::make()}};
  NewTask there{"b", R"({"n":1})", {.id = known}};
  auto claimed = claim_one(enlist());
  Settlement end{.lease = claimed.lease, .attempt = 1, .follow_ups = {first, waits, there}};
  auto exchanged = tasks().exchange(Exchange{.settle = {end}});
  EXPECT_THAT(lines(exchanged),
              UnorderedElementsAre(line(*first.options.id, "b: new -> pending by client"),
                                   line(*waits.options.id, "c: new -> blocked by client")));
  for (const auto& change : exchanged.also) EXPECT_EQ(change.transition.at, clock().wall());

  auto again = tasks().exchange(Exchange{.settle = {end}});
  EXPECT_THAT(again.settled, ElementsAre(Settled::repeated));
  EXPECT_THAT(lines(again), IsEmpty()) << "they were told of before";
}

TEST_P(TaskStoreContract, TellsOfFollowUpsOfEverySettlementInAnExchange) {
  for (int i = 0; i < 3; ++i) insert("a");
  auto claimed = claim(enlist(), 3);
  Exchange exchange;
  std::vector<std::string> expected;
  for (const auto& one : claimed) {
    NewTask next{"b", "{}", {.id = TaskId::make()}};
    expected.push_back(line(*next.options.id, "b: new -> pending by client"));
    exchange.settle.push_back({.lease = one.lease,
                               .attempt = 1,
                               .follow_ups = {next},
                               .have_new_ids = true,
                               .kind = "a"});
  }
  EXPECT_THAT(lines(tasks().exchange(exchange)), testing::UnorderedElementsAreArray(expected));
}

TEST_P(TaskStoreContract, TellsWhoHasNothingToWaitForAnyMore) {
  auto first = insert("a");
  auto second = insert("a");
  auto both = insert("b", {.after = {first, second}});
  auto one = insert("b", {.after = {first}});
  auto claimed = claim(enlist(), 2);
  auto end = [&](std::size_t i) {
    return tasks().exchange(Exchange{.settle = {{.lease = claimed.at(i).lease, .attempt = 1}}});
  };
  const auto ready = "b: blocked -> pending by system/dependency";
  auto exchanged = end(0);
  EXPECT_THAT(lines(exchanged), ElementsAre(line(one, ready)));
  EXPECT_EQ(exchanged.also.at(0).transition.reason, "Everything it waited for has completed.");
  EXPECT_THAT(lines(end(1)), ElementsAre(line(both, ready)));
}

TEST_P(TaskStoreContract, TellsWhoIsCancelledWithWhatItWaitedFor) {
  auto first = insert("a");
  auto second = insert("b", {.after = {first}});
  auto third = insert("c", {.after = {second}});
  auto claimed = claim_one(enlist());
  auto exchanged = tasks().exchange(
      Exchange{.settle = {{.lease = claimed.lease, .to = TaskState::cancelled, .attempt = 1}}});
  EXPECT_THAT(lines(exchanged),
              UnorderedElementsAre(line(second, "b: blocked -> cancelled by system/dependency"),
                                   line(third, "c: blocked -> cancelled by system/dependency")));
  for (const auto& change : exchanged.also)
    EXPECT_THAT(change.transition.reason, testing::HasSubstr("which was cancelled"));
}

TEST_P(TaskStoreContract, TellsOfAnEndThatBecameACancel) {
  for (auto asked : {TaskState::pending, TaskState::held}) {
    auto id = insert("a");
    auto worker = enlist();
    auto claimed = claim_one(worker);
    ask_to_stop(id);
    auto exchanged = tasks().exchange(Exchange{
        .settle = {
            {.lease = claimed.lease, .to = asked, .reason = "busy", .attempt = 1, .kind = "a"}}});
    EXPECT_THAT(exchanged.settled, ElementsAre(Settled::accepted));
    EXPECT_THAT(lines(exchanged),
                ElementsAre(line(id, "a: running -> cancelled by worker/" + worker.text())));
    EXPECT_EQ(exchanged.also.at(0).transition.token, claimed.lease.token);
    EXPECT_EQ(exchanged.also.at(0).transition.reason, "busy");
    EXPECT_EQ(state(id), TaskState::cancelled);
  }
}

TEST_P(TaskStoreContract, TellsNothingOfAPlainEndOrOneThatWasRefused) {
  auto first = insert("a");
  auto waits = insert("b", {.after = {first}});
  auto claimed = claim_one(enlist());
  auto stale = claimed.lease;
  stale.token.value -= 1;
  NewTask next{"b", "{}", {.id = TaskId::make()}};
  auto refused =
      tasks().exchange(Exchange{.settle = {{.lease = stale, .attempt = 1, .follow_ups = {next}}}});
  EXPECT_THAT(refused.settled, ElementsAre(Settled::refused));
  EXPECT_THAT(lines(refused), IsEmpty());
  EXPECT_EQ(state(waits), TaskState::blocked);
  insert("c");
  auto plain = claim_one(enlist());
  auto ended = tasks().exchange(Exchange{.settle = {{.lease = plain.lease, .attempt = 1}}});
  EXPECT_THAT(lines(ended), IsEmpty());
}

}  // namespace holdfast::test
