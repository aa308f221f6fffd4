#pragma once

namespace holdfast::cli {

/// Overwrites passwords in addresses (`redis://ada:PASSWORD@host`, `password=PASSWORD`) with stars,
/// in place. For arguments of `main`: everyone on the machine can read those of a running process,
/// and so can the programs that it runs.
void hide_passwords(char* argument);

}  // namespace holdfast::cli
