// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace fabric {

std::string errno_name(int code) {
  const char* name = strerrorname_np(code);
  if (name == nullptr) return "errno " + std::to_string(code);
  return name;
}

std::string Error::text() const {
  if (code == 0) return what;
  const char* description = strerrordesc_np(code);
  if (description == nullptr) description = "unknown error";
  return what + ": " + description + " (" + errno_name(code) + ")";
}

}  // namespace fabric
