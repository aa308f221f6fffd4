#pragma once

#include <boost/json/object.hpp>

#include <holdfast/report.hpp>

namespace holdfast {

boost::json::object to_json_object(const IntegrityResult& result);
boost::json::object to_json_object(const StartUp& start_up);

/// Read what the above wrote; throw some std::exception that names what makes no sense.
IntegrityResult integrity_from_json(const boost::json::object& object);
StartUp start_up_from_json(const boost::json::object& object);

}  // namespace holdfast
