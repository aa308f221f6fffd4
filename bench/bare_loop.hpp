#pragma once

#include <chrono>
#include <string>
#include <vector>

/// Performs `count` GET requests with these lines as headers, `at_once` of them in flight, with
/// libcurl's multi interface and nothing else: what a program could reach that keeps nothing.
/// Returns how long it took.
std::chrono::duration<double> run_bare_loop(const std::string& url,
                                            const std::vector<std::string>& headers, int count,
                                            int at_once);
