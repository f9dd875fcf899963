// SPDX-License-Identifier: Apache-2.0
// The burst sampler: what happens between two scrapes. One thread per RDMA device, so that one that hangs stalls
// nothing but its own samples; each keeps to its share of the CPU budget and leaves a slow device in peace
// (counter/pace.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counters/burst.h"
#include "counters/pace.h"
#include "kernel/kernel.h"
#include "metrics/family.h"

namespace fabric::exporter {

struct SamplerOptions {
  std::string root = "/";
  std::chrono::milliseconds interval{1000};        // 0: nothing is sampled
  double cpu_budget = 0.02;                        // a share of one core, for all threads together
  std::function<void(const std::string&)> tell{};  // a line for the journal; from any thread
  std::function<Result<Kernel>(const std::string& root)> open = open_kernel;
};

// How a device is sampled just now.
struct SampledDevice {
  std::string device;
  std::chrono::nanoseconds interval{};
  Pace::Brake brake = Pace::Brake::none;
  double cpu_seconds = 0;                         // of its thread
  std::optional<std::chrono::nanoseconds> age{};  // of the newest sample; absent: none yet
};

class Sampler {
 public:
  explicit Sampler(SamplerOptions options);
  // Returns at once; a thread that hangs in the kernel is left behind.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // From now on these ports, and no others, are sampled. What is known of a port that stays goes on; names and rate may
  // be others than before.
  void follow(const std::vector<Port>& ports);
  // Another interval and budget, from the next sample on. What is known of the ports goes on.
  void set(std::chrono::milliseconds interval, double cpu_budget);

  [[nodiscard]] std::vector<PortBursts> bursts() const;
  [[nodiscard]] std::vector<SampledDevice> devices() const;

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

// How the sampler does.
void add_sampler(FamilySet& families, const Sampler& sampler);

}  // namespace fabric::exporter
