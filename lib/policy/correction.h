// SPDX-License-Identifier: Apache-2.0
// Internal to policy: the correction of a value that its key rejects. A value as people write it has readings: "9000"
// is the number 9000, "9k" 9000 or 9216, "0,0,0,1,1,0,0,0" the mask of mlnx_qos for [3, 4]. The correction is the
// reading that the key accepts, if it accepts exactly one. Otherwise what the operator meant is not certain, and an
// example is named as such.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/json.h"
#include "policy/toml_value.h"

namespace fabric::config {

// The values that a written value may stand for.
using Values = std::vector<Json>;

// A key of the configuration, as far as a correction of its value needs it.
struct Correctable {
  std::string key;                                               // before " = "
  std::string example;                                           // a value as TOML that the key accepts
  std::function<Values(const Json& written)> read;               // the readings; empty: none
  std::function<MaybeProblem(const toml::node& value)> check{};  // nullopt: the key accepts the value
};
// "write mtu = 9000"; "for example mtu = 4200" if no correction is certain.
std::string correction(const Correctable& key, const toml::node& written);

// The readings of each kind of value.
Values integers(const Json& written, std::string_view unit = {});
Values switches(const Json& written);  // true or false
Values dscps(const Json& written);     // also a type of service, as the DSCP in it, and names: "AF31"
Values texts(const Json& written);
Values name_maps(const Json& written);
Values spans(const Json& written, bool has_never);
Values windows(const Json& written);
Values speeds(const Json& written);
Values pci_addresses(const Json& written);
Values pci_ids(const Json& written);
Values device_names(const Json& written);  // "mlx5_0/1", "mlx5_0/1@ens1"
Values netdev_names(const Json& written);
Values listen_addresses(const Json& written);
Values shares(const Json& written);  // "2%"
Values marks(const Json& written);
Values fabric_kinds(const Json& written);
Values fabrics(const Json& written);  // { kind = "lossy" }, "lossy"
Values limits(const Json& written);   // a number, or "never"
// Other names of a word, in lower case without signs: "tcbw|bandwidth" of "bw".
struct OtherNames {
  std::string_view word, names;
};
// The words of `known` that `written` may stand for.
Values known_words(const Json& written, std::span<const std::string_view> known,
                   std::span<const OtherNames> others = {});
// A list, whose elements `element` reads. One text may hold several elements: "a, b", "a b", "a{1,2}".
// repeats: whether a list that has an element twice means it twice.
enum class Repeats : uint8_t { dropped, kept };
Values lists(const Json& written, const std::function<Values(const Json& element)>& element,
             Repeats repeats = Repeats::dropped);
Values setting_values(const Setting& setting, const Json& written);

// The key of the setting that other programs call so: "dscp2prio" of mlnx_qos is dscp_map. Empty: no program does.
std::string_view key_of_others(std::string_view word);

}  // namespace fabric::config
