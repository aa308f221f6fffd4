#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// Whether what is written to this connected socket leaves the machine. False for Unix sockets, the
/// loopback, an address of the machine itself, and what is not a socket.
bool leaves_machine(int socket);

/// What to tell people about a connection to `server` that leaves the machine without encryption;
/// `remedy` says how to encrypt it.
std::string clear_text_warning(std::string_view server, std::string_view remedy);

}  // namespace holdfast
