// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/kept.h"

#include <algorithm>
#include <array>

#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "ctl/topo/topo.h"
#include "judge/cause.h"
#include "kernel/capture/anonymize.h"
#include "nic/capabilities.h"
#include "node/host.h"
#include "node/lldpad.h"
#include "node/machine.h"
#include "node/platform.h"
#include "node/provider_abi.h"
#include "node/rdma_software.h"
#include "node/services.h"
#include "node/systemd.h"
#include "node/topology_xml.h"
#include "policy/cabling.h"
#include "policy/kept_config.h"
#include "wire/gzip.h"
#include "wire/vpd.h"

namespace fabric::ctl {
namespace {

using Kept = std::optional<std::string>;  // nullopt: nothing is used

// In place of a text that is not used but whose presence is shown.
constexpr const char* kHidden = "hidden";

// The lines that `keep` returns, each in its place; other lines are empty. Findings name lines.
template <class KeepLine>
std::string lines_kept(std::string_view text, KeepLine&& keep) {
  auto lines = split(text, '\n');
  const bool ends = !lines.empty() && lines.back().empty();
  if (ends) lines.pop_back();
  std::string out;
  for (const std::string_view line : lines) out += std::string(keep(line)) + "\n";
  return out;
}

// The lines "NAME : VALUE" of these names.
std::string members_kept(std::string_view text, const std::vector<std::string_view>& names) {
  return lines_kept(text, [&](std::string_view line) {
    const size_t colon = line.find(':');
    const bool is_used = colon != std::string_view::npos && contains(names, trim(line.substr(0, colon)));
    return is_used ? line : std::string_view();
  });
}

bool is_number_list(std::string_view text) { return text.find_first_not_of("0123456789.-, \t\n") == std::string::npos; }

Kept whole(const std::string& text) { return text; }

Kept numbers(const std::string& text) {
  if (!is_number_list(text)) return std::nullopt;
  return text;
}

Kept first_line(const std::string& text) { return text.substr(0, text.find('\n')) + "\n"; }

Kept word(const std::string& text) {
  const auto parts = words(text);
  if (parts.size() != 1) return std::nullopt;
  return std::string(parts.front()) + "\n";
}

// ---- /proc

Kept kernel_command_line(const std::string& text) {
  std::vector<std::string> used = platform::parse_command_line(text);
  for (const std::string& parameter : host::kernel_parameters(text))
    if (parameter.starts_with("processor.max_cstate=") || parameter.starts_with("module_blacklist=") ||
        parameter.starts_with("modprobe.blacklist=") || parameter.starts_with("vfio-pci.ids=") ||
        parameter.starts_with("vfio_pci.ids="))
      used.push_back(parameter.substr(0, parameter.find_first_of(" \t\"")));
  return joined(used) + "\n";
}

Kept cpu_lines(const std::string& text) {
  return members_kept(text, {"processor", "vendor_id", "cpu family", "model", "model name", "flags"});
}

Kept memory_size(const std::string& text) {
  return lines_kept(text, [](std::string_view line) {
    const auto columns = words(line);
    const bool is_used = columns.size() == 3 && columns[0] == "MemTotal:" && is_number_list(columns[1]);
    return is_used ? line : std::string_view();
  });
}

// A process whose name means a service. Others are not looked at again.
Kept service_process(const std::string& text) {
  if (!host::is_known_process(trim(text))) return std::nullopt;
  return std::string(trim(text)) + "\n";
}

// If the file of process 1 can be read, no process is hidden. Its name and that of process 2 distinguish a container
// from a host.
Kept first_process(const std::string& text) {
  if (Kept service = service_process(text)) return service;
  return host::may_begin_container(trim(text)) ? "process\n" : "init\n";
}

Kept second_process(const std::string& text) {
  if (trim(text) == host::kKernelThreads) return std::string(host::kKernelThreads) + "\n";
  return service_process(text);
}

Kept unit_of_process(const std::string& text) {
  return "0::/system.slice/" + host::unit_of_cgroup(text) + "\n";  // also of a process without a unit
}

// Keeps the namespace ids of a process, and one of its capabilities: CAP_IPC_LOCK.
Kept process_ids(const std::string& text) {
  return lines_kept(text, [](std::string_view line) {
    if (host::has_ipc_lock(line)) return std::string_view("CapEff:\t0000000000004000");
    const bool is_used = line.starts_with("NSpid:") && is_number_list(line.substr(6));
    return is_used ? line : std::string_view();
  });
}

Kept process_limits(const std::string& text) {
  const ProcessLimits limits = host::parse_process_limits(text);
  std::string out;
  const auto add = [&](const char* name, const std::optional<ResourceLimit>& limit) {
    const auto shown = [](uint64_t value) { return value == kNoLimit ? "unlimited" : std::to_string(value); };
    if (limit) out += std::string(name) + " " + shown(limit->soft) + " " + shown(limit->hard) + "\n";
  };
  add("Max locked memory", limits.memlock);
  add("Max open files", limits.nofile);
  add("Max core file size", limits.core);
  return out;
}

// Keeps whether the arguments of lldpad name another configuration file. No other argument is read.
Kept lldpad_arguments(const std::string& text) { return host::names_another_file(text) ? "-f" : ""; }

// "driver mlx5" of libibverbs
Kept driver_lines(const std::string& text) {
  return lines_kept(text, [](std::string_view line) {
    const auto columns = words(line);
    return columns.size() == 2 && columns[0] == "driver" ? line : std::string_view();
  });
}

// The ABI versions that a provider of libibverbs supports.
Kept provider_abis(const std::string& file) { return host::to_text(host::parse_provider_abis(file)); }

// The rules about modules for RDMA, with the first word of the command of an install line.
Kept module_lines(const std::string& text) {
  return lines_kept(text, [](std::string_view line) {
    const auto rule = host::parse_module_rule(line);
    return rule ? rule->text : std::string();
  });
}

// The names of the modules that decide what RDMA lacks.
Kept loaded_modules(const std::string& text) {
  std::string out;
  for (const std::string_view line : split(text, '\n'))
    if (const std::string_view name = line.substr(0, line.find(' ')); host::is_module_for_rdma(name))
      out.append(name) += " \n";
  return out;
}

// A file of no importance has a name that people choose.
Kept module_list(const std::string& text) {
  if (std::ranges::none_of(split(text, '\n'), host::loads_rdma_cm)) return std::nullopt;
  return lines_kept(text,
                    [](std::string_view line) { return host::loads_rdma_cm(line) ? trim(line) : std::string_view(); });
}

// adminStatus of the ports in lldpad.conf.
Kept lldpad_ports(const std::string& text) {
  const auto ports = host::parse_lldpad(text);
  if (!ports) return std::nullopt;
  std::string out = "lldp : {\n";
  for (const auto& [netdev, status] : *ports) out += netdev + " : { adminStatus = " + std::to_string(status) + "; };\n";
  return out + "};\n";
}

Kept default_routes(const std::string& text) {
  return lines_kept(text, [](std::string_view line) {
    const auto fields = words(line);
    const bool v4 = fields.size() > 1 && fields[1] == "00000000",
               v6 = !fields.empty() && fields[0] == std::string(32, '0');
    return v4 || v6 ? line : std::string_view();
  });
}

Kept nvidia_version(const std::string& text) {
  const auto version = platform::parse_nvidia_version(text);
  if (!version) return std::nullopt;
  std::string out = "NVRM version: NVIDIA UNIX ";
  if (version->open) out += "Open ";
  return out + "Kernel Module " + version->version + "\n";
}

Kept gpu_lines(const std::string& text) {
  return members_kept(text, {"Model", "GPU UUID", "Device Minor", "GPU Excluded", "GPU Blacklisted"});
}

Kept kernel_options(const std::string& text) {
  return lines_kept(text, [](std::string_view line) {
    for (const std::string_view name : {"CONFIG_PCI_P2PDMA", "CONFIG_DMABUF_MOVE_NOTIFY"}) {
      const std::string set = std::string(name) + "=";
      if (line == set + "y" || line == set + "m" || line == "# " + std::string(name) + " is not set") return line;
    }
    return std::string_view();
  });
}

// read_kernel_options() also accepts text in place of /proc/config.gz.
Kept packed_kernel_options(const std::string& file) {
  constexpr size_t kMost = size_t{4} << 20;
  const auto text = gunzip(file, kMost);
  if (!text) return std::nullopt;
  return "# options in use\n" + kernel_options(*text).value_or("");
}

// The modules for NICs in modules.dep, without their dependencies: those of the kernel by its folders, those of a
// vendor's package by name.
Kept nic_modules(const std::string& text) {
  return lines_kept(text, [](std::string_view line) {
    const std::string_view file = line.substr(0, line.find(':'));
    for (const std::string_view folder : {"kernel/drivers/infiniband/", "kernel/drivers/net/ethernet/"})
      if (file.starts_with(folder)) return file;
    const std::set<std::string> module = host::parse_module_files(file);
    if (module.empty() || !is_rdma_module(*module.begin())) return std::string_view();
    return file.substr(file.rfind('/') + 1);
  });
}

// ---- /sys

// Only the serial number: vital product data has asset tags and fields of the vendor.
Kept board_serial(const std::string& text) {
  const auto fields = vpd_fields(text);
  const VpdField* serial = find_where(fields, [](const VpdField& field) { return field.key == "SN"; });
  if (serial == nullptr) return std::nullopt;
  const size_t size = serial->text.size(), length = size + 3;
  std::string out{'\x90', static_cast<char>(length & 0xff), static_cast<char>(length >> 8), 'S',
                  'N',    static_cast<char>(size)};
  return out.append(serial->text).append(1, '\x78');
}

// The asset tag of a cloud; any other is of the site.
Kept cloud_tag(const std::string& text) {
  if (machine::cloud_name(trim(text), "").empty()) return std::nullopt;
  return text;
}

// ---- /etc

// os-release(5): two words of lower-case letters and digits.
Kept distribution(const std::string& text) {
  return lines_kept(text, [](std::string_view line) {
    const size_t equals = line.find('=') + 1;
    const std::string_view name = line.substr(0, equals);
    const bool is_word =
        line.substr(equals).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-\"'") == std::string_view::npos;
    return is_word && (name == "ID=" || name == "VERSION_ID=") ? line : std::string_view();
  });
}

// limits.conf(5): the lines about locked memory.
Kept user_limits(const std::string& text) {
  return lines_kept(text, [](std::string_view line) -> std::string {
    const std::string one = std::string(line) + "\n";
    std::vector<UserLimit> limits;
    host::parse_user_limits(one, "", limits);
    if (limits.empty()) return {};
    const auto columns = words(line.substr(0, line.find('#')));
    return joined(std::span(columns).first(4), " ", [](std::string_view column) { return std::string(column); });
  });
}

std::string slurm_lines(const std::string& text, bool includes) {
  const bool names_cluster = includes && text.find("%c") != std::string::npos;
  return lines_kept(text, [&](std::string_view line) -> std::string {
    const auto parts = words(line.substr(0, line.find('#')));
    if (parts.size() >= 2 && lower(parts[0]) == "include") return includes ? "Include " + std::string(parts[1]) : "";
    std::string out;
    for (const std::string_view part : parts) {
      const std::string key = lower(part.substr(0, part.find('=')));
      if (key.starts_with("propagateresourcelimits") || (names_cluster && key == "clustername"))
        append_item(out, part, " ");
    }
    return out;
  });
}

// Files of systemd: the limits, each in its line below the header of its section.
Kept unit_limits(const std::string& text) {
  std::vector<std::string> lines(static_cast<size_t>(std::ranges::count(text, '\n')) + 2);
  std::string section;
  for (const unit_file::Assignment& each : unit_file::parse(text)) {
    std::string_view what = each.key;
    const std::string_view prefix = each.section == "Manager" ? "DefaultLimit" : "Limit";
    if ((each.section != "Service" && each.section != "Manager") || !what.starts_with(prefix)) continue;
    what.remove_prefix(prefix.size());
    const auto limit =
        what == "NOFILE" ? unit_file::parse_count_limit(each.value) : unit_file::parse_memory_limit(each.value);
    if (!limit || !contains(std::array<std::string_view, 3>{"MEMLOCK", "NOFILE", "CORE"}, what)) continue;
    // Between two sections there is at least the line of the second one's header.
    if (each.section != section) lines[each.line - 2] = "[" + each.section + "]";
    section = each.section;
    lines[each.line - 1] = each.key + "=" + each.value;
  }
  lines.pop_back();
  std::string out = joined(lines, "\n");
  if (out.empty() && !text.empty()) out = "\n";  // an empty file masks a unit
  return out;
}

// Texts without the names of other hosts that may have the same error as `text`.
std::vector<std::string> texts_with_error(const std::string& text, std::string_view where, bool is_json) {
  if (is_json) {
    const auto line = parse_number<size_t>(where.substr(0, where.find(':'))).value_or(1);
    return {"[" + std::string(std::min(line, text.size()) - 1, '\n') + "x", "{}", R"({"results":[],"next":"x"})"};
  }
  std::string form = text;  // the header, and the form of the other lines
  for (size_t at = std::min(text.find('\n'), text.size()); at < form.size(); ++at)
    if (!contains(std::string_view("\n\",;\t"), form[at])) form[at] = 'x';
  return {form};
}

// The ends of a cable: ports of this host, and their peers.
struct CableRow {
  std::vector<std::string> ports;
  std::vector<CableEnd> peers;
};
using CableRows = std::map<size_t, CableRow>;  // by line, or number in a list

CableRows rows_of(const std::vector<Cable>& cables) {
  CableRows rows;
  for (const Cable& cable : cables) {
    const size_t digits = cable.where.find_last_not_of("0123456789") + 1;
    CableRow& row = rows[parse_number<size_t>(std::string_view(cable.where).substr(digits)).value_or(0)];
    if (!contains(row.ports, cable.port)) row.ports.push_back(cable.port);
    if (std::ranges::none_of(row.peers, [&](const CableEnd& each) {
          return each.device == cable.peer.device && each.port == cable.peer.port;
        }))
      row.peers.push_back(cable.peer);
  }
  return rows;
}

std::string cables_json(const CableRows& rows, const std::string& host) {
  Json list = Json::array();
  for (const auto& [number, row] : rows) {
    Json ours = Json::array(), theirs = Json::array();
    for (const std::string& port : row.ports) ours.push_back({{"device", {{"name", host}}}, {"name", port}});
    for (const CableEnd& peer : row.peers) theirs.push_back({{"device", {{"name", peer.device}}}, {"name", peer.port}});
    while (list.size() + 1 < number) list.push_back(Json::object());
    list.push_back({{"a_terminations", ours}, {"b_terminations", theirs}});
  }
  return json_line(list);
}

std::string cables_table(const CableRows& rows, const std::string& host) {
  const auto quoted = [](std::string field) {
    replace_all(field, "\"", "\"\"");
    return "\"" + field + "\"";
  };
  std::string table = "Device A,Termination A,Device B,Termination B\n";
  size_t line = 1;
  for (const auto& [number, row] : rows) {
    std::vector<std::string> devices, ports;
    for (const CableEnd& peer : row.peers) {
      if (!contains(devices, peer.device)) devices.push_back(peer.device);
      if (!contains(ports, peer.port)) ports.push_back(peer.port);
    }
    for (; line + 1 < number; ++line) table += "\n";
    table += quoted(host) + "," + quoted(joined(row.ports, ",")) + "," + quoted(joined(devices, ",")) + "," +
             quoted(joined(ports, ",")) + "\n";
    ++line;
  }
  return table;
}

// The cables of this host in the same lines. nullopt: they would be read differently.
Kept cables_kept(const std::string& text, const SiteFiles& site) {
  const std::string name = "/" + site.cabling;
  auto cables = parse_cabling(text, name, site.host);
  const std::string& host = site.shown_host.empty() ? site.host : site.shown_host;
  if (cables && !site.shown_host.empty())
    for (Cable& cable : *cables)  // between two of its own ports
      if (same_device(cable.peer.device, site.host)) cable.peer.device = host;
  const auto is_same = [&](const std::string& other) {
    const auto again = parse_cabling(other, name, cables ? host : site.host);
    if (!cables || !again) return !cables && !again && cables.error() == again.error();
    return std::ranges::equal(*cables, *again, [](const Cable& a, const Cable& b) {
      return a.port == b.port && a.peer.device == b.peer.device && a.peer.port == b.peer.port && a.where == b.where;
    });
  };
  const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const bool is_json = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  std::vector<std::string> tries;
  if (!cables) tries = texts_with_error(text, std::string_view(cables.error().what).substr(name.size() + 1), is_json);
  else if (is_json) tries = {cables_json(rows_of(*cables), host)};
  else tries = {cables_table(rows_of(*cables), host)};
  for (std::string& each : tries)
    if (is_same(each)) return std::move(each);
  return std::nullopt;
}

// ---- our own files

// Members whose texts are kept, in all files together; numbers always are.
constexpr std::string_view kTexts[] = {
    // agentd's state
    "mode", "updated", "outcome", "detail", "last_repair", "last_drift", "drift_from", "drift_to", "drift_by",
    "config_error", "held", "held_until_reload", "originals_error", "originals_file", "lost_entry",
    "left_of_self_tests", "config", "version", "reason",
    // original settings, and those before apply --confirm
    "place", "address", "driver", "pci_id", "boot_id", "until", "policy", "disruptive", "reverted",
    // findings and acknowledgements
    "id", "subject", "status", "observed", "expected", "rule", "evidence", "by",
    // neighbors
    "source", "netdev", "chassis_id", "port_id", "port_description", "system_name", "management", "dcbx", "malformed",
    // inventory
    "taken", "odd", "kind", "pci", "name", "root", "bridges", "guid", "nics", "rdma", "up", "direct", "unread",
    // modules
    "identifier", "form_factor", "standard", "vendor", "oui", "part_number", "revision", "serial_number", "date",
    "connector", "technology", "fault_cause", "medium", "state", "path", "flags", "side", "bad_checksums"};
// Members of which everything is kept: settings, and maps of names and texts.
constexpr std::string_view kWholeMembers[] = {"settings", "before",          "sysctl", "values", "devices",
                                              "ets",      "ets_recommended", "pfc",    "app"};

// An error of the configuration in a file of ours, without the names that it found there: kept_config() hides them,
// too.
std::string without_unknown_names(std::string text) {
  constexpr std::string_view kUnknown = "unknown ", kTwice = "cannot redefine existing ";
  for (const std::string_view before : {kUnknown, kTwice}) {
    const char quote = before == kUnknown ? '"' : '\'';
    for (size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
      at += before.size();
      const size_t begin = text.find(quote, at);  // after the kind: "host setting"
      if (begin == std::string::npos) break;
      if (text.substr(at, begin - at).find_first_not_of("abcdefghijklmnopqrstuvwxyz- ") != std::string::npos) continue;
      size_t end = begin + 1;
      if (quote == '"') {
        while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
      } else {  // no text of ours in this line has another one
        end = text.find_last_of(quote, text.find('\n', begin));
      }
      end = std::clamp(end, begin + 1, text.size());
      text.replace(begin + 1, end - begin - 1, kHidden);
      at = begin + 1;
    }
  }
  return text;
}

// NOLINTNEXTLINE(misc-no-recursion): parse_state() limits the levels
void keep_texts(Json& json, bool is_text_used) {
  if (json.is_object()) {
    for (auto member = json.begin(); member != json.end();) {
      const std::string& name = member.key();
      if (contains(kWholeMembers, name)) {
        ++member;
        continue;
      }
      if (name == "comment" && member->is_string() && *member != "") *member = kHidden;
      else if (name == "system_description" && member->is_string()) {
        std::string known;  // the names by which a rule knows the switch's system
        for (const std::string_view system : switch_systems())
          if (member->get_ref<const std::string&>().find(system) != std::string::npos) append_item(known, system);
        *member = known;
      } else if (member->is_string() && !contains(kTexts, name)) {
        member = json.erase(member);
        continue;
      } else {
        keep_texts(*member, contains(kTexts, name));
      }
      ++member;
    }
  } else if (json.is_string()) {
    json = without_unknown_names(json.get<std::string>());
  } else if (json.is_array()) {
    for (Json& element : json) {
      if (element.is_string() && !is_text_used) element = kHidden;
      keep_texts(element, is_text_used);
    }
  }
}

Kept own_file(const std::string& text) {
  auto json = parse_state(text, "");
  if (!json) {  // the verdict of a damaged file is the same
    const Json other = Json::parse(text, nullptr, false);
    if (other.is_object() && other.contains("format") && other["format"].is_number_integer())
      return json_line({{"format", other["format"]}});
    return "damaged\n";
  }
  keep_texts(*json, false);
  return json_line(*json);
}

Kept hwloc_xml(const std::string& text) { return kept_hwloc_xml(text); }

// The addresses in a topology file for NCCL.
Kept topology_addresses(const std::string& text) {
  return joined(addresses_in(text), "", [](const std::string& each) { return "<pci busid=\"" + each + "\"/>\n"; });
}

// The first row whose pattern matches applies. A file without a row is left out.
struct KeptFile {
  const char* files;
  Kept (*keep)(const std::string& text);
};
constexpr KeptFile kFiles[] = {
    {"sys/*/vpd", board_serial},
    {"sys/*/chassis_asset_tag", cloud_tag},
    {"sys/*", whole},
    {"proc/cmdline", kernel_command_line},
    {"proc/cpuinfo", cpu_lines},
    {"proc/meminfo", memory_size},
    {"proc/modules", loaded_modules},
    {"proc/uptime", numbers},
    {"proc/irq/*", numbers},
    {"proc/net/route", default_routes},
    {"proc/net/ipv6_route", default_routes},
    {"proc/sys/kernel/hostname", first_line},
    {"proc/sys/kernel/osrelease", word},
    {"proc/sys/kernel/random/boot_id", word},
    {"proc/sys/*", numbers},
    {"proc/driver/nvidia/version", nvidia_version},
    {"proc/driver/nvidia/gpus/*/information", gpu_lines},
    {"proc/1/comm", first_process},
    {"proc/2/comm", second_process},
    {"proc/[0-9]*/comm", service_process},
    {"proc/[0-9]*/cgroup", unit_of_process},
    {"proc/[0-9]*/cmdline", lldpad_arguments},
    {"proc/[0-9]*/status", process_ids},
    {"proc/[0-9]*/limits", process_limits},
    {"proc/config.gz", packed_kernel_options},
    {"boot/config-*", kernel_options},
    {"lib/modules/*/config", kernel_options},
    {"lib/modules/*/modules.dep", nic_modules},
    {"lib/modules/*/modules.builtin", nic_modules},
    {"etc/hostname", first_line},
    {"etc/os-release", distribution},
    {"etc/security/limits*.conf", user_limits},
    {"etc/libibverbs.d/*", driver_lines},
    {"*-rdmav*.so", provider_abis},
    {"var/lib/lldpad/lldpad.conf", lldpad_ports},
    {"opt/microsoft/*.xml", topology_addresses},
    {"etc/crusoe/nccl_topo/*.xml", topology_addresses},
    {"var/run/nvidia-topologyd/*.xml", topology_addresses},
    {"etc/modprobe.d/*.conf", module_lines},
    {"run/modprobe.d/*.conf", module_lines},
    {"lib/modprobe.d/*.conf", module_lines},
    {"usr/lib/modprobe.d/*.conf", module_lines},
    {"usr/local/lib/modprobe.d/*.conf", module_lines},
    {"etc/rdma/modules/*.conf", module_list},
    {"etc/modules-load.d/*.conf", module_list},
    {"run/modules-load.d/*.conf", module_list},
    {"lib/modules-load.d/*.conf", module_list},
    {"usr/lib/modules-load.d/*.conf", module_list},
    {"usr/local/lib/modules-load.d/*.conf", module_list},
    {"etc/systemd/*", unit_limits},
    {"run/systemd/*", unit_limits},
    {"lib/systemd/*", unit_limits},
    {"usr/lib/systemd/*", unit_limits},
    {"usr/local/lib/systemd/*", unit_limits},
    {"etc/fabric-agent/*.toml", kept_config},
    {"usr/share/fabric-agent/*.toml", kept_config},
    {"var/lib/fabric-agent/*.toml", kept_config},
    {"run/fabric-*/*.json", own_file},
    {"var/lib/fabric-*/*.json", own_file},
    {kHwlocFile, hwloc_xml},
};

// The files that slurm.conf includes, whose names people choose, and whether a line in one of them decides.
struct SlurmFiles {
  std::set<std::string> included;
  bool decide = false;
};
SlurmFiles slurm_files(const Tape& tape) {
  SlurmFiles out;
  for (const auto& [question, samples] : tape.answers) {
    const auto& [ask, what] = question;
    const Answer& answer = samples.begin()->second;
    if (ask != Ask::read || !what.ends_with("/slurm.conf") || !answer || answer->empty()) continue;
    const auto limits =
        host::parse_slurm_limits(answer->front(), "/" + what, [&](const std::string& other) -> Result<std::string> {
          const std::string file = other.substr(1);
          out.included.insert(file);
          const Answer* included = tape.find(Ask::read, file);
          if (included == nullptr || !*included || (*included)->empty()) return error(ENOENT, other);
          return (*included)->front();
        });
    out.decide = out.decide || limits.where.file != "/" + what;
  }
  return out;
}

}  // namespace

