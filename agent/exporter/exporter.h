// SPDX-License-Identifier: Apache-2.0
// The program: loop, signals, configuration.
#pragma once

#include "exporter/options.h"

namespace fabric::exporter {

// Serves until SIGTERM or SIGINT. The exit status.
int serve(const Options& options);
// Reads everything once and prints the page.
int print_page(const Options& options);

}  // namespace fabric::exporter
