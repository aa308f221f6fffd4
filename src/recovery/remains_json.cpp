#include "recovery/remains_json.hpp"

#include <boost/json.hpp>

#include "recovery/json_fields.hpp"

namespace holdfast {

using namespace json_fields;

std::string remains_json(const Remains& remains) {
  json::array running;
  for (const auto& lease : remains.running)
    running.push_back({json::string{lease.id.text()}, lease.token.value});
  return json::serialize(json::object{{"readable", remains.readable},
                                      {"restarted", remains.machine_restarted},
                                      {"running", std::move(running)}});
}

std::optional<Remains> remains_from_json(std::string_view text) {
  try {
    const auto value = json::parse(view(text));
    const auto& object = value.as_object();
    Remains remains;
    remains.readable = flag_in(object, "readable");
    remains.machine_restarted = flag_in(object, "restarted");
    for (const auto& each : object.at("running").as_array()) {
      const auto& pair = each.as_array();
      const auto& id = pair.at(0).as_string();
      remains.running.push_back({required(TaskId::parse({id.data(), id.size()}), "running"),
                                 Token{pair.at(1).to_number<std::int64_t>()}});
    }
    return remains;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace holdfast
