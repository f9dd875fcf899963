// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/devlink.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <utility>

#include "kernel/netlink/ethtool.h"

namespace fabric::devlink {
namespace {

AttrWriter request(uint8_t command, uint8_t version) {
  genlmsghdr header{};
  header.cmd = command;
  header.version = version;
  AttrWriter out;
  out.header(header);
  return out;
}

std::string text_of(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* attribute = find(attributes, type);
  return attribute != nullptr ? attribute->text() : std::string();
}

std::optional<uint64_t> count_of(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* attribute = find(attributes, type);
  return attribute != nullptr ? attribute->u64() : std::nullopt;
}

}  // namespace

Result<uint16_t> resolve(Netlink& generic) {
  auto message = request(CTRL_CMD_GETFAMILY, 1);
  message.text(CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
  auto replies = generic.talk(GENL_ID_CTRL, 0, message.data());
  if (!replies) return error(replies.error().code, "resolve devlink: " + replies.error().what);
  if (replies->empty()) return error(EPROTO, "resolve devlink: no answer in the kernel's reply");
  auto family = ethtool::parse_family(replies->front().payload);
  if (!family) return family.error();
  return family->id;
}

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
  const Attr* nest = find(attributes, DEVLINK_ATTR_HEALTH_REPORTER);
  if (nest == nullptr) return std::nullopt;
  const auto inner = parse_attributes(nest->value);
  const Attr* state = find(inner, DEVLINK_ATTR_HEALTH_REPORTER_STATE);
  Reported out;
  out.of = {text_of(attributes, DEVLINK_ATTR_BUS_NAME), text_of(attributes, DEVLINK_ATTR_DEV_NAME)};
  out.reporter.name = text_of(inner, DEVLINK_ATTR_HEALTH_REPORTER_NAME);
  const auto errors = count_of(inner, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT),
             recoveries = count_of(inner, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT);
  if (out.reporter.name.empty() || state == nullptr || !state->u8() || !errors || !recoveries) return std::nullopt;
  out.reporter.healthy = *state->u8() == 0;  // DEVLINK_HEALTH_REPORTER_STATE_HEALTHY (net/devlink.h)
  out.reporter.errors = *errors;
  out.reporter.recoveries = *recoveries;
  return out;
}

Result<std::vector<HealthReporter>> health_reporters(Netlink& generic, uint16_t family, const Handle& of) {
  auto message = request(DEVLINK_CMD_HEALTH_REPORTER_GET, DEVLINK_GENL_VERSION);
  message.text(DEVLINK_ATTR_BUS_NAME, of.bus).text(DEVLINK_ATTR_DEV_NAME, of.device);
  auto replies = generic.talk(family, NLM_F_DUMP, message.data());
  if (!replies)
    return error(replies.error().code, "devlink health of " + of.bus + "/" + of.device + ": " + replies.error().what);
  std::vector<HealthReporter> out;
  for (const Message& reply : *replies) {
    auto reported = reply.type == family ? parse_reporter(reply.payload) : std::nullopt;
    if (!reported || !(reported->of == of)) continue;
    auto same = std::find_if(out.begin(), out.end(),
                             [&](const HealthReporter& known) { return known.name == reported->reporter.name; });
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
  auto message = request(DEVLINK_CMD_INFO_GET, DEVLINK_GENL_VERSION);
  message.text(DEVLINK_ATTR_BUS_NAME, of.bus).text(DEVLINK_ATTR_DEV_NAME, of.device);
  auto replies = generic.talk(family, 0, message.data());
  if (!replies)
    return error(replies.error().code, "devlink info of " + of.bus + "/" + of.device + ": " + replies.error().what);
  for (const Message& reply : *replies) {
    if (reply.type != family) continue;
    const auto attributes = parse_attributes(reply.payload, sizeof(genlmsghdr));
    std::string board = text_of(attributes, DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER);
    return board.empty() ? text_of(attributes, DEVLINK_ATTR_INFO_SERIAL_NUMBER) : std::move(board);
  }
  return std::string();
}

}  // namespace fabric::devlink
