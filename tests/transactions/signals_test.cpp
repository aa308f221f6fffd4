#include "transactions/runner_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Signals : public RunnerScenario {
 protected:
  Signals() {
    auto note = [](Transaction& order, const Signal& signal) {
      auto heard = order.data_json() == "null" ? std::vector<std::string>{}
                                               : order.data<std::vector<std::string>>();
      heard.push_back(signal.name + " " + signal.json);
      order.keep(heard);
    };
    orders_.on(Order::placed, [](Transaction&) { return listen(); })
        .on_signal(Order::placed, "item",
                   [note](Transaction& order, const Signal& signal) {
                     note(order, signal);
                     return signal.value<int>() < 3 ? listen() : go(Order::paid);
                   })
        .on(Order::paid, [](Transaction&) { return listen(); })
        .on_signal(Order::paid, "ship",
                   [note](Transaction& order, const Signal& signal) {
                     note(order, signal);
                     return go(Order::shipped);
                   })
        .completes(Order::shipped);
  }
  void signal(const std::string& name, const std::string& json) {
    signal_transaction(engine_, *broker_, "a", name, json);
  }
  TransactionOptions options() const { return {.threads = 2, .broker = broker_}; }

  std::shared_ptr<Broker> broker_ = open_broker(engine_);
};

TEST_F(Signals, ComeInOrderAndWaitForTheStateThatTakesThem) {
  orders_.start("a", 0);
  {
    const Running running{engine_, orders_.machine(), options()};
    ASSERT_TRUE(gets_to("a", "placed"));
  }
  signal("ship", "\"now\"");
  for (const auto* item : {"1", "2", "3", "4"}) signal("item", item);
  const Running running{engine_, orders_.machine(), options()};
  ASSERT_TRUE(becomes("a", TaskState::completed));
  EXPECT_THAT(from_payload<std::vector<std::string>>(inspector_.find("a")->data),
              ElementsAre("item 1", "item 2", "item 3", "ship \"now\""));
  EXPECT_FALSE(broker_->exists(signal_queue("a", "item"))) << "what is left came too late";
  EXPECT_LE(broker_->messages(dead_letter_queue).value_or(0), 0);
}

TEST_F(Signals, ThatNoStateTakesAreRefused) {
  auto refusal = [&](const std::string& name, const std::string& json) -> std::string {
    try {
      signal(name, json);
      return "none";
    } catch (const InvalidRequest& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal("item", "1"), HasSubstr("there is no transaction 'a'"));
  orders_.start("a", 0);
  EXPECT_THAT(refusal("item", "1"), HasSubstr("has not begun"));
  const Running running{engine_, orders_.machine(), options()};
  ASSERT_TRUE(gets_to("a", "placed"));
  EXPECT_THAT(refusal("itme", "1"), HasSubstr("takes no signal 'itme'"));
  EXPECT_THAT(refusal("it em", "1"), HasSubstr("the name of a signal"));
  EXPECT_THAT(refusal("item", "{"), HasSubstr("is not JSON"));
  signal("item", "3");
  signal("ship", "null");
  ASSERT_TRUE(becomes("a", TaskState::completed));
  EXPECT_THAT(refusal("item", "1"), HasSubstr("takes no signals"));
}

}  // namespace
}  // namespace holdfast::test
