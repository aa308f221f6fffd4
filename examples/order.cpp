#include <iostream>

#include <holdfast/holdfast.hpp>
#include <holdfast/transactions.hpp>

enum class Order { placed, paid, packed, shipped, refused };
BOOST_DESCRIBE_ENUM(Order, placed, paid, packed, shipped, refused)

struct Cart {
  std::string customer;
  int cents = 0;
};
BOOST_DESCRIBE_STRUCT(Cart, (), (customer, cents))

int main() {
  using namespace std::chrono_literals;
  auto engine = holdfast::open("sqlite:orders.db");
  holdfast::Transactions<Order> orders{engine, "orders"};

  orders.on(Order::placed, [](holdfast::Transaction& order) -> holdfast::Next {
    auto cart = order.input<Cart>();
    if (cart.cents <= 0) return holdfast::fail("there is nothing to pay");
    // The bank knows the name again if it is asked twice, and the ledger knows the answer.
    auto receipt = order.once("charge", [&](const std::string& name) {
      std::cout << "charging " << cart.customer << " (" << name << ")\n";
      return "receipt for " + name;
    });
    order.keep(receipt);
    return holdfast::go(Order::paid);
  });
  // Waits without a thread; whoever is alive then goes on.
  orders.on(Order::paid, [](holdfast::Transaction& order) {
    auto since = std::chrono::system_clock::now() - order.entered_at();
    return since < 100ms ? holdfast::stay(100ms) : holdfast::go(Order::packed);
  });
  orders.on(Order::packed, [](holdfast::Transaction& order) {
    std::cout << order.id() << " leaves with the " << order.data<std::string>() << "\n";
    return holdfast::go(Order::shipped);
  });
  orders.completes(Order::shipped).fails(Order::refused).timeout(24h);

  orders.start("order-17", Cart{.customer = "Ada", .cents = 1'200});
  orders.start("order-18", Cart{.customer = "Nobody"});
  holdfast::run(orders, {.until_empty = true});
}
