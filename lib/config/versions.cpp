// SPDX-License-Identifier: Apache-2.0
// The tables [firmware] and [driver_version]: "MT_0000000838" = ["28.39.1002", "28.42.*"].
#include <algorithm>
#include <cctype>

#include "config/reader.h"

namespace fabric::config {

void read_versions(Reader& reader, std::string_view table, const toml::node& node, Versions& out, Policy& policy) {
  const std::string name(table),
      example = name == "firmware" ? "\"MT_0000000838\" = \"28.39.*\"" : "mlx5_core = \"24.10-*\"";
  const auto* entries = node.as_table();
  if (entries == nullptr)
    return reader.fail(node.source().begin,
                       name + ": expected a table, not " + describe(node) + "; write [" + name + "]");
  each_key(*entries, [&](std::string_view key, const toml::source_position& at, const toml::node& value) {
    if (key.empty()) return reader.fail(at, name + ": the key is empty; write " + example);
    std::string card(key);
    if (card.find(':') != std::string::npos)  // a PCI id, which the kernel writes in lower case
      std::transform(card.begin(), card.end(), card.begin(),
                     [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const std::string full = name + "." + card;
    std::vector<std::string> versions;
    MaybeProblem problem = read_texts(value, versions);
    if (!problem && versions.empty())
      problem = TomlProblem{value.source().begin, "the list is empty: no version would be right"};
    if (!reader.good(problem, full, example)) return;
    out[card] = std::move(versions);
    policy.origin[full] = reader.line(value);
  });
}

}  // namespace fabric::config
