// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "exporter/exporter.h"
#include "exporter/lldp/lldp.h"

// GnuTLS sets itself up when it is loaded, and libmicrohttpd does so again: 130 kB for TLS that nobody here speaks. The
// first is GnuTLS's own way to leave that out (gnutls.h, GNUTLS_SKIP_GLOBAL_INIT); the second stands in the place of
// GnuTLS's.
extern "C" {
int _gnutls_global_init_skip();
int gnutls_global_init();
int _gnutls_global_init_skip() { return 1; }
int gnutls_global_init() { return 0; }
}

namespace {

constexpr int kUsageError = 2;

// A heap for each of a dozen threads that sleep most of the time would cost more than all that they read.
void one_heap() { ::mallopt(M_ARENA_MAX, 1); }

// One descriptor for each counter file and connection; systemd's default of 1024 is for programs that use select(2).
void allow_descriptors() {
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
  one_heap();
  allow_descriptors();
  int status = run({values + 1, values + count});
  if (std::fflush(stdout) != 0 && status == EXIT_SUCCESS) status = EXIT_FAILURE;
  ::_exit(status);  // a reader may hang in the kernel: nothing is torn down under it
}
