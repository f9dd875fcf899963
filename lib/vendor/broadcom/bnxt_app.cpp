// SPDX-License-Identifier: Apache-2.0
#include "vendor/broadcom/bnxt_app.h"

#include <algorithm>

#include "vendor/broadcom/bnxt_cc.h"
#include "vendor/generic/dscp.h"
#include "vendor/generic/upstream.h"

namespace fabric::bnxt_app {
namespace {

using dcbnl::AppTable;
using dscp::contains;

constexpr uint16_t kRoceV2Port = 4791;  // ROCE_V2_UDP_DPORT

bool is_roce(const dcb_app& entry) {
  return entry.selector == IEEE_8021QAZ_APP_SEL_DGRAM && entry.protocol == kRoceV2Port;
}

uint32_t roce_prio_of(const AppTable& table) {
  uint32_t out = 0;
  for (const dcb_app& entry : table)
    if (is_roce(entry)) out = std::max<uint32_t>(out, entry.priority);
  return out;
}

// The kernel's list may hold a DSCP with several priorities. The firmware uses the last one sent, which cannot be read.
void drop_ambiguous(const AppTable& table, Qos& out) {
  if (!out.dscp_map) return;
  std::map<uint16_t, unsigned> times;
  for (const dcb_app& entry : table)
    if (entry.selector == IEEE_8021QAZ_APP_SEL_DSCP) ++times[entry.protocol];
  std::erase_if(*out.dscp_map, [&](const auto& each) { return times[each.first] > 1; });
}

bool is_listed(PortIo& io, const dcb_app& entry) {
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  return now && contains(*now, entry);
}

// The kernel adds and deletes a list entry before the driver asks the firmware. If the firmware refuses, the list is
// corrected here.
Result<void> add(PortIo& io, const dcb_app& entry) {
  auto added = read_errno(dcbnl::set_app(*io.kernel.route, io.netdev, {entry}));
  if (!added && added.error().code != EEXIST && is_listed(io, entry))
    (void)dcbnl::del_app(*io.kernel.route, io.netdev, {entry});
  return added;
}

Result<void> remove(PortIo& io, const dcb_app& entry) {
  auto removed = dcbnl::del_app(*io.kernel.route, io.netdev, {entry});
  if (!removed && removed.error().code != ENOENT && !is_listed(io, entry))
    (void)dcbnl::set_app(*io.kernel.route, io.netdev, {entry});
  return removed;
}

Result<void> each(PortIo& io, Result<void> (*change)(PortIo&, const dcb_app&), const AppTable& entries) {
  for (const dcb_app& entry : entries)
    if (auto done = change(io, entry); !done) return done;
  return {};
}

}  // namespace

Result<void> read_errno(Result<void> written) {
  if (!written && written.error().code == ENOMEM) return error(EOPNOTSUPP, written.error().what);
  return written;
}

void read(PortIo& io, const AppTable& table, Qos& out) {
  drop_ambiguous(table, out);
  if (io.wants(SettingId::roce_prio)) out.roce_prio = roce_prio_of(table);
}

// The firmware maps a DSCP once: deleting one of its entries deletes the DSCP, and its other entries must be sent
// again.
Result<void> write_map(PortIo& io, const Setting& setting, const Qos& wanted, const Qos& have) {
  const DscpMap want = upstream::map_after(setting, wanted, have);
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  auto change = dscp::difference(*now, want);
  AppTable twice;
  for (const dcb_app& entry : dscp::entries_of(want))
    if (!contains(change.missing, entry) &&
        std::ranges::any_of(change.stale, [&](const dcb_app& stale) { return stale.protocol == entry.protocol; }))
      twice.push_back(entry);
  if (auto done = each(io, remove, change.stale); !done) return done;
  if (auto done = each(io, remove, twice); !done) return done;
  if (auto done = each(io, add, twice); !done) return done;
  return each(io, add, change.missing);
}

// The new entry before the old one goes: RoCE is never without its priority.
Result<void> write_roce_prio(PortIo& io, const Setting&, const Qos& want, const Qos&) {
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return now.error();
  const dcb_app wanted{IEEE_8021QAZ_APP_SEL_DGRAM, static_cast<uint8_t>(*want.roce_prio), kRoceV2Port};
  if (wanted.priority != 0 && !contains(*now, wanted))
    if (auto added = add(io, wanted); !added) return added;
  for (const dcb_app& entry : *now)
    if (is_roce(entry) && entry.priority != wanted.priority)
      if (auto removed = remove(io, entry); !removed) return removed;
  bnxt_cc::follow_roce_prio(io, *want.roce_prio);
  return {};
}

void send_again(PortIo& io) {
  auto now = dcbnl::get_app(*io.kernel.route, io.netdev);
  if (!now) return;
  for (const dcb_app& entry : *now) {
    if (!is_roce(entry) && entry.selector != IEEE_8021QAZ_APP_SEL_DSCP) continue;
    if (remove(io, entry)) (void)add(io, entry);
  }
}

}  // namespace fabric::bnxt_app
