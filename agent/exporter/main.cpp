// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "exporter/lldp/lldp.h"
#include "exporter/setup.h"

namespace {

constexpr int kUsageError = 2;

// One descriptor for each counter file and connection; systemd's soft limit of 1024 is for programs that use select(2).
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int run(const std::vector<std::string>& arguments) {
  using namespace fabric::exporter;
  auto options = parse_options(arguments);
  if (!options) {
    std::fprintf(stderr, "fabric-exporter: %s\nTry 'fabric-exporter --help'.\n", options.error().text().c_str());
    return kUsageError;
  }
  if (options->help) return std::fputs(usage().c_str(), stdout) < 0;
  if (options->version) return std::puts("fabric-exporter " FABRIC_VERSION) < 0;
  if (options->lldp) return listen_for_lldp();
  return options->print ? print_page(*options) : serve(*options);
}

}  // namespace

int main(int count, char** values) {
  raise_descriptor_limit();
  int status = run({values + 1, values + count});
  if (std::fflush(stdout) != 0 && status == EXIT_SUCCESS) status = EXIT_FAILURE;
  ::_exit(status);  // a reader thread may hang in the kernel: destroy nothing that it uses
}
