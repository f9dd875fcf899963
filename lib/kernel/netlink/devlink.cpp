// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/devlink.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>

namespace fabric::devlink {

std::vector<Handle> handles_of(const Root& root, const std::string& pci) {
  if (pci.empty()) return {};
  std::vector<Handle> out{{"pci", pci}};
  if (auto names = root.list("sys/bus/pci/devices/" + pci))
    for (std::string& name : *names)
      if (name.find(".eth.") != std::string::npos) out.push_back({"auxiliary", std::move(name)});
  return out;
}

std::optional<Reported> parse_reporter(View8 payload) {
  const auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const auto inner = parse_nested(attributes, DEVLINK_ATTR_HEALTH_REPORTER);
  const auto state = value_of<uint8_t>(inner, DEVLINK_ATTR_HEALTH_REPORTER_STATE);
  Reported out;
  out.of = {text_of(attributes, DEVLINK_ATTR_BUS_NAME), text_of(attributes, DEVLINK_ATTR_DEV_NAME)};
  out.reporter.name = text_of(inner, DEVLINK_ATTR_HEALTH_REPORTER_NAME);
  const auto errors = value_of<uint64_t>(inner, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT),
             recoveries = value_of<uint64_t>(inner, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT);
  if (out.reporter.name.empty() || !state || !errors || !recoveries) return std::nullopt;
  out.reporter.healthy = *state == 0;  // DEVLINK_HEALTH_REPORTER_STATE_HEALTHY (net/devlink.h)
  out.reporter.errors = *errors;
  out.reporter.recoveries = *recoveries;
  return out;
}

Result<std::vector<HealthReporter>> health_reporters(Netlink& generic, uint16_t family, const Handle& of) {
  AttrWriter message;
  message.header(genlmsghdr{DEVLINK_CMD_HEALTH_REPORTER_GET, DEVLINK_GENL_VERSION, 0})
      .text(DEVLINK_ATTR_BUS_NAME, of.bus)
      .text(DEVLINK_ATTR_DEV_NAME, of.device);
  auto replies = generic.talk(family, NLM_F_DUMP, message.data());
  if (!replies) return error_about("devlink health of " + of.bus + "/" + of.device, replies.error());
  std::vector<HealthReporter> out;
  for (const Message& reply : *replies) {
    auto reported = reply.type == family ? parse_reporter(reply.payload) : std::nullopt;
    if (!reported || !(reported->of == of)) continue;
    auto same =
        std::ranges::find_if(out, [&](const HealthReporter& known) { return known.name == reported->reporter.name; });
    if (same == out.end()) {
      out.push_back(std::move(reported->reporter));
      continue;
    }
    same->healthy = same->healthy && reported->reporter.healthy;
    same->errors += reported->reporter.errors;
    same->recoveries += reported->reporter.recoveries;
  }
  return out;
}

Result<std::string> serial_number(Netlink& generic, uint16_t family, const Handle& of) {
  AttrWriter message;
  message.header(genlmsghdr{DEVLINK_CMD_INFO_GET, DEVLINK_GENL_VERSION, 0})
      .text(DEVLINK_ATTR_BUS_NAME, of.bus)
      .text(DEVLINK_ATTR_DEV_NAME, of.device);
  auto replies = generic.talk(family, 0, message.data());
  if (!replies) return error_about("devlink info of " + of.bus + "/" + of.device, replies.error());
  for (const Message& reply : *replies) {
    if (reply.type != family) continue;
    const auto attributes = parse_attributes(reply.payload, sizeof(genlmsghdr));
    std::string board = text_of(attributes, DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER);
    return board.empty() ? text_of(attributes, DEVLINK_ATTR_INFO_SERIAL_NUMBER) : std::move(board);
  }
  return std::string();
}

}  // namespace fabric::devlink
