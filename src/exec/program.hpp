#pragma once

#include <string>
#include <vector>

#include <holdfast/attempt.hpp>

namespace holdfast {

/// Everything `execve` needs, made before the fork, because nothing may be allocated after it.
struct Program {
  std::string path;
  std::vector<std::string> arguments;    ///< the name of the program first
  std::vector<std::string> environment;  ///< NAME=value
};

/// One word is a line for the shell unless it is `not_a_line`; several are a program, looked up in
/// PATH, and its arguments. Throws `NotRunnable` if there is no such program.
Program program_for(const std::vector<std::string>& command, bool not_a_line,
                    const Attempt& attempt);

/// No attempt at this task can succeed here: the program is not there or cannot be run.
class NotRunnable : public Error {
  using Error::Error;
};

}  // namespace holdfast
