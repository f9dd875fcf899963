// SPDX-License-Identifier: Apache-2.0
// fabric-exporter --print: one page, without a server.
#include <poll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>

#include <cstdio>
#include <cstdlib>

#include "exporter/collect/collector.h"
#include "exporter/http/page.h"
#include "exporter/setup.h"

namespace fabric::exporter {
namespace {

constexpr auto kFirstPage = std::chrono::seconds(3);  // --print waits this long

}  // namespace

int print_page(const Options& options) {
  auto configuration = configure(options);
  if (!configuration) return log(SD_ERR, configuration.error().text()), EXIT_FAILURE;
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  CollectorOptions collecting;
  collecting.root = options.root;
  collecting.policy = configuration->policy;
  Collector collector(std::move(collecting), wake.get());
  for (auto end = Clock::now() + kFirstPage; !collector.complete() && Clock::now() < end;) {
    pollfd waiting{wake.get(), POLLIN, 0};
    ::poll(&waiting, 1, 100);
    uint64_t count = 0;
    [[maybe_unused]] auto size = ::read(wake.get(), &count, sizeof count);
  }
  PageContext context;
  context.policy = configuration->policy.get();
  context.no_policy = configuration->no_policy;
  std::string page = render_page(collector.snapshot(), context);
  if (std::fwrite(page.data(), 1, page.size(), stdout) == page.size() && std::fflush(stdout) == 0) return EXIT_SUCCESS;
  log(SD_ERR, error(errno, "standard output").text());
  return EXIT_FAILURE;
}

}  // namespace fabric::exporter
