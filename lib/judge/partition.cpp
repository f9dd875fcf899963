// SPDX-License-Identifier: Apache-2.0
// InfiniBand partitions and subnets.
#include "judge/finding.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "node/endpoints.h"

namespace fabric {

namespace {

// A P_Key: the number of the partition, and in the highest bit the membership (IBTA 1.4, 10.9.1 and 10.9.3).
constexpr uint16_t kFullMember = 0x8000, kDefaultPartition = 0x7fff;

enum class Membership : uint8_t { none, limited, full };

Membership membership(const std::vector<uint16_t>& keys, uint16_t partition) {
  auto out = Membership::none;
  for (const uint16_t key : keys)
    if ((key & kDefaultPartition) == partition)
      out = std::max(out, (key & kFullMember) != 0 ? Membership::full : Membership::limited);
  return out;
}

// The least membership of the partition that the equal ports have; nullopt: fewer than two of them are known.
std::optional<Membership> usual_membership(const View& view, const Port& port, uint16_t partition) {
  size_t others = 0;
  auto out = Membership::full;
  for (const Port& other : view.now.ports) {
    const auto* keys = find_in(view.now.network.pkeys, other.id());
    if (is_same_port(other, port) || keys == nullptr || !is_active(other) || !are_twins(other, port) ||
        has_other_purpose(view, other))
      continue;
    out = std::min(out, membership(*keys, partition));
    ++others;
  }
  if (others < 2) return std::nullopt;
  return out;
}

std::string key_text(uint16_t key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "0x";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[key >> shift & 0xf];
  return out;
}

// "0xffff (full), 0x0001 (limited)"
std::string keys_text(const std::vector<uint16_t>& keys) {
  std::string out;
  for (const uint16_t key : keys)
    if (key != 0) append_item(out, key_text(key) + ((key & kFullMember) != 0 ? " (full)" : " (limited)"));
  return out.empty() ? "none" : out;
}

Fix fix_of_partition(const Port& port, uint16_t partition) {
  const std::string file = "/sys/class/infiniband/" + port.rdma + "/ports/" + to_text(port.number);
  return "At the subnet manager, make the port a full member: in partitions.conf of opensm its GUID (the second half "
         "of " +
         file + "/gids/0) as GUID=full in the line of partition " + key_text(partition) +
         ", then reload it: pkill -HUP opensm. With UFM: the partition's members. Verify: grep . " + file + "/pkeys/*";
}

// The subnet prefix of the port, the first half of its GIDs: "fe80:0000:0000:0000". Empty: it has none.
std::string subnet_prefix(const Port& port) {
  constexpr size_t kHalf = 19;
  if (port.gids.empty() || port.gids.front().gid.size() <= kHalf) return {};
  return port.gids.front().gid.substr(0, kHalf);
}

// nullopt, unless all equal ports are in one subnet and this one is in another. Rails may have a subnet each. A port
// with another purpose, which is asked if it is named, may be of another fabric: that of the storage.
std::optional<Finding> other_subnet_finding(const View& view, const Port& port) {
  constexpr size_t kLeast = 3;
  if (has_other_purpose(view, port)) return std::nullopt;
  const std::string own = subnet_prefix(port);
  std::map<std::string, size_t> others;
  for (const Port& other : view.now.ports)
    if (!is_same_port(other, port) && other.link_layer == LinkLayer::infiniband && is_active(other) &&
        are_twins(other, port) && !has_other_purpose(view, other))
      ++others[subnet_prefix(other)];
  if (own.empty() || others.size() != 1) return std::nullopt;
  const auto& [usual, count] = *others.begin();
  if (usual.empty() || usual == own || count < kLeast) return std::nullopt;
  const std::string device = " -C " + port.rdma + " -P " + to_text(port.number);
  return bad(Status::warning, port.id(), "subnet " + own, "subnet " + usual + ", like equal ports",
             "The port is in another InfiniBand subnet than all equal ports: its cable leads to another fabric, or the "
             "prefix of its subnet manager was changed. Ports of two subnets do not reach each other without a router, "
             "although all are ACTIVE.",
             {"Find where it leads: iblinkinfo" + device + "; sminfo" + device + ". ",
              {Work::at_link, "If that is another fabric, plug its cable into that of the others."}});
}

// A job chooses its place in the table (NCCL_IB_PKEY: the first; UCX: the first with full membership). A port that
// serves no GPU may be a limited member on purpose: a client of storage servers.
std::optional<Finding> ask_partition(const View& view, const Port& port) {
  const auto* keys = find_in(view.now.network.pkeys, port.id());
  if (keys == nullptr || port.link_layer != LinkLayer::infiniband || !is_active(port) || !serves_jobs(view.now, port) ||
      (has_other_purpose(view, port) && !view.named.contains(port.id())))
    return std::nullopt;
  if (auto subnet = other_subnet_finding(view, port)) return subnet;
  const std::string observed = keys_text(*keys);
  std::set<uint16_t> partitions;
  for (const Port& other : view.now.ports) {
    const auto* table = find_in(view.now.network.pkeys, other.id());
    if (table == nullptr || (!is_same_port(other, port) && has_other_purpose(view, other))) continue;
    for (const uint16_t key : *table)
      if ((key & kDefaultPartition) != 0) partitions.insert(key & kDefaultPartition);
  }
  for (const uint16_t partition : partitions) {
    const Membership own = membership(*keys, partition), usual = usual_membership(view, port, partition).value_or(own);
    if (own >= usual) continue;
    const uint16_t expected = usual == Membership::full ? partition | kFullMember : partition;
    std::string meaning = "The port is not a member of partition " + key_text(partition) +
                          ", unlike equal ports: connections in it fail, although the port is ACTIVE.";
    if (own == Membership::limited)
      meaning =
          "The port is a limited member of partition " + key_text(partition) +
          ", and equal ports are full members: it reaches full members only. Connections to other limited members "
          "fail, although both ports are ACTIVE.";
    return bad(Status::warning, port.id(), observed, keys_text({expected}) + ", like equal ports", std::move(meaning),
               fix_of_partition(port, partition));
  }
  const bool is_full = std::ranges::any_of(*keys, [](uint16_t key) { return key > kFullMember; });
  if (is_full) return good(port.id(), observed, "full member of a partition");
  const uint16_t first = keys->front() & kDefaultPartition;
  return bad(Status::warning, port.id(), observed, "full member of a partition",
             "The port is a limited member of its partitions: it reaches full members only. If all hosts are limited "
             "members, no job between them can connect, although the ports are ACTIVE.",
             fix_of_partition(port, first == 0 ? kDefaultPartition : first));
}

}  // namespace

constexpr Rule kPartition{
    .id = "partition",
    .group = group::network,
    .title = "An InfiniBand port is a limited member of its partition, or lacks one, or is in another subnet",
    .meaning =
        "The subnet manager fills the P_Key table of each port. The highest bit of a P_Key is the membership: 0xffff "
        "is a full member of the default partition, 0x7fff a limited one, which reaches full members only. Two limited "
        "members cannot connect, although their ports are ACTIVE. Reported are ports for GPUs that are a full member "
        "of "
        "no partition, and those with less membership than all equal ports; and a port whose subnet prefix (the first "
        "half of its GID) differs from that of all equal ports: its cable leads to another fabric.",
    .inspect = "grep . /sys/class/infiniband/RDMADEV/ports/1/pkeys/*; on the subnet manager: partitions.conf",
    .fix = "Make the GUID of the port a full member of the partition in the configuration of the subnet manager.",
    .ask_port = ask_partition,
};

constexpr Rule kTable[]{kPartition};
const std::span<const Rule> kPartitionRules = kTable;

}  // namespace fabric
