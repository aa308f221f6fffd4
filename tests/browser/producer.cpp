// Publishes what it reads: lines with the name of a queue, a tab and the text of a message, where
// \n stands for a line feed. So that the tests of the dashboard have series with gaps.

#include <iostream>
#include <string>

#include <holdfast/broker.hpp>

int main(int, char** argv) {
  const auto broker = holdfast::open_broker(argv[1]);
  for (std::string line; std::getline(std::cin, line);) {
    const auto tab = line.find('\t');
    std::string body = line.substr(tab + 1);
    for (std::size_t at = 0; (at = body.find("\\n", at)) != std::string::npos;)
      body.replace(at, 2, "\n");
    broker->publish({.queue = line.substr(0, tab), .body = std::move(body)});
  }
}
