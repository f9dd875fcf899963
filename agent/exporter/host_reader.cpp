// SPDX-License-Identifier: Apache-2.0
#include "exporter/host_reader.h"

#include <malloc.h>

#include <utility>

#include "qos/neighbor_state.h"
#include "qos/state.h"
#include "scan/scan.h"
#include "sys/kernel.h"
#include "sys/root.h"

namespace fabric::exporter {
namespace {

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

std::vector<std::string> HostReader::devices() const {
  auto root = Root::open(root_);
  if (!root) return {};
  auto names = root->list("sys/class/infiniband");
  if (!names) return {};
  return std::move(*names);
}

HostReading HostReader::read(const std::vector<std::string>* devices, bool came_or_went) {
  if (devices) {
    bool changed = came_or_went || known_ != *devices;
    known_ = *devices;
    if (changed || topology_taken_ == Clock::time_point{} || Clock::now() - topology_taken_ >= topology_age_) read_topology();
  }
  read_agent();
  read_neighbors();
  // All of it is compared: what happened twice within a second has one time.
  bool acted = node_.agent != told_;
  told_ = node_.agent;
  return {node_, {topology_, agent_}, acted};
}

void HostReader::read_topology() {
  auto start = Clock::now();
  topology_ = {"topology", "", true, 0, {}};
  topology_taken_ = start;
  auto kernel = open_kernel(root_);
  if (kernel) {
    ScanOptions options;
    options.settings = options.counters = options.gids = options.network = false;
    options.exclude = {"*"};
    node_ = scan(*kernel, options);
    node_.ports.clear();
  } else {
    topology_.success = false;
    topology_.error = kernel.error().text();
  }
  ::malloc_trim(0);  // hwloc's tree of a large machine is a megabyte, and is gone again
  topology_.seconds = since(start);
}

// What fabric-lldp has published. A running lldpd is not asked: its socket is not open to this user.
void HostReader::read_neighbors() {
  node_.neighbors = {};
  auto root = Root::open(root_);
  if (!root) return;
  auto heard = state::load_neighbors(*root);
  if (heard && *heard) node_.neighbors = std::move(**heard);
  else node_.neighbors.why_none = heard ? "fabric-lldp does not run" : heard.error().text();
}

void HostReader::read_agent() {
  auto start = Clock::now();
  agent_ = {"agent", "", true, 0, {}};
  node_.agent.reset();
  node_.agent_unread.clear();
  auto root = Root::open(root_);
  if (!root) return;
  auto state = state::load_agent_state(*root);
  if (state) {
    node_.agent = std::move(*state);
  } else {
    agent_.success = false;
    agent_.error = node_.agent_unread = state.error().text();
  }
  agent_.seconds = since(start);
}

}  // namespace fabric::exporter
