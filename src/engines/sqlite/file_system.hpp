#pragma once

#include <string>

namespace holdfast::sqlite {

/// The name of the file system of `path` if it is one that several machines may write to: locks and
/// shared memory, which a store depends on, do not work there. Empty: it is suitable.
std::string unsuitable_file_system(const std::string& path);

}  // namespace holdfast::sqlite
