// SPDX-License-Identifier: Apache-2.0
// Moved: what kind of port it is.
#pragma once

#include "node/port.h"
