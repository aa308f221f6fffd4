#pragma once

#include <string>

namespace holdfast::sqlite {

/// False if the file is a sound database that was never a store, so that opening it would make it
/// one. Damaged or unreadable ones may be: opening says more.
bool may_be_store(const std::string& path);

}  // namespace holdfast::sqlite
