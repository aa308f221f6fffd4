#include <holdfast/broker.hpp>

namespace holdfast {

std::string Delivery::body() {
  std::string whole(size(), '\0');
  whole.resize(read(0, whole));
  return whole;
}

}  // namespace holdfast
