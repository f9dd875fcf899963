// SPDX-License-Identifier: Apache-2.0
// The [sysctl] table: "net.ipv4.tcp_ecn" = 1, or net.ipv4.tcp_ecn = 1, which TOML takes for tables in tables.
#include "setting/sysctl.h"

#include <algorithm>

#include "base/parse.h"
#include "policy/reader.h"

namespace fabric::config {
namespace {

// "4096 87380 6291456", whatever white space the file has between the numbers.
std::optional<std::string> value_of(const toml::node& node) {
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  const auto text = node.value<std::string_view>();
  return text ? std::optional(joined(words(*text), " ")) : std::nullopt;
}

// "net.ipv4.conf.eth0.100.rp_filter", as the file is called, is written "net.ipv4.conf.eth0/100.rp_filter", as
// sysctl(8) has it; empty: it is not that.
std::string with_slashes(const std::string& name) {
  constexpr std::string_view kInterfaces = "net.ipv4.conf.";
  const size_t last = name.rfind('.');
  if (!name.starts_with(kInterfaces) || last <= kInterfaces.size()) return {};
  std::string out = name;
  std::replace(out.begin() + kInterfaces.size(), out.begin() + static_cast<ptrdiff_t>(last), '.', '/');
  return qos::find_sysctl(out) != nullptr ? out : std::string();
}

void read_one(Reader& reader, const std::string& name, const toml::source_position& at, const toml::node& node,
              Policy& policy) {
  if (const size_t star = name.find(".*."); star != std::string::npos && qos::find_sysctl(name) != nullptr)
    return reader.fail(at, "sysctl." + name + ": replace * by an interface, \"all\" or \"default\"; write \"" +
                               name.substr(0, star) + ".all" + name.substr(star + 2) + "\"");
  if (qos::find_sysctl(name) == nullptr) {
    if (const std::string right = with_slashes(name); !right.empty())
      return reader.fail(
          at, "sysctl." + name + ": a dot in the name of an interface is written as a slash; write \"" + right + "\"");
    std::vector<std::string_view> known;
    for (const qos::Sysctl& row : qos::known_sysctls()) known.push_back(row.name);
    return reader.unknown(at, "host setting", name, known);
  }
  const auto value = value_of(node);
  const std::string problem =
      value ? qos::sysctl_problem(name, *value) : "expected a number or a string of numbers, not " + describe(node);
  if (!problem.empty()) {
    const qos::Sysctl& row = *qos::find_sysctl(name);
    const std::string example = row.numbers > 1 ? toml_string(row.example) : std::string(row.example);
    return reader.fail(fault_at(node, problem), "sysctl." + name, "\"" + name + "\" = " + example);
  }
  policy.sysctl[name] = *value;
  policy.sysctl_origin[name] = reader.line(node);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the file's tables, which toml++ limits
void read_tables(Reader& reader, const std::string& prefix, const toml::table& table, Policy& policy) {
  each_key(table, [&](std::string_view key, const toml::source_position& at, const toml::node& node) {
    const std::string name = prefix + std::string(key);
    if (const auto* inner = node.as_table()) return read_tables(reader, name + ".", *inner, policy);
    read_one(reader, name, at, node, policy);
  });
}

}  // namespace

void read_sysctl(Reader& reader, const toml::node& node, Policy& policy) {
  if (const auto* table = reader.table(node, "sysctl", "[sysctl]")) read_tables(reader, "", *table, policy);
}

// The tables [firmware] and [driver_version]: "MT_0000000838" = ["28.39.1002", "28.42.*"].
void read_versions(Reader& reader, std::string_view table, const toml::node& node, Versions& out, Policy& policy) {
  const std::string name(table),
      example = name == "firmware" ? "\"MT_0000000838\" = \"28.39.*\"" : "mlx5_core = \"24.10-*\"";
  const auto* entries = reader.table(node, name, "[" + name + "]");
  if (entries == nullptr) return;
  each_key(*entries, [&](std::string_view key, const toml::source_position& at, const toml::node& value) {
    if (key.empty()) return reader.fail(at, name + ": the key is empty; write " + example);
    // A PCI id, which the kernel writes in lower case.
    const std::string card = key.find(':') != std::string_view::npos ? lower(key) : std::string(key);
    const std::string full = name + "." + card;
    std::vector<std::string> versions;
    auto problem = read_texts(value, versions);
    if (!problem && versions.empty()) problem = fault_at(value, "the list is empty: no version would be right");
    if (!reader.good(problem, full, example)) return;
    out[card] = std::move(versions);
    policy.origin[full] = reader.line(value);
  });
}

}  // namespace fabric::config
