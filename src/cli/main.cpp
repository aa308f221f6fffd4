#include "cli/program.hpp"

int main(int argc, char** argv) { return holdfast::cli::run_program(argc, argv); }
