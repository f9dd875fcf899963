// SPDX-License-Identifier: Apache-2.0
#include "model/change.h"

namespace fabric {

std::string_view to_text(Outcome value) {
  switch (value) {
    case Outcome::in_sync: return "in_sync";
    case Outcome::applied: return "applied";
    case Outcome::unverified: return "unverified";
    case Outcome::differs: return "differs";
    case Outcome::pending: return "pending";
    case Outcome::unsupported: return "unsupported";
    case Outcome::refused: return "refused";
    case Outcome::ignored: return "ignored";
    case Outcome::unsaved: return "unsaved";
    case Outcome::conflict: return "conflict";
  }
  return "unknown";
}

}  // namespace fabric
