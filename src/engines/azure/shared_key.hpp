#pragma once

#include <string>

#include "engines/objects/request.hpp"

namespace holdfast::azure {

/// What the signature of a request is made of, for the version of the protocol that we speak.
std::string text_to_sign(const objects::Request& request, const std::string& account);

/// The value of the header `authorization`.
std::string shared_key(const objects::Request& request, const std::string& account,
                       const std::string& key);

}  // namespace holdfast::azure
