// SPDX-License-Identifier: Apache-2.0
#include "setting/reading.h"

namespace fabric {
namespace {

using Texts = std::map<SettingId, std::string>;

void replace(Texts& have, const Texts& now, SettingId id) {
  const auto text = now.find(id);
  if (text != now.end()) have[id] = text->second;
  else have.erase(id);
}

}  // namespace

void update(Reading& have, const Reading& now, const Keys& keys) {
  for (const Setting& setting : kSettings) {
    const size_t i = index(setting.id);
    if (!keys[i]) continue;
    copy_value(setting, now.values, have.values);
    replace(have.notes.reasons, now.notes.reasons, setting.id);
    replace(have.notes.unverified, now.notes.unverified, setting.id);
    have.notes.unread[i] = now.notes.unread[i];
    have.notes.harmless[i] = now.notes.harmless[i];
  }
  Capacity& capacity = have.capacity;
  // These come with every reading of the netdev.
  if ((keys & (keys_in(SettingGroup::dcb) | keys_in(SettingGroup::netdev))).any()) {
    capacity.speed = now.capacity.speed;
    capacity.max_mtu = now.capacity.max_mtu;
    capacity.buffer_total = now.capacity.buffer_total;
    capacity.traffic_classes = now.capacity.traffic_classes;
    capacity.lossless_classes = now.capacity.lossless_classes;
  }
  if (has_key(keys, SettingId::ring_rx)) capacity.ring_rx = now.capacity.ring_rx;
  if (has_key(keys, SettingId::ring_tx)) capacity.ring_tx = now.capacity.ring_tx;
  if (has_key(keys, SettingId::channels)) capacity.channels = now.capacity.channels;
  if (has_key(keys, SettingId::optional_counters)) capacity.optional_counters = now.capacity.optional_counters;
}

}  // namespace fabric
