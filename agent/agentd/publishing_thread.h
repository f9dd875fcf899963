// SPDX-License-Identifier: Apache-2.0
// A thread that reads devices at an interval and publishes the readings, for programs without CAP_NET_ADMIN.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agentd/messages.h"
#include "base/result.h"

namespace fabric::agentd {

// Calls `publish` at an interval, on a thread of its own: a read that hangs in the kernel (I2C, dead firmware) stalls
// only this thread. The published file then becomes stale, and its readers ignore it.
class PublishingThread {
 public:
  // Reads the devices, and writes the file of all of them. An Error is logged when it differs from the last one.
  using Publish =
      std::function<Result<void>(const std::vector<std::string>& devices, std::chrono::milliseconds interval)>;
  // `what` is published, as log lines name it: "modules".
  PublishingThread(std::string what, Publish publish, JournalSink log)
      : what_(std::move(what)), publish_(std::move(publish)), log_(std::move(log)) {}
  // Returns at once, without waiting for the thread: it may hang in the kernel.
  ~PublishingThread();
  PublishingThread(const PublishingThread&) = delete;
  PublishingThread& operator=(const PublishingThread&) = delete;

  // Sets the devices to read, and the interval (0: never). After a change all of them are read at once. The first call
  // with anything to read starts the thread.
  void set(std::vector<std::string> devices, std::chrono::milliseconds interval);

  struct SharedState;

 private:
  std::string what_;
  Publish publish_;
  JournalSink log_;
  std::shared_ptr<SharedState> shared_;
};

// The clock of the published files: seconds since boot, by /proc/uptime.
Result<double> published_time();

}  // namespace fabric::agentd
