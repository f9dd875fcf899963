// SPDX-License-Identifier: Apache-2.0
// What identifies the card of a port: the serial number of its board by devlink, else of its VPD, which only root may
// read (PCI Local Bus Specification 3.0, appendix I); else the port's own address.
#include <algorithm>

#include "base/parse.h"
#include "kernel/netlink/devlink.h"
#include "kernel/netlink/ethtool.h"
#include "scan/port.h"

namespace fabric::scanning {
namespace {

unsigned byte_at(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

// A placeholder ("0000", "N/A") is none.
std::string checked(std::string_view serial) {
  const std::string text(trim(serial));
  const bool plain = std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter <= '~'; });
  const bool varied = std::ranges::any_of(text, [&](char letter) { return letter != text.front(); });
  return plain && varied && text.size() >= 6 ? text : std::string();
}

std::string by_devlink(Kernel& kernel, const Port& port) {
  if (!kernel.generic) return {};
  const auto family = ethtool::resolve(*kernel.generic, "devlink");
  if (!family) return {};
  const auto serial = devlink::serial_number(*kernel.generic, family->id, {"pci", port.pci});
  return serial ? checked(*serial) : std::string();
}

}  // namespace

// Resources of a tag, a length of two bytes and contents; in the read-only one (90h) fields of two letters, a length
// and a text.
std::string vpd_serial(std::string_view vpd) {
  for (size_t at = 0; at + 3 <= vpd.size();) {
    const unsigned tag = byte_at(vpd, at);
    if ((tag & 0x80) == 0) return {};  // the end tag
    const size_t length = byte_at(vpd, at + 1) | byte_at(vpd, at + 2) << 8;
    std::string_view fields = vpd.substr(at + 3, length);
    for (; tag == 0x90 && fields.size() >= 3;) {
      const size_t size = byte_at(fields, 2);
      if (fields.starts_with("SN")) return checked(fields.substr(3, size));
      fields.remove_prefix(std::min(fields.size(), 3 + size));
    }
    at += 3 + length;
  }
  return {};
}

void read_card(Context& context, Port& port) {
  port.card = port.card_address;
  if (!context.options.serials || port.pci.empty() || port.virtual_function) return;
  Kernel& kernel = context.kernel;
  const auto [known, is_new] = kernel.serials.try_emplace(port.pci + "#" + std::to_string(port.ifindex));
  if (is_new) {
    known->second = by_devlink(kernel, port);
    if (known->second.empty())
      if (const auto vpd = kernel.root.read("sys/bus/pci/devices/" + port.pci + "/vpd"))
        known->second = vpd_serial(*vpd);
  }
  if (known->second.empty()) return;
  port.card =
      "serial:" + known->second + "/" + port.pci.substr(port.pci.rfind('.') + 1) + "." + std::to_string(port.number);
}

// A card in two slots (socket direct) has one serial number, and a bond stands on a function of its member.
void tell_cards_apart(std::vector<Port>& ports) {
  std::vector<bool> shared(ports.size());
  for (size_t i = 0; i < ports.size(); ++i)
    shared[i] = std::ranges::any_of(ports, [&](const Port& other) {
      return &other != &ports[i] && other.card == ports[i].card && other.card_address != ports[i].card_address;
    });
  for (size_t i = 0; i < ports.size(); ++i)
    if (shared[i]) ports[i].card = ports[i].card_address;
}

}  // namespace fabric::scanning
