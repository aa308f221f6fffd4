// An order that is charged gets a receipt. The receipt is a task of its own: it comes into being in
// the same step that completes the order, so there is never one without the other.

#include <holdfast/holdfast.hpp>
#include <iostream>

struct Order {
  int number = 0;
  double total = 0;
};
BOOST_DESCRIBE_STRUCT(Order, (), (number, total))

struct Receipt {
  int order = 0;
  std::string charge;
};
BOOST_DESCRIBE_STRUCT(Receipt, (), (order, charge))

std::string charge_card(const Order& order, const std::string& idempotency_key) {
  std::cout << "charging " << order.total << " for order " << order.number << std::endl;
  return "charge-" + idempotency_key;
}

holdfast::Outcome on_order(const Order& order, holdfast::Attempt& attempt) {
  if (order.total <= 0) return holdfast::fail("an order costs something");
  auto charge = charge_card(order, attempt.idempotency_key());
  attempt.then("receipt", Receipt{.order = order.number, .charge = charge});
  return holdfast::done_with(charge);
}

holdfast::Outcome on_receipt(const Receipt& receipt, holdfast::Attempt&) {
  std::cout << "receipt for order " << receipt.order << ": " << receipt.charge << std::endl;
  return holdfast::done;
}

int main() {
  auto engine = holdfast::open("sqlite:orders.db");
  holdfast::Tasks tasks{engine};
  tasks.on<Order>("order", on_order);
  tasks.on<Receipt>("receipt", on_receipt);

  tasks.enqueue("order", Order{.number = 1, .total = 12.5});
  tasks.enqueue("order", Order{.number = 2, .total = 0}, {.tags = {"suspicious"}});

  auto summary = holdfast::run(tasks, {.until_empty = true});
  std::cout << summary.completed << " completed, " << summary.failed_attempts << " failed\n";
}