std::vector<std::string> keep_used(Tape& tape, const SiteFiles& site) {
  const SlurmFiles slurm = slurm_files(tape);
  if (!slurm.decide)
    std::erase_if(tape.answers, [&](const auto& entry) {
      return is_of_files(entry.first.first) && slurm.included.contains(entry.first.second);
    });
  const auto row_of = [](const std::string& what) {
    return find_where(kFiles, [&](const KeptFile& each) { return glob_match(each.files, what); });
  };
  const auto kept = [&](Ask ask, const std::string& what, const std::string& text) -> Kept {
    if (ask == Ask::query) return what == kHwlocQuestion ? kept_hwloc_xml(text) : text;
    if (what == site.cabling) return cables_kept(text, site);
    if (site.configuration.contains(what)) return kept_config(text);
    if (slurm.included.contains(what) || what.ends_with("/slurm.conf")) return slurm_lines(text, slurm.decide);
    const auto* row = row_of(what);
    if (row == nullptr) return std::nullopt;
    return row->keep(text);
  };
  std::set<std::string> reduced;
  std::set<std::string> known;  // the files that there are still questions about
  for (auto entry = tape.answers.begin(); entry != tape.answers.end();) {
    const auto& [ask, what] = entry->first;
    bool is_kept = true;
    for (auto& [sample, answer] : entry->second) {
      if (ask == Ask::route && answer)
        for (std::string& part : *answer) part = without_alias(std::move(part));
      if ((ask != Ask::read && ask != Ask::query) || !answer || answer->empty()) continue;
      Kept text = kept(ask, what, answer->front());
      is_kept = is_kept && text;
      if (text == answer->front()) continue;
      if (ask == Ask::read) {
        const auto parts = split(what, '/');
        const bool is_process = parts.size() == 3 && parts[0] == "proc" && parse_number<unsigned>(parts[1]);
        std::string file = "/" + what;
        if (is_process) file = "/proc/*/" + std::string(parts[2]);
        else if (const auto* row = row_of(what); row != nullptr && !text)
          file = "/" + std::string(row->files);  // people may have chosen the name
        reduced.insert(std::move(file));
      }
      if (text) answer->front() = std::move(*text);
    }
    if (is_kept && is_of_files(ask)) known.insert(what);
    entry = is_kept ? std::next(entry) : tape.answers.erase(entry);
  }
  // The names in folders other than the kernel's that the programs used.
  const auto is_known = [&](const std::string& path) {
    const auto below = known.lower_bound(path + "/");
    return known.contains(path) || (below != known.end() && below->starts_with(path + "/"));
  };
  for (auto& [question, samples] : tape.answers) {
    const auto& [ask, what] = question;
    const bool is_kernels =
        what.starts_with("sys/") || what.starts_with("proc/irq/") || what.starts_with("proc/driver/");
    if (ask != Ask::list || is_kernels) continue;
    for (auto& [sample, answer] : samples)
      if (answer)
        std::erase_if(*answer, [&, &folder = what](const std::string& name) { return !is_known(folder + "/" + name); });
  }
  return {reduced.begin(), reduced.end()};
}

}  // namespace fabric::ctl
