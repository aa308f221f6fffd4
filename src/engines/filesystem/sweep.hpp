#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

/// What writers of blobs left in a folder when they died.
namespace holdfast::filesystem {

/// Calls `visit` with each folder from `begin` on (a path in `root`, or empty), and with the names
/// in it. Folders that are not part of any key, and links, are left out.
void for_each_folder(
    const std::string& root, const std::string& begin,
    const std::function<void(const std::string& inside, const std::vector<std::string>&)>& visit);

/// Removes files that were being written and have not changed for so long; returns how many.
int remove_unfinished_in(const std::string& root, std::chrono::seconds least_age);

/// Removes side files whose blob is not there, or has another one. To be called after
/// `remove_unfinished_in` with the same age: a writer that wakes up late finds that its file is
/// gone and cannot make a blob without a side file of it.
int remove_stray_sides(const std::string& root, std::chrono::seconds least_age);

}  // namespace holdfast::filesystem
