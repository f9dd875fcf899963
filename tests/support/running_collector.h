// SPDX-License-Identifier: Apache-2.0
// Runs a collector of fabric-exporter on a tree, and reads its page.
#pragma once

#include <sys/eventfd.h>

#include "base/fd.h"
#include "base/parse.h"
#include "exporter/collect/collector.h"
#include "exporter/http/page.h"
#include "support/slow_nics.h"
#include "support/test.h"

namespace fabric::test {

inline exporter::CollectorOptions collector_options(const std::string& root) {
  exporter::CollectorOptions out;
  out.root = root;
  out.stuck = std::chrono::seconds(30);  // a slow machine is not a stuck device
  return out;
}
inline exporter::CollectorOptions collector_options(const SlowNics& nics) {
  exporter::CollectorOptions out = collector_options(nics.tree.path());
  out.open = nics.open();
  return out;
}

// The value of a series, given as "NAME{LABEL=\"VALUE\"}", on a page.
inline std::optional<double> value(const std::string& page, const std::string& series) {
  const size_t at = page.find("\n" + series + " ");
  if (at == std::string::npos) return std::nullopt;
  const size_t from = at + series.size() + 2;
  return parse_double(page.substr(from, page.find('\n', from) - from));
}

class RunningCollector {
 public:
  // Waits until everything has been read or has hung for `options.stuck`; does not wait if `settled` is false.
  explicit RunningCollector(exporter::CollectorOptions options, bool settled = true)
      : policy_(options.policy),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        collector_(std::move(options), wake_.get()) {
    if (settled) settle();
  }
  exporter::Collector& operator*() { return collector_; }
  exporter::Collector* operator->() { return &collector_; }

  void settle(const std::function<bool()>& done) {
    const auto end = exporter::Clock::now() + std::chrono::seconds(20);
    while (!done() && exporter::Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(done());
  }
  void settle() {
    settle([&] { return collector_.complete() && !collector_.busy(); });
  }
  void refresh() {
    collector_.refresh();
    settle();
  }
  void rescan() {
    collector_.rescan();
    settle();
  }

  [[nodiscard]] Node node() const { return collector_.snapshot().node; }
  // The page without the metrics of the exporter's own process.
  [[nodiscard]] std::string page() const {
    exporter::PageContext context;
    context.policy = policy_.get();
    return render_page(collector_.snapshot(), context, false);
  }
  [[nodiscard]] std::optional<double> value(const std::string& series) const { return test::value(page(), series); }

 private:
  std::shared_ptr<const Policy> policy_;
  Fd wake_;
  exporter::Collector collector_;
};

}  // namespace fabric::test
