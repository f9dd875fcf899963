// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include <cstdio>
#include <cstdlib>

#include "exporter/exporter.h"
#include "exporter/lldp/lldp.h"
#include "exporter/setup.h"
#include "kernel/host/isolation.h"

namespace {

constexpr int kUsageError = 2;

int run(const std::vector<std::string>& arguments) {
  using namespace fabric::exporter;
  auto options = parse_options(arguments);
  if (!options) {
    std::fprintf(stderr, "fabric-exporter: %s\nTry 'fabric-exporter --help'.\n", options.error().text().c_str());
    return kUsageError;
  }
  if (options->help) return std::fputs(usage().c_str(), stdout) < 0;
  if (options->version) return std::puts("fabric-exporter " FABRIC_VERSION) < 0;
  if (auto isolated = fabric::isolate_process(); !isolated)
    log(SD_NOTICE, isolated.error().text() + "; this process can signal others of its user");
  if (options->run == ExporterOptions::Kind::lldp) return listen_for_lldp();
  if (options->run == ExporterOptions::Kind::print) return print_page(*options);
  return serve(*options);
}

}  // namespace

int main(int count, char** values) {
  // Each counter file and each connection has a descriptor. systemd's soft limit of 1024 is for programs that use
  // select(2).
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  int status = run({values + 1, values + count});
  if (std::fflush(stdout) != 0 && status == EXIT_SUCCESS) status = EXIT_FAILURE;
  ::_exit(status);  // without destructors: a reader thread may hang in the kernel and use the objects
}
