// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/infiniband.h"

#include <algorithm>
#include <cctype>

#include "base/parse.h"
#include "kernel/pci/pci_device.h"

namespace fabric::infiniband {

Result<std::vector<std::string>> devices(const Root& root) {
  auto names = root.list(kClass);
  if (!names && names.error().code == ENOENT) return std::vector<std::string>{};
  return names;
}

Result<std::vector<unsigned>> ports(const Root& root, const std::string& device) {
  const std::string folder = device_folder(device);
  const auto names = root.list(folder + "/ports");
  if (!names) return names.error();
  // Most ports of a Gaudi lead to the others on its board, and have no netdev and no address. Its masks have a bit for
  // each port of the chip; RDMA counts the ports of ports_mask (hbl_ib_dev_init() of Intel's habanalabs_ib).
  std::set<unsigned> on_board;
  const auto all = root.number_in<uint64_t>(folder + "/ports_mask", 16);
  const auto external = root.number_in<uint64_t>(folder + "/ext_ports_mask", 16);
  if (all && external)
    for (unsigned bit = 0, number = 0; bit < 64; ++bit) {
      if ((*all >> bit & 1) == 0) continue;
      ++number;
      if ((*external >> bit & 1) == 0) on_board.insert(number);
    }
  // Earlier drivers have no masks. The netdev of a port that leads out gives it a link-local GID, with a link or
  // without.
  const bool is_gaudi = root.number_in<uint16_t>(folder + "/device/vendor", 16) == kHabana;
  std::vector<unsigned> numbers;
  for (const std::string& name : *names) {
    const auto number = parse_number<unsigned>(name);
    if (!number || on_board.contains(*number)) continue;
    if (is_gaudi && !(all && external)) {
      const auto own = gids(root, device, *number);
      if (own && own->empty()) continue;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::string device_folder(const std::string& device) { return std::string(kClass) + "/" + device; }

std::string port_folder(const std::string& device, unsigned port) {
  return device_folder(device) + "/ports/" + std::to_string(port);
}

std::string device_counters_folder(const std::string& device) { return device_folder(device) + "/hw_counters"; }

std::optional<unsigned> parse_state(std::string_view text) {
  return parse_number<unsigned>(text.substr(0, text.find(':')));
}

std::optional<double> parse_rate(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() < 2 || parts[1] != "Gb/sec") return std::nullopt;
  const auto gigabits = parse_double(parts[0]);
  if (!gigabits || !(*gigabits > 0)) return std::nullopt;
  return *gigabits * 1e9 / 8;
}

std::optional<IbWidth> parse_width(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() != 4 || !parts[2].starts_with('(') || !parts[2].ends_with('X') || !parts[3].ends_with(')'))
    return std::nullopt;
  const auto lanes = parse_number<unsigned>(parts[2].substr(1, parts[2].size() - 2));
  const std::string_view speed = parts[3].substr(0, parts[3].size() - 1);
  if (!lanes || *lanes == 0 || speed.empty() ||
      !std::ranges::all_of(speed, [](unsigned char letter) { return std::isalnum(letter) != 0; }))
    return std::nullopt;
  return IbWidth{*lanes, std::string(speed)};
}

Result<Lids> lids(const Root& root, const std::string& device, unsigned port) {
  const std::string folder = port_folder(device, port);
  const auto read = [&](const char* name) -> Result<uint32_t> {
    const auto line = root.read_line(folder + name);
    if (!line) return line.error();
    const std::string_view text = *line;
    const auto lid = parse_number<uint32_t>(text.starts_with("0x") ? text.substr(2) : text, 16);
    if (!lid) return error(EINVAL, folder + name);
    return *lid;
  };
  const auto own = read("/lid"), subnet_manager = read("/sm_lid");
  if (!own) return own.error();
  if (!subnet_manager) return subnet_manager.error();
  return Lids{*own, *subnet_manager};
}

Result<std::vector<uint16_t>> pkeys(const Root& root, const std::string& device, unsigned port) {
  constexpr unsigned kMost = 16;
  const std::string folder = port_folder(device, port) + "/pkeys/";
  std::vector<uint16_t> out;
  for (unsigned index = 0; index < kMost; ++index) {
    const auto line = root.read_line(folder + std::to_string(index));
    if (!line && (index == 0 || line.error().code != ENOENT)) return line.error();
    if (!line) break;  // the table is short
    const auto key = parse_number<uint16_t>(*line, 16);
    if (!key) return error(EINVAL, folder + std::to_string(index));
    out.push_back(*key);
  }
  return out;
}

Result<std::vector<Gid>> gids(const Root& root, const std::string& device, unsigned port) {
  constexpr unsigned kMaxGids = 256, kMaxEmpty = 64;
  const std::string folder = port_folder(device, port);
  std::vector<Gid> found;
  if (!root.exists(folder + "/gids")) return error(ENOENT, folder + "/gids");
  for (unsigned index = 0, empty = 0; index < kMaxGids && empty < kMaxEmpty; ++index) {
    const std::string slot = "/" + std::to_string(index);
    auto gid = root.read_line(folder + "/gids" + slot);
    if (!gid && gid.error().code != ENOENT && gid.error().code != EINVAL) return gid.error();
    if (!gid || gid->find_first_not_of("0:") == std::string::npos) {
      ++empty;
      continue;
    }
    empty = 0;
    found.push_back({index, std::move(gid).value(), root.line_of(folder + "/gid_attrs/types" + slot),
                     root.line_of(folder + "/gid_attrs/ndevs" + slot)});
  }
  return found;
}

}  // namespace fabric::infiniband
