// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace fabric {

std::string errno_name(int code) {
  const char* name = strerrorname_np(code);
  return name != nullptr ? name : "errno " + std::to_string(code);
}

std::string Error::text() const {
  if (code == 0) return what;
  const char* description = strerrordesc_np(code);
  return what + ": " + (description != nullptr ? description : "unknown error") + " (" + errno_name(code) + ")";
}

}  // namespace fabric
