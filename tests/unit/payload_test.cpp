#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <variant>

#include <holdfast/ids.hpp>
#include <holdfast/payload.hpp>

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::Pair;

enum class Size { small, large };
BOOST_DESCRIBE_ENUM(Size, small, large)

enum class Plain { first, second };

struct Item {
  std::string name;
  int count = 1;
};
BOOST_DESCRIBE_STRUCT(Item, (), (name, count))

struct Base {
  std::string tenant = "none";
};
BOOST_DESCRIBE_STRUCT(Base, (), (tenant))

struct Order : Base {
  TaskId task{};
  std::vector<Item> items{};
  std::map<std::string, Item> by_name{};
  std::map<Size, int> by_size{};
  std::map<int, std::string> by_number{};
  std::unordered_map<TaskId, int> by_task{};
  std::optional<Item> gift{};
  std::chrono::milliseconds wait{5};
  std::chrono::duration<double> exact{0.5};
  Size size = Size::small;
  Plain plain = Plain::first;
  std::set<int> numbers{};
  std::list<bool> answers{};
  std::array<int, 2> place{};
  std::pair<std::string, double> price{};
  boost::json::value anything{};
};
BOOST_DESCRIBE_STRUCT(Order, (Base),
                      (task, items, by_name, by_size, by_number, by_task, gift, wait, exact, size,
                       plain, numbers, answers, place, price, anything))

std::string why_not(const auto& read) {
  try {
    read();
  } catch (const UnfitPayload& error) {
    return error.what();
  }
  return "it fits";
}

template <class T>
std::string unfit(std::string_view json) {
  return why_not([&] { from_payload<T>(json); });
}

TEST(Payload, EveryTypeComesBackAsItWas) {
  Order order;
  order.tenant = "acme";
  order.task = TaskId::make();
  order.items = {{"nut", 3}, {"bolt", 4}};
  order.by_name = {{"a", {"x", 1}}};
  order.by_size = {{Size::large, 2}};
  order.by_number = {{7, "seven"}};
  order.by_task = {{order.task, 9}};
  order.gift = Item{"bow", 1};
  order.wait = std::chrono::milliseconds{1'500};
  order.exact = std::chrono::duration<double>{0.25};
  order.size = Size::large;
  order.plain = Plain::second;
  order.numbers = {3, 1, 2};
  order.answers = {true, false};
  order.place = {4, 5};
  order.price = {"EUR", 9.5};
  order.anything = {1, "two", nullptr};
  const auto text = to_payload(order);
  EXPECT_EQ(to_payload(from_payload<Order>(text)), text);
  const auto read = from_payload<Order>(text);
  EXPECT_EQ(read.tenant, "acme");
  EXPECT_EQ(read.task, order.task);
  EXPECT_EQ(read.items[1].count, 4);
  EXPECT_THAT(read.by_size, ElementsAre(Pair(Size::large, 2)));
  EXPECT_THAT(read.by_number, ElementsAre(Pair(7, "seven")));
  EXPECT_EQ(read.by_task.at(order.task), 9);
  EXPECT_EQ(read.gift->name, "bow");
  EXPECT_EQ(read.wait, std::chrono::milliseconds{1'500});
  EXPECT_EQ(read.plain, Plain::second);
  EXPECT_THAT(read.answers, ElementsAre(true, false));
}

TEST(Payload, WhatIsEmptyComesBackEmpty) {
  Order order;
  order.task = TaskId::make();
  const auto text = to_payload(order);
  const auto read = from_payload<Order>(text);
  EXPECT_FALSE(read.gift);
  EXPECT_TRUE(read.items.empty());
  EXPECT_TRUE(read.by_name.empty());
  EXPECT_TRUE(read.anything.is_null());
  EXPECT_EQ(to_payload(read), text);
  EXPECT_EQ(to_payload(std::optional<int>{}), "null");
  EXPECT_EQ(to_payload(std::vector<std::optional<int>>{{}, 2}), "[null,2]");
  EXPECT_EQ(to_payload(std::vector<std::vector<int>>{{}, {1}}), "[[],[1]]");
  EXPECT_EQ(to_payload(std::map<int, std::optional<int>>{{1, {}}}), "[[1,null]]");
}

TEST(Payload, AbsentMembersKeepTheirDefaultsAndUnknownOnesAreIgnored) {
  const auto order = from_payload<Order>(R"({"items":[{"name":"nut"}],"colour":"red"})");
  EXPECT_EQ(order.items.at(0).count, 1);
  EXPECT_EQ(order.wait, std::chrono::milliseconds{5});
  EXPECT_EQ(order.tenant, "none");
  EXPECT_FALSE(order.gift);
  EXPECT_FALSE(from_payload<Order>(R"({"gift":null})").gift);
}

TEST(Payload, AnErrorNamesThePath) {
  EXPECT_EQ(unfit<Order>(R"({"items":[{"count":1},{"count":"many"}]})"),
            "payload does not fit its type: items[1].count: expected a number, found a string");
  EXPECT_EQ(unfit<Order>("[]"),
            "payload does not fit its type: expected an object, found an array");
  EXPECT_EQ(unfit<Order>(R"({"by_name":{"a":{"name":1}}})"),
            "payload does not fit its type: by_name.a.name: expected a string, found a number");
  EXPECT_EQ(unfit<Order>(R"({"size":"huge"})"),
            "payload does not fit its type: size: 'huge' is not one of small, large");
  EXPECT_EQ(unfit<Order>(R"({"task":"17"})"),
            "payload does not fit its type: task: '17' is not an id");
  EXPECT_EQ(unfit<Order>(R"({"place":[1,2,3]})"),
            "payload does not fit its type: place: expected 2 elements, found 3");
  EXPECT_EQ(unfit<Order>(R"({"gift":{"count":null}})"),
            "payload does not fit its type: gift.count: expected a number, found null");
  EXPECT_EQ(why_not([] { from_payload<int>("true", "context"); }),
            "context does not fit its type: expected a number, found true or false");
}

TEST(Payload, NumbersThatDoNotFitAreNotCutOff) {
  EXPECT_EQ(unfit<std::int8_t>("300"),
            "payload does not fit its type: expected a whole number from -128 to 127");
  EXPECT_EQ(unfit<int>("1.5"),
            "payload does not fit its type: expected a whole number from -2147483648 to "
            "2147483647");
  EXPECT_EQ(from_payload<int>("2.0"), 2);
  EXPECT_EQ(from_payload<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(unfit<unsigned>("-1"),
            "payload does not fit its type: expected a whole number from 0 to 4294967295");
}

TEST(Payload, WhatOnlyBoostKnowsIsLeftToIt) {
  using Either = std::variant<int, std::string>;
  EXPECT_EQ(to_payload(Either{"x"}), R"("x")");
  EXPECT_EQ(std::get<int>(from_payload<Either>("3")), 3);
}

}  // namespace
}  // namespace holdfast
