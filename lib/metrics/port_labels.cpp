// SPDX-License-Identifier: Apache-2.0
#include "metrics/port_labels.h"

namespace fabric {

Labels id_labels(std::string_view id) {
  size_t slash = id.rfind('/');
  if (slash == std::string_view::npos) return {{"device", id}, {"port", ""}};
  return {{"device", id.substr(0, slash)}, {"port", id.substr(slash + 1)}};
}

Labels port_labels(const Port& port) { return id_labels(port.id()); }

}  // namespace fabric
