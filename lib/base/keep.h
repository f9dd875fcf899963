// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace fabric {

// The one that is kept of this text, from now on and for ever: for words that come again and again and are few. Null
// for an empty one. May be called by any thread; takes a lock for a moment.
const std::string* keep(std::string_view text);

}  // namespace fabric
