#pragma once

#include <span>
#include <string>
#include <vector>

namespace holdfast {

/// The environment for a program that this process starts, as NAME=value: this process's own
/// without the variables that Holdfast takes addresses, passwords and keys from. The program works
/// on payloads of others, and needs none of these to do so. Variables named in `passed` are kept.
/// Must not run while another thread changes the environment.
std::vector<std::string> program_environment(std::span<const std::string> passed = {});

/// Throws `ConfigError` for a name that no variable can have, or that is not set: a program that
/// expects it would fail with every task.
void expect_passable(std::span<const std::string> names);

}  // namespace holdfast
