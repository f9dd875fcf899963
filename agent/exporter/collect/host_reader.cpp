// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/host_reader.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "kernel/capture/root.h"
#include "kernel/host/lldpd.h"
#include "kernel/kernel.h"
#include "scan/scan.h"
#include "store/neighbor_state.h"
#include "store/state.h"

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
    held_.reset();  // another may be mounted there
    if (changed || topology_taken_ == Clock::time_point{} || Clock::now() - topology_taken_ >= topology_age_)
      read_topology();
  }
  if (!held_)
    if (auto opened = Root::open(root_)) held_ = std::move(*opened);
  const Root* root = held_ ? &*held_ : nullptr;
  const bool acted = read_agent(root);
  if (acted || !told_ || told_->agent_unread != agent_.error || told_topology_ != topology_read_) {
    told_topology_ = topology_read_;
    node_.agent = state_ ? std::optional<AgentState>(*state_) : std::nullopt;
    node_.agent_unread = agent_.error;
    told_ = std::make_shared<const Node>(node_);
  }
  Neighbors neighbors = read_neighbors(root);
  read_optics(root);
  const bool is_old = optics_ && optics_age_ > state::longest_age(optics_->interval);
  return {told_,          std::move(neighbors),       {topology_, agent_}, acted,
          topology_read_, is_old ? nullptr : optics_, optics_age_};
}

void HostReader::read_topology() {
  auto start = Clock::now();
  topology_ = {"topology", "", true, 0, {}};
  topology_taken_ = start;
  ++topology_read_;
  auto kernel = open_kernel(root_);
  if (kernel) {
    ScanOptions options;
    options.platform = options.settings = options.counters = options.gids = options.network = false;
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
Neighbors HostReader::read_neighbors(const Root* root) {
  Neighbors out;
  if (root == nullptr) return out;
  auto heard = neighbors_.load(*root);
  if (heard && *heard) out = std::move(**heard);
  else if (!heard) out.why_none = heard.error().text();
  else
    out.why_none = root->exists(std::string(lldpd::kSocket).substr(1))
                       ? "fabric-lldp does not run, and lldpd's socket is root's"
                       : "fabric-lldp does not run";
  return out;
}

// Published once a minute, and parsed as often.
void HostReader::read_optics(const Root* root) {
  auto text = root != nullptr ? root->read(state::kOpticsFile) : Result<std::string>(error(ENOENT, root_));
  if (!text) {
    optics_.reset();
    optics_text_.clear();
    return;
  }
  if (*text != optics_text_) {
    auto optics = state::parse_optics(*text, std::string("/") + state::kOpticsFile, {});
    optics_ = optics ? std::make_shared<const state::Optics>(std::move(*optics)) : nullptr;
    optics_text_ = std::move(*text);
  }
  const auto now = state::uptime(*root);
  optics_age_ = optics_ && now ? std::max(0.0, *now - optics_->read) : 0;
}

// Has it published something else than before?
bool HostReader::read_agent(const Root* root) {
  auto start = Clock::now();
  agent_ = {"agent", "", true, 0, {}};
  auto state = root != nullptr ? agent_state_.load(*root) : Result<std::shared_ptr<const AgentState>>(nullptr);
  if (!state) {
    agent_.success = false;
    agent_.error = state.error().text();
  }
  agent_.seconds = since(start);
  const auto before = std::exchange(state_, state ? std::move(*state) : nullptr);
  return before != state_;
}

}  // namespace fabric::exporter
