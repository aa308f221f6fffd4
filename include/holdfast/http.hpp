#pragma once

/// Outbound HTTP requests as durable work: a `Client` hands them over, a `Processor` performs them,
/// and callbacks, which are tasks, get the answers. examples/profile.cpp is a whole program.

#include <holdfast/http/callbacks.hpp>
#include <holdfast/http/client.hpp>
#include <holdfast/http/processor.hpp>
#include <holdfast/http/request.hpp>
#include <holdfast/http/response.hpp>
#include <holdfast/http/secrets.hpp>
#include <holdfast/http/sidekiq.hpp>
#include <holdfast/http/signature.hpp>
