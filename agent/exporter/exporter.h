// SPDX-License-Identifier: Apache-2.0
// The exporter: the event loop that reads the machine, keeps its health and serves the pages.
#pragma once

#include "exporter/setup.h"

namespace fabric::exporter {

// Serves until SIGTERM or SIGINT. Returns the exit status.
int serve(const ExporterOptions& options);
// Reads everything once and prints the page of /metrics. Returns the exit status.
int print_page(const ExporterOptions& options);

}  // namespace fabric::exporter
