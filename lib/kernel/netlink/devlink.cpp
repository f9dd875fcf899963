// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/devlink.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "base/find.h"

namespace fabric::devlink {
namespace {

AttrWriter request(uint8_t command, const Handle& of) {
  return AttrWriter()
      .header(genlmsghdr{command, DEVLINK_GENL_VERSION, 0})
      .text(DEVLINK_ATTR_BUS_NAME, of.bus)
      .text(DEVLINK_ATTR_DEV_NAME, of.device);
}

std::string serial_in(View8 payload) {
  const auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  std::string serial = text_of(attributes, DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER);
  if (serial.empty()) serial = text_of(attributes, DEVLINK_ATTR_INFO_SERIAL_NUMBER);
  return serial;
}

bool switchdev_in(View8 payload) {
  const auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  return value_of<uint16_t>(attributes, DEVLINK_ATTR_ESWITCH_MODE) == DEVLINK_ESWITCH_MODE_SWITCHDEV;
}

}  // namespace

Handle handle_of(const std::string& device) {
  return {device.find(':') == std::string::npos ? "auxiliary" : "pci", device};
}

std::vector<Handle> handles_of(const Root& root, const std::string& device) {
  if (device.empty()) return {};
  std::vector<Handle> out{handle_of(device)};
  for (std::string& name : root.names_in("sys/bus/" + out[0].bus + "/devices/" + device))
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
  out.reporter.recovers = find(inner, DEVLINK_ATTR_HEALTH_REPORTER_AUTO_RECOVER) != nullptr;
  return out;
}

Result<std::vector<HealthReporter>> health_reporters(Netlink& generic, uint16_t family, const Handle& of) {
  auto replies = generic.talk(family, NLM_F_DUMP, request(DEVLINK_CMD_HEALTH_REPORTER_GET, of).data());
  if (!replies) return error_about("devlink health of " + of.bus + "/" + of.device, replies.error());
  std::vector<HealthReporter> out;
  for (const Message& reply : *replies) {
    if (reply.type != family) continue;
    auto reported = parse_reporter(reply.payload);
    if (!reported || !(reported->of == of)) continue;
    HealthReporter& found = reported->reporter;
    auto* same = find_where(out, [&](const HealthReporter& known) { return known.name == found.name; });
    if (same == nullptr) {
      out.push_back(std::move(found));
      continue;
    }
    same->healthy = same->healthy && found.healthy;
    same->errors += found.errors;
    same->recoveries += found.recoveries;
    same->recovers = same->recovers || found.recovers;
  }
  return out;
}

void add_diagnosis(View8 payload, Diagnosis& so_far) {
  std::string& name = so_far.name;
  for (const Attr& item : parse_nested(parse_attributes(payload, sizeof(genlmsghdr)), DEVLINK_ATTR_FMSG)) {
    // devlink_fmsg_item_fill_data(): the width of a number is that of its attribute. Its type distinguishes it from a
    // text or bytes of the same length: NLA_U8 to NLA_U64 of include/net/netlink.h.
    constexpr uint8_t kLargestNumber = 4;
    if (item.type == DEVLINK_ATTR_FMSG_OBJ_NAME) name = item.text();
    if (item.type == DEVLINK_ATTR_FMSG_OBJ_VALUE_TYPE && item.u8().value_or(0) > kLargestNumber) name.clear();
    if (item.type != DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA || name.empty()) continue;
    std::optional<uint64_t> number;
    if (item.value.size() == sizeof(uint64_t)) number = item.u64();
    else if (item.value.size() == sizeof(uint32_t)) number = item.u32();
    if (number) so_far.numbers[name] = *number;
    name.clear();
  }
}

Result<std::map<std::string, uint64_t>> read_diagnosis(Netlink& generic, uint16_t family, const Handle& of,
                                                       const std::string& reporter) {
  auto message = request(DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE, of);
  message.text(DEVLINK_ATTR_HEALTH_REPORTER_NAME, reporter);
  const auto replies = generic.talk(family, 0, message.data());
  if (!replies) return error_about("devlink diagnosis of " + of.bus + "/" + of.device, replies.error());
  Diagnosis out;
  for (const Message& reply : *replies)
    if (reply.type == family) add_diagnosis(reply.payload, out);
  return std::move(out.numbers);
}

Result<std::string> serial_number(Netlink& generic, uint16_t family, const Handle& of) {
  return ask(generic, family, family, request(DEVLINK_CMD_INFO_GET, of), "devlink info of " + of.bus + "/" + of.device,
             serial_in);
}

Result<bool> is_switchdev(Netlink& generic, uint16_t family, const Handle& of) {
  return ask(generic, family, family, request(DEVLINK_CMD_ESWITCH_GET, of),
             "devlink E-Switch of " + of.bus + "/" + of.device, switchdev_in);
}

}  // namespace fabric::devlink
