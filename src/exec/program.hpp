#pragma once

#include <span>
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
/// PATH, and its arguments. Its environment is `program_environment(passed)` and what names the
/// attempt. Throws `ConfigError` if there is no such program.
Program program_for(const std::vector<std::string>& command, bool not_a_line,
                    const Attempt& attempt, std::span<const std::string> passed);

/// Throws `ConfigError` if nothing can be run by that name. Of a line for the shell only the first
/// word is looked at, and that only if it is a plain one.
void expect_program(const std::vector<std::string>& command, bool not_a_line);

/// Whether a line for the shell ended with `exit_code` because a command that it names is not there
/// or cannot be run: `exec`, assignments and what was run before it do not hide that.
bool shell_lacks(const std::vector<std::string>& command, bool not_a_line, int exit_code);

}  // namespace holdfast
