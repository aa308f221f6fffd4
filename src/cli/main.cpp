#include <string>
#include <vector>

#include "cli/hide_passwords.hpp"
#include "cli/program.hpp"
#include "exec/memory_guard.hpp"

int main(int argc, char** argv) {
  holdfast::guard_memory();
  std::vector<std::string> words{argv, argv + argc};
  std::vector<char*> copies;
  for (auto& word : words) copies.push_back(word.data());
  copies.push_back(nullptr);
  for (int i = 1; i < argc; ++i) holdfast::cli::hide_passwords(argv[i]);
  return holdfast::cli::run_program(argc, copies.data());
}
