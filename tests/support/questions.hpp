#pragma once

#include <holdfast/inspector.hpp>

namespace holdfast::test {

/// With tasks in several states, so that every way to look for them is taken.
void fill_with_tasks(const Engine& engine);

/// Everything that lists, counts and searches, with every filter, as the server asks it.
void ask_every_question(const Engine& engine);

}  // namespace holdfast::test
