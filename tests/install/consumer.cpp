// What a stranger's program does: enqueue, run, look at the result. Built against the installed
// package, against pkg-config and as a parent project.
#include <holdfast/holdfast.hpp>

#include <iostream>

struct Sum {
  int left = 0;
  int right = 0;
};
BOOST_DESCRIBE_STRUCT(Sum, (), (left, right))

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: consumer FILE\n";
    return 2;
  }
  auto engine = holdfast::open(std::string{"sqlite:"} + argv[1]);
  holdfast::Tasks tasks{engine};
  tasks.on<Sum>("sum", [](const Sum& sum, holdfast::Attempt&) {
    return holdfast::done_with(sum.left + sum.right);
  });
  auto id = tasks.enqueue("sum", Sum{.left = 40, .right = 2});
  holdfast::run(tasks, {.until_empty = true});

  auto record = holdfast::Inspector{engine}.task(id);
  if (!record) return 1;
  std::cout << "state=" << to_string(record->state) << " result=" << record->result << '\n';
}
