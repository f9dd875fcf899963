// SPDX-License-Identifier: Apache-2.0
// The messages for an impossible or doubtful configuration: each message whole. A rejected value is corrected as its
// operator meant it, or an example is named as one. Over all keys: a value that the key accepts, written as people
// write it, comes back as the same value or as an example, never as another value.
#include "judge/rule.h"
#include "policy/config.h"
#include "policy/keys.h"
#include "policy/match.h"
#include "policy/port_entry.h"
#include "policy/rule_keys.h"
#include "policy/show_config.h"
#include "setting/setting_table.h"
#include "support/config.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;

// -- Messages

const std::string kProfiles = FABRIC_SOURCE_DIR "/etc/profiles";

Result<LoadedConfig> parsed(const std::string& text) { return parse_config(text, "f.toml", kProfiles); }

struct Bad {
  std::string text, says;
};

// clang-format off
const Bad kBad[] = {
    {"mode = audit\n",
     "f.toml:1:8: Error while parsing value: could not determine value type; put text into quotes: write mode = \"audit\""},
    {"mode = \"audit\"\nmode = \"enforce\"\n",
     "f.toml:2:8: Error while parsing key-value pair: cannot redefine existing string 'mode'; keep one of the two"},
    {"[[port]\n",
     "f.toml:1:8: Error while parsing table header: expected ']', saw '\\n'; write [TABLE], or [[port]]"},
    {"[[port]]\nmtu = 99999999999999999999\n",
     "f.toml:2:27: Error while parsing decimal integer: '99999999999999999999' is not representable in 64 bits; write a smaller number"},
    {"disruptive = idle\n",
     "f.toml:1:15: Error while parsing floating-point: expected 'inf', saw 'id'; put text into quotes: write disruptive = \"idle\""},
    {"[rules.acs]\nenabled = false\nuntil = 2026-13-01\n",
     "f.toml:3:16: Error while parsing date: expected month between 1 and 12 (inclusive), saw 13; write a date as YYYY-MM-DD, for example until = 2027-01-31"},
    {"[rules.acs]\nenabled = false\nuntil = 31.12.2026\n",
     "f.toml:3:14: Error while parsing floating-point: expected decimal digit or exponent, saw '.'; write a date as YYYY-MM-DD, for example until = 2027-01-31"},
    {"[[port]]\nmatch = { pci = 0000:17:00.0 }\n",
     "f.toml:2:19: Error while parsing time: expected ':', saw '0'; put text into quotes"},
    {"[[port]]\nmatch = {\n  driver = \"ice\"\n}\n",
     "f.toml:2:10: Error while parsing inline table: expected key or closing '}', saw '\\n'; write a table in braces in one line, without a comma at its end"},
    {"[[port]]\nname = \"a\nmtu = 9000\n",
     "f.toml:2:10: Error while parsing string: unescaped control characters other than TAB (U+0009) are explicitly prohibited; close the quotes in the same line"},
    {"mode = \u201caudit\u201d\n",
     "f.toml:1:8: Error while parsing value: could not determine value type; put text into quotes: write mode = \"audit\""},
    {"mode = \"audit\"\nx\u00e9 = 1\n",
     "f.toml:2:2: Error while parsing key-value pair: expected '=', saw '\u00e9'; write KEY = VALUE"},
    {"mdoe = \"audit\"\n",
     "f.toml:1:1: unknown key \"mdoe\"; did you mean \"mode\"?"},
    {"[[port]]\nmtu = 9000\nmode = \"enforce\"\n",
     "f.toml:3:1: unknown key \"mode\" here: it belongs to the top of the file, above the first line in brackets"},
    {"mode = \"audit\"\nreraed = 3\n",
     "f.toml:2:1: unknown key \"reraed\"; did you mean \"reread\"?"},
    {"zzzzzzzzzzzz = 1\n",
     "f.toml:1:1: unknown key \"zzzzzzzzzzzz\"; known here: mode disruptive reread maintenance release optics conflict cabling fabric expect exporter rules traffic cnp firmware driver_version sysctl port"},
    {"pfc = [3]\n",
     "f.toml:1:1: unknown key \"pfc\" here: it belongs to a [[port]] entry"},
    {"raw = \"all\"\n",
     "f.toml:1:1: unknown key \"raw\" here: it belongs to [exporter]"},
    {"[[port]]\nspeed = \"400G\"\n",
     "f.toml:2:1: unknown key \"speed\" here: it belongs to [expect] or match of a [[port]] entry"},
    {"[export]\n",
     "f.toml:1:2: unknown key \"export\"; did you mean \"exporter\"?"},
    {"[[port]]\nmtu = 1\n\n[expect]\nspeed = 0\ngpus = -1\n",
     "f.toml:2:7: mtu: expected an integer from 68 to 65535, not 1 (bytes); for example mtu = 4200\n"
     "f.toml:5:9: expect.speed: expected a speed in Mb/s, or in Gb/s as \"400G\", not 0; for example speed = 400000\n"
     "f.toml:6:8: expect.gpus: expected an integer from 0 to 256, not -1; for example gpus = 8"},
    {"[conflict]\nwindows = 3\n",
     "f.toml:2:1: unknown key \"windows\"; did you mean \"window\"?"},
    {"[[port]]\npcf = [3]\n",
     "f.toml:2:1: unknown key \"pcf\"; did you mean \"pfc\"?"},
    {"[[port]]\nmatch = { drivers = \"x\" }\nmtu = 9000\n",
     "f.toml:2:11: unknown key \"drivers\"; did you mean \"driver\"?"},
    {"exporter = 3\n",
     "f.toml:1:12: exporter: expected a table, not 3; write [exporter]"},
    {"[port]\npfc = [3]\n",
     "f.toml:1:1: port: expected [[port]] entries, not a table; write [[port]] with two brackets"},
    {"expect = 8\n",
     "f.toml:1:10: expect: expected a table, not 8; write [expect]"},
    {"[expect]\ngpu = 8\n",
     "f.toml:2:1: unknown key \"gpu\"; did you mean \"gpus\"?"},
    {"firmware = \"28.39.1002\"\n",
     "f.toml:1:12: firmware: expected a table, not the string \"28.39.1002\"; write [firmware]"},
    {"[[port]]\ndscp2prio = \"set,26,3\"\n",
     "f.toml:2:1: unknown key \"dscp2prio\": it is dscp_map; write dscp_map = { 26 = 3 }"},
    {"[[port]]\ndscp_to_tc_map = \"26:3 48:6\"\n",
     "f.toml:2:1: unknown key \"dscp_to_tc_map\": it is dscp_map; write dscp_map = { 26 = 3, 48 = 6 }"},
    {"[[port]]\npfc_enable = \"3,4\"\n",
     "f.toml:2:1: unknown key \"pfc_enable\": it is pfc; write pfc = [3, 4]"},
    {"[[port]]\nprio-pfc = \"all:off 3:on\"\n",
     "f.toml:2:1: unknown key \"prio-pfc\": it is pfc; write pfc = [3]"},
    {"[[port]]\ncma_roce_tos = 106\n",
     "f.toml:2:1: unknown key \"cma_roce_tos\": it is roce_tos; write roce_tos = 106"},
    {"dscp2prio = \"set,26,3\"\n",
     "f.toml:1:1: unknown key \"dscp2prio\" here: it is dscp_map of a [[port]] entry"},
    {"[exporter]\nethtol = []\n",
     "f.toml:2:1: unknown key \"ethtol\"; did you mean \"ethtool\"?"},
    {"sysctl = 1\n",
     "f.toml:1:10: sysctl: expected a table, not 1; write [sysctl]"},
    {"[sysctl]\n\"net.ipv4.tcp_enc\" = 1\n",
     "f.toml:2:1: unknown host setting \"net.ipv4.tcp_enc\"; did you mean \"net.ipv4.tcp_ecn\"?"},
    {"[sysctl]\n\"net.ipv4.conf.ens1f0.100.rp_filter\" = 2\n",
     "f.toml:2:1: sysctl.net.ipv4.conf.ens1f0.100.rp_filter: a dot in the name of an interface is written as a slash; write "
     "\"net.ipv4.conf.ens1f0/100.rp_filter\""},
    {"[sysctl]\n\"net.ipv4.conf.*.rp_filter\" = 2\n",
     "f.toml:2:1: sysctl.net.ipv4.conf.*.rp_filter: replace * by an interface, \"all\" or \"default\"; for example \"net.ipv4.conf.all.rp_filter\""},
    {"[sysctl]\n\"kernel.panic\" = 1\n",
     "f.toml:2:1: unknown host setting \"kernel.panic\"; known here: kernel.numa_balancing net.core.netdev_budget net.core.netdev_max_backlog net.core.optmem_max net.core.rmem_default net.core.rmem_max net.core.wmem_default net.core.wmem_max net.ipv4.conf.*.accept_local net.ipv4.conf.*.arp_announce net.ipv4.conf.*.arp_filter net.ipv4.conf.*.arp_ignore net.ipv4.conf.*.rp_filter net.ipv4.neigh.default.gc_thresh1 net.ipv4.neigh.default.gc_thresh2 net.ipv4.neigh.default.gc_thresh3 net.ipv4.tcp_ecn net.ipv4.tcp_mtu_probing net.ipv4.tcp_rmem net.ipv4.tcp_timestamps net.ipv4.tcp_wmem vm.zone_reclaim_mode"},
    {"[sysctl]\nnet.ipv4.tcp_ecn = 9\n",
     "f.toml:2:20: sysctl.net.ipv4.tcp_ecn: expected a number from 0 to 5, not \"9\"; for example \"net.ipv4.tcp_ecn\" = 2"},
    {"[sysctl]\n\"net.ipv4.tcp_rmem\" = \"1 2\"\n",
     "f.toml:2:23: sysctl.net.ipv4.tcp_rmem: expected 3 numbers from 1 to 2147483647, not \"1 2\"; for example \"net.ipv4.tcp_rmem\" = \"4096 131072 67108864\""},
    {"[sysctl]\n\"net.ipv4.tcp_ecn\" = true\n",
     "f.toml:2:22: sysctl.net.ipv4.tcp_ecn: expected a number or a string of numbers, not true; for example \"net.ipv4.tcp_ecn\" = 2"},
    {"[[port]]\ntraffic = { dscp = 26, priority = 3 }\ncnp = { dscp = 48, priority = 3 }\n",
     "f.toml:3:7: cnp: priority 3 is the lossless one of traffic: while PFC pauses it, the CNPs that would end the congestion wait, too; write another priority"},
    {"[[port]]\ntraffic = { dscp = 26, priority = 3 }\ncnp = { dscp = 26, priority = 6 }\n",
     "f.toml:3:7: cnp: DSCP 26 is that of traffic, which has priority 3; write another DSCP"},
    {"[[port]]\nprofile = \"nvidia\"\n",
     "f.toml:2:11: profile: there is no \"nvidia\" in PROFILES; it has \"amd-pollara\", \"broadcom-thor2\", \"intel-e810\", \"nvidia-dcqcn\", \"nvidia-lossy\", \"nvidia-scheduled\", \"nvidia-spectrum-x\", \"oci\""},
    {"[[port]]\nprofile = \"../fabric-agent\"\n",
     "f.toml:2:11: profile: there is no \"../fabric-agent\" in PROFILES; it has \"amd-pollara\", \"broadcom-thor2\", \"intel-e810\", \"nvidia-dcqcn\", \"nvidia-lossy\", \"nvidia-scheduled\", \"nvidia-spectrum-x\", \"oci\""},
    {"[[port]]\nname = \"\"\nmtu = 9000\n",
     "f.toml:2:8: name: the string is empty; for example name = \"rail\", or leave it out"},
    {"[[port]]\nname = \"a\"\nmatch = { numa = 0 }\nmtu = 9000\n[[port]]\nname = \"a\"\nmtu = 9000\n",
     "f.toml:5:1: name: \"a\" is taken by the entry at f.toml:1; write another name"},
    {"[[port]]\nmatch = \"mlx5\"\nmtu = 9000\n",
     "f.toml:2:9: match: expected a table, not the string \"mlx5\"; for example match = { driver = \"mlx5_core\" }"},
    {"[[port]]\nmatch = { driver = 5 }\nmtu = 9000\n",
     "f.toml:2:20: match.driver: expected a pattern, not 5; for example driver = \"mlx5_core\""},
    {"[[port]]\nmatch = { rdma = [] }\nmtu = 9000\n",
     "f.toml:2:18: match.rdma: the list is empty; for example rdma = \"mlx5_*\""},
    {"[[port]]\nmatch = { rdma = [\"\"] }\nmtu = 9000\n",
     "f.toml:2:19: match.rdma: expected a device, or a pattern of devices, not the string \"\"; for example rdma = \"mlx5_*\""},
    {"[[port]]\nmatch = { rdma = \"mlx5_0/1\" }\nmtu = 9000\n",
     "f.toml:2:18: match.rdma: expected a device, or a pattern of devices, not the string \"mlx5_0/1\"; write rdma = \"mlx5_0\""},
    {"[[port]]\nmatch = { netdev = [\"ens1\", \"mlx5_0/1@ens2\"] }\nmtu = 9000\n",
     "f.toml:2:29: match.netdev: expected a netdev, or a pattern of netdevs, not the string \"mlx5_0/1@ens2\"; write netdev = [\"ens1\", \"ens2\"]"},
    {"[[port]]\nmatch = { netdev = \"ens{1,2}np0\" }\nmtu = 9000\n",
     "f.toml:2:20: match.netdev: expected a netdev, or a pattern of netdevs, not the string \"ens{1,2}np0\"; write netdev = [\"ens1np0\", \"ens2np0\"]"},
    {"[[port]]\nmatch = { rdma = \"mlx5_[0-3\" }\nmtu = 9000\n",
     "f.toml:2:18: match.rdma: expected a device, or a pattern of devices, not the string \"mlx5_[0-3\"; for example rdma = \"mlx5_*\""},
    {"[[port]]\nmatch = { pci = \"17:00.0\" }\nmtu = 9000\n",
     "f.toml:2:17: match.pci: expected a PCI address with domain and function, or a pattern of it, not the string \"17:00.0\"; write pci = \"0000:17:00.0\""},
    {"[[port]]\nmatch = { pci = \"0000:17:00\" }\nmtu = 9000\n",
     "f.toml:2:17: match.pci: expected a PCI address with domain and function, or a pattern of it, not the string \"0000:17:00\"; write pci = \"0000:17:00.*\""},
    {"[[port]]\nmatch = { pci = \"17:*\" }\nmtu = 9000\n",
     "f.toml:2:17: match.pci: expected a PCI address with domain and function, or a pattern of it, not the string \"17:*\"; write pci = \"0000:17:*\""},
    {"[[port]]\nmatch = { pci_id = \"ConnectX-7\" }\nmtu = 9000\n",
     "f.toml:2:20: match.pci_id: expected vendor and device in hexadecimal, or a pattern of them, not the string \"ConnectX-7\"; for example pci_id = \"15b3:1021\""},
    {"[[port]]\nmatch = { speed = \"fast\" }\nmtu = 9000\n",
     "f.toml:2:19: match.speed: expected a speed in Mb/s, or in Gb/s as \"400G\", not the string \"fast\"; for example speed = \"400G\""},
    {"[[port]]\nmatch = { speed = 400 }\nmtu = 9000\n",
     "f.toml:2:19: match.speed: expected a speed in Mb/s, or in Gb/s as \"400G\", not 400; write speed = \"400G\""},
    {"[[port]]\nmatch = { numa = \"left\" }\nmtu = 9000\n",
     "f.toml:2:18: match.numa: expected a NUMA node from 0 to 1023, not the string \"left\"; for example numa = 0"},
    {"[[port]]\nmatch = { numa = -1 }\nmtu = 9000\n",
     "f.toml:2:18: match.numa: expected a NUMA node from 0 to 1023, not -1; for example numa = 0"},
    {"[[port]]\nmatch = { role = \"storage\" }\nmtu = 9000\n",
     "f.toml:2:18: match.role: expected \"compute\" or \"host\", not the string \"storage\"; for example role = \"compute\""},
    {"[[port]]\npfc = [3]\npause = \"rx,tx\"\n",
     "f.toml:3:9: pause: global pause and pfc exclude each other (802.1Qbb); write pause = \"off\""},
    {"[[port]]\ntrust = \"pcp\"\ndscp_map = { 26 = 3 }\n",
     "f.toml:2:9: trust: dscp_map has no effect while trust is \"pcp\"; write trust = \"dscp\", or leave dscp_map out"},
    {"[[port]]\ntrust = \"dscp\"\napptrust = [\"pcp\", \"dscp\"]\n",
     "f.toml:3:12: apptrust: trust is \"dscp\", and another field comes first here; write apptrust = [\"dscp\", \"pcp\"]"},
    {"[[port]]\napptrust = [\"pcp\"]\ndscp_map = { 26 = 3 }\n",
     "f.toml:2:12: apptrust: dscp_map has no effect without \"dscp\"; write apptrust = [\"dscp\", \"pcp\"], or leave dscp_map out"},
    {"[[port]]\ntrust = \"pcp\"\napptrust = \"dscp\"\n",
     "f.toml:3:12: apptrust: trust is \"pcp\", and another field comes first here; write apptrust = [\"pcp\"]"},
    {"[[port]]\nfw_lldp = true\ndcbx = \"host\"\n",
     "f.toml:2:11: fw_lldp: the firmware's LLDP agent owns DCBX while it runs, but dcbx is \"host\"; write fw_lldp = false"},
    {"[[port]]\nmatch = { speed = \"400G\" }\nmtu = 9000\ncable_length = 30\npfc = [3]\ndscp_map = { 26 = 3 }\nprio2buffer = [0,0,0,1,0,0,0,0]\nbuffer_size = [20000,100000,0,0,0,0,0,0]\n",
     "f.toml:8:15: buffer_size: buffer 1 of priority 3 has 100000 bytes, but needs 179824 to be lossless at 400 Gb/s with MTU 9000 and 30 m of cable: the driver would reject it; write buffer_size = \"auto\""},
    {"[[port]]\npfc = [3]\nprio2buffer = [0,0,0,1,0,0,0,0]\nbuffer_size = [20000,20000,0,0,0,0,0,0]\n",
     "f.toml:4:15: buffer_size: buffer 1 of priority 3 has 20000 bytes, but needs 26064 to be lossless at 40 Gb/s with MTU 1500 and 7 m of cable: the driver would reject it; write buffer_size = \"auto\""},
    {"[[port]]\nprio2buffer = [0,0,0,1,0,0,0,0]\nbuffer_size = [20000,0,0,0,0,0,0,0]\n",
     "f.toml:3:15: buffer_size: buffer 1 of priority 3 has no bytes: every packet would be lost; write buffer_size = \"auto\""},
    {"[[port]]\nrpg_min_rate = 200\nrpg_max_rate = 100\n",
     "f.toml:2:16: rpg_min_rate: 200 is above rpg_max_rate, 100: no flow would ever be limited; write less"},
    {"[[port]]\nprofile = \"nvidia-dcqcn\"\npause = \"rx\"\n",
     "f.toml:3:9: pause: global pause and pfc exclude each other (802.1Qbb); write pause = \"off\""},
};
// clang-format on

// A value that its key does not take: what is wrong with it, and the advice ("write VALUE", "for example VALUE");
// empty: the example of the key.
struct BadValue {
  std::string section, key, value, fault, advice;
  size_t at = 0;  // of the fault in the value
};
struct KeyExample {
  std::string section, key, value;
};

// clang-format off
const KeyExample kExamples[] = {
    {"", "reread", "\"30s\""},
    {"[conflict]", "rounds", "5"},
    {"[exporter]", "ethtool", "[\"*_xdp_drop\"]"},
    {"[exporter]", "sample_cpu_budget", "\"2%\""},
    {"", "traffic", "{ dscp = 26, priority = 3 }"},
    {"[[port]]", "mtu", "4200"},
    {"[[port]]", "dscp_map", "{ 26 = 3, 48 = 6 }"},
    {"[[port]]", "prio2buffer", "[0,0,0,1,0,0,0,0]"},
    {"[[port]]", "buffer_size", "\"auto\""},
    {"[[port]]", "maxrate", "[0,0,0,100000000,0,0,0,0]"},
    {"[[port]]", "traffic_class", "106"},
    {"[[port]]", "mrrs", "4096"},
    {"", "maintenance", "[\"Sat 02:00-04:00\"]"},
    {"[firmware]", "MT_1", "\"28.39.*\""},
    {"[[port]]", "cnp", "{ dscp = 48, priority = 6 }"},
    {"[[port]]", "fec", "\"rs\""},
    {"[[port]]", "apptrust", "[\"dscp\", \"pcp\"]"},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,1,0,0,2,0], tsa = [\"ets\",\"ets\",\"strict\"], bw = [50,50,0] }"},
};

const BadValue kBadValues[] = {
    {"", "mode", "\"on\"", "expected \"audit\" or \"enforce\", not the string \"on\"", "for example \"audit\""},
    {"", "disruptive", "\"later\"", "expected \"idle\" or \"now\" or \"never\", not the string \"later\"", "for example \"idle\""},
    {"", "release", "\"later\"", "expected \"leave\" or \"restore\", not the string \"later\"", "for example \"leave\""},
    {"", "release", "\"keep\"", "expected \"leave\" or \"restore\", not the string \"keep\"", "write \"leave\""},
    {"", "reread", "0", "expected a time span from 1s to 1h, not 0", ""},
    {"", "reread", "\"30 parsecs\"", "expected a time span from 1s to 1h, not the string \"30 parsecs\"", ""},
    {"[conflict]", "rounds", "0", "expected an integer from 1 to 1000, not 0", ""},
    {"[conflict]", "rounds", "true", "expected an integer from 1 to 1000, not true", ""},
    {"[exporter]", "listen", "\":80\"", "expected numeric ADDRESS:PORT, not \":80\"", "write [\"0.0.0.0:80\", \"[::]:80\"]"},
    {"[exporter]", "listen", "[\":80\"]", "expected numeric ADDRESS:PORT, not \":80\"", "write [\"0.0.0.0:80\", \"[::]:80\"]"},
    {"[exporter]", "listen", "[\"[::]:99999\"]", "expected numeric ADDRESS:PORT, not \"[::]:99999\"", "for example [\"0.0.0.0:10479\", \"[::]:10479\"]"},
    {"[expect]", "gpus", "257", "expected an integer from 0 to 256, not 257", "for example 8"},
    {"[expect]", "compute_nics", "-1", "expected an integer from 0 to 256, not -1", "for example 8"},
    {"[expect]", "gid_index", "\"3\"", "expected an integer from 0 to 255, not the string \"3\"", "write 3"},
    {"[expect]", "speed", "\"fast\"", "expected a speed in Mb/s, or in Gb/s as \"400G\", not the string \"fast\"", "for example 400000"},
    {"[driver_version]", "mlx5_core", "true", "expected a string or an array of strings, not true", "for example \"24.10-*\""},
    {"", "optics", "\"5s\"", "expected 0 or a time span from 10s to 1h, not the string \"5s\"", "for example \"60s\""},
    {"[exporter]", "ethtool", "3", "expected a string or an array of strings, not 3", ""},
    {"[exporter]", "ethtool", "[\"rx_*\", true]", "expected a string, not true", "", 9},
    {"[exporter]", "ethtool", "[\"rx_*\", \"\"]", "the string is empty", "", 9},
    {"[exporter]", "series_limit", "1", "expected an integer from 100 to 1000000, not 1", "for example 4000"},
    {"[exporter]", "sample_cpu_budget", "true", "expected a share of one core from 0.1% to 100%, not true", ""},
    {"[exporter]", "sample_cpu_budget", "\"200%\"", "expected a share of one core from 0.1% to 100%, not the string \"200%\"", ""},
    {"", "traffic", "{ dscp = 64, priority = 3 }", "expected an integer from 0 to 63, not 64", "write { dscp = 16, priority = 3 }", 9},
    {"", "traffic", "26", "expected a table with dscp and priority, or \"none\", not 26", ""},
    {"", "traffic", "{ dscp = 26 }", "expected a table with dscp and priority, or \"none\"", ""},
    {"[[port]]", "dcbx", "\"none\"", "expected \"host\" or \"firmware\", not the string \"none\"", "for example \"host\""},
    {"[[port]]", "fw_lldp", "\"off\"", "expected true or false, not the string \"off\"", "write false"},
    {"[[port]]", "pause", "false", "expected \"off\" or \"rx\" or \"tx\" or \"rx,tx\", not false", "write \"off\""},
    {"[[port]]", "mtu", "67", "expected an integer from 68 to 65535, not 67 (bytes)", ""},
    {"[[port]]", "mtu", "70000", "expected an integer from 68 to 65535, not 70000 (bytes)", ""},
    {"[[port]]", "mtu", "-1", "expected an integer from 68 to 65535, not -1 (bytes)", ""},
    {"[[port]]", "mtu", "4200.0", "expected an integer from 68 to 65535, not a floating-point number (bytes)", "write 4200"},
    {"[[port]]", "ring_rx", "0", "expected an integer from 1 to 65536, not 0", "for example 8192"},
    {"[[port]]", "channels", "5000", "expected an integer from 1 to 4096, not 5000", "for example 64"},
    // The ID of the VLAN, or its priority.
    {"[[port]]", "trust", "\"vlan\"", "expected \"dscp\" or \"pcp\", not the string \"vlan\"", "for example \"dscp\""},
    {"[[port]]", "trust", "\"vlan-pcp\"", "expected \"dscp\" or \"pcp\", not the string \"vlan-pcp\"", "write \"pcp\""},
    {"[[port]]", "trust", "\"both\"", "expected \"dscp\" or \"pcp\", not the string \"both\"", "for example \"dscp\""},
    {"[[port]]", "dscp_map", "{ 64 = 3 }", "expected each DSCP from 0 to 63 once, not \"64\"", "write { 16 = 3 }", 7},
    {"[[port]]", "dscp_map", "{ 26 = 8 }", "expected an integer from 0 to 7, not 8", "", 7},
    {"[[port]]", "dscp_map", "{ x = 1 }", "expected each DSCP from 0 to 63 once, not \"x\"", "", 6},
    {"[[port]]", "dscp_map", "{ 01 = 1, 1 = 2 }", "expected each DSCP from 0 to 63 once, not \"1\"", "", 14},
    {"[[port]]", "dscp_map", "[26]", "expected a table of DSCP = priority, not an array", ""},
    {"[[port]]", "dscp_map", "\"set,26,3 set,48,6\"", "expected a table of DSCP = priority, not the string \"set,26,3 set,48,6\"", "write { 26 = 3, 48 = 6 }"},
    {"[[port]]", "prio2buffer", "[0,0,0,8,0,0,0,0]", "expected an integer from 0 to 7, not 8", "", 7},
    {"[[port]]", "prio2buffer", "[0, 1]", "expected eight numbers from 0 to 7, one per priority, not 2 of them", ""},
    {"[[port]]", "buffer_size", "\"large\"", "expected eight sizes in bytes, or \"auto\", not the string \"large\"", ""},
    {"[[port]]", "buffer_size", "[1, 2]", "expected eight sizes in bytes, or \"auto\", not 2 of them", ""},
    {"[[port]]", "pfc", "3", "expected an array of priorities 0 to 7, not 3", "write [3]"},
    {"[[port]]", "pfc", "[8]", "expected an integer from 0 to 7, not 8", "for example [3]", 1},
    {"[[port]]", "pfc", "[3, 3]", "priority 3 is listed twice", "write [3]", 4},
    {"[[port]]", "maxrate", "100", "expected eight rates in kbit/s, one per traffic class, not 100", ""},
    {"[[port]]", "maxrate", "[400000000,0,0,0,0,0,0,0]", "400000000 is more than the 255 Gb/s that mlx5 can limit to: older drivers cut it to another rate", "", 1},
    {"[[port]]", "maxrate", "[150000,0,0,0,0,0,0,0]", "150000 would be rounded: mlx5 limits in steps of 100000 up to 25500000, of 1000000 above", "", 1},
    {"[[port]]", "maxrate", "[0,0,25600000,0,0,0,0,0]", "25600000 would be rounded: mlx5 limits in steps of 100000 up to 25500000, of 1000000 above", "", 5},
    {"[[port]]", "ecn_rp", "[9]", "expected an integer from 0 to 7, not 9", "for example [3]", 1},
    {"[[port]]", "cnp_dscp", "64", "expected an integer from 0 to 63, not 64", "write 16"},
    {"[[port]]", "cc", "1", "expected true or false, not 1", "write true"},
    {"[[port]]", "roce_mode", "\"v3\"", "expected \"v2\" or \"v1\", not the string \"v3\"", "for example \"v2\""},
    {"[[port]]", "roce_tos", "107", "107 has both ECN bits set, which marks every packet as congested", "write 106"},
    {"[[port]]", "traffic_class", "\"all\"", "expected an integer from 0 to 255, or \"none\", not the string \"all\"", ""},
    {"[[port]]", "traffic_class", "3", "3 has both ECN bits set, which marks every packet as congested", ""},
    {"[[port]]", "optional_counters", "[\"\"]", "expected the name of a counter, not the string \"\"", "for example \"all\"", 1},
    {"[[port]]", "optional_counters", "\"some\"", "expected an array of names, or \"all\", not the string \"some\"", "write [\"some\"]"},
    {"[[port]]", "mrrs", "1000", "expected a power of two, not 1000", ""},
    {"", "maintenance", "\"Sat\"", "expected days and times as \"Sat 02:00-04:00\", \"Mon-Fri 23:00-01:00\" or \"daily 03:00-04:00\", not the string \"Sat\"", ""},
    {"", "maintenance", "[\"Sat 02:00-02:00\"]", "expected days and times as \"Sat 02:00-04:00\", \"Mon-Fri 23:00-01:00\" or \"daily 03:00-04:00\", not the string \"Sat 02:00-02:00\"", "", 1},
    {"", "maintenance", "[\"Caturday 02:00-04:00\"]", "expected days and times as \"Sat 02:00-04:00\", \"Mon-Fri 23:00-01:00\" or \"daily 03:00-04:00\", not the string \"Caturday 02:00-04:00\"", "", 1},
    {"", "maintenance", "[\"daily 25:00-26:00\"]", "expected days and times as \"Sat 02:00-04:00\", \"Mon-Fri 23:00-01:00\" or \"daily 03:00-04:00\", not the string \"daily 25:00-26:00\"", "", 1},
    {"", "maintenance", "3", "expected days and times as \"Sat 02:00-04:00\", \"Mon-Fri 23:00-01:00\" or \"daily 03:00-04:00\", not 3", ""},
    {"[expect]", "class", "\"pix\"", "expected \"PIX\" or \"PXB\" or \"PHB\" or \"NODE\" or \"SYS\", not the string \"pix\"", "write \"PIX\""},
    {"[firmware]", "MT_1", "28", "expected a string or an array of strings, not 28", ""},
    {"[firmware]", "MT_1", "[]", "the list is empty: no version would be allowed", ""},
    {"[firmware]", "MT_1", "[\"28.*\", \"\"]", "the string is empty", "", 9},
    {"[exporter]", "raw", "\"unnamed\"", "expected \"unmapped\" or \"all\", not the string \"unnamed\"", "for example \"unmapped\""},
    {"[exporter]", "groups", "[\"lane\"]", "expected one or more of \"module_limits\", \"casts\", \"lanes\", \"bursts\", \"checks\", \"owners\", \"timings\", not \"lane\"", "write [\"lanes\"]"},
    {"[exporter]", "exclude", "[\"mlx5_1\", \"mlx5_0/1\"]", "expected RDMA devices, or patterns of them, not \"mlx5_0/1\"", "for example [\"mlx5_bond_*\"]"},
    {"[exporter]", "exclude", "\"mlx5_{0,1}\"", "expected RDMA devices, or patterns of them, not \"mlx5_{0,1}\"", "write [\"mlx5_0\", \"mlx5_1\"]"},
    {"[exporter]", "sample_interval", "\"5ms\"", "expected a time span from 10ms to 1min, or 0 for none, not the string \"5ms\"", "for example \"1s\""},
    {"[[port]]", "cnp", "{ dscp = 48, priority = 8 }", "expected an integer from 0 to 7, not 8", "", 24},
    {"[[port]]", "cnp", "\"off\"", "expected a table with dscp and priority, or \"none\", not the string \"off\"", ""},
    {"[[port]]", "front_end", "1", "expected true or false, not 1", "write true"},
    {"[[port]]", "profile", "\"\"", "the string is empty", "for example \"nvidia-dcqcn\""},
    {"[[port]]", "fec", "\"reed-solomon\"", "expected \"auto\", \"off\", \"rs\", \"baser\" or \"llrs\", not the string \"reed-solomon\"", "write \"rs\""},
    {"[[port]]", "fec", "[]", "the list is empty", ""},
    {"[[port]]", "fec", "[\"off\", \"rs\"]", "\"off\" excludes other modes", ""},
    {"[[port]]", "apptrust", "[\"dscp\", \"vlan\"]", "expected \"dscp\" or \"pcp\", not the string \"vlan\"", "", 9},
    {"[[port]]", "apptrust", "[\"dscp\", \"dscp\"]", "the string \"dscp\" is listed twice", "write [\"dscp\"]", 9},
    {"[[port]]", "apptrust", "[]", "the list is empty", ""},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,0,0,0,0,0] }", "tsa is missing", ""},
    {"[[port]]", "ets", "{ tsa = [\"ets\"], bw = [100] }", "prio_tc is missing", ""},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,8,0,0,0,0], tsa = [\"ets\"], bw = [100] }", "expected an integer from 0 to 7, not 8", "", 19},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"ets\"] }", "the bandwidths of the ets classes add up to 0, not 100", ""},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"strict\"], weight = [1] }", "unknown key \"weight\"; ets has prio_tc, tsa and bw", "write { prio_tc = [0, 0, 0, 0, 0, 0, 0, 0], tsa = [\"strict\"], bw = [0] }", 58},
    {"[[port]]", "ets", "{ prio_tc = [0,0], tsa = [\"ets\"], bw = [100] }", "expected eight traffic classes, one per priority, not 2 of them", "", 12},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,1,0,0,0,0], tsa = [\"ets\"], bw = [100] }", "priority 3 goes to traffic class 1, which has no algorithm: tsa lists 1", "", 37},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"ets\"], bw = [99] }", "the bandwidths of the ets classes add up to 99, not 100", "", 51},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"ets\", \"strict\"], bw = [90, 10] }", "traffic class 1 is strict, so it has no share of the bandwidth: its bw must be 0, not 10", "", 61},
    {"[[port]]", "ets", "{ prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"vendor\"] }", "expected \"strict\" or \"ets\", which every driver has", "", 38},
};
// clang-format on

// Entries that name no port, so that their ports may carry the machine's default route.
const std::string kNoPortNamed[] = {
    "{ driver = \"mlx5_core\" }",
    "{ netdev = \"*\" }",
    "{ netdev = \"?*\" }",
    "{ netdev = \"[a-z]*\" }",
    "{ rdma = [\"mlx5_0\", \"*\"] }",
    "{ pci = \"*:*.[0-9]\" }",
    "{ netdev = \"[[:alpha:]]*\", driver = \"mlx5_core\" }",
    "{ netdev = \"[]a]*\" }",
};

std::vector<Bad> all_bad() {
  std::vector<Bad> out(std::begin(kBad), std::end(kBad));
  for (const BadValue& each : kBadValues) {
    std::string head, table, advice = each.advice;
    if (!each.section.empty()) head = each.section + "\n";
    if (!each.section.empty() && !each.section.starts_with("[["))
      table = each.section.substr(1, each.section.size() - 2) + ".";
    for (const KeyExample& example : kExamples)
      if (advice.empty() && example.section == each.section && example.key == each.key)
        advice = "for example " + example.value;
    const std::string verb = advice.starts_with("write ") ? "write " : "for example ";
    const std::string place = (head.empty() ? "1:" : "2:") + std::to_string(each.key.size() + 4 + each.at);
    out.push_back({head + each.key + " = " + each.value + "\n", "f.toml:" + place + ": " + table + each.key + ": " +
                                                                    each.fault + "; " + verb + each.key + " = " +
                                                                    advice.substr(verb.size())});
  }
  for (const std::string& match : kNoPortNamed)
    out.push_back({"[[port]]\nmatch = " + match + "\nfront_end = true\nmtu = 9000\n",
                   "f.toml:3:13: front_end: its ports may carry the machine's default route, so the entry must name "
                   "them, for example by match = { netdev = \"eth0\" }; or leave front_end out"});
  return out;
}

struct Doubtful {
  const char* text;
  std::vector<std::string> says;
};

// clang-format off
const Doubtful kDoubtful[] = {
    {"[[port]]\n",
     {"f.toml:1:1: [[port]] has no setting: its ports stay unchanged"}},
    {"[[port]]\nmtu = 9000\n[[port]]\nmatch = { rdma = \"mlx5_0\" }\nmtu = 4200\n",
     {"f.toml:3:1: [[port]] is never reached: the entry at f.toml:1 matches all its ports and comes first; put this one before it"}},
    {"[[port]]\nmatch = { numa = 1 }\nmtu = 9000\n[[port]]\nmatch = { numa = 1 }\nmtu = 4200\n",
     {"f.toml:4:1: [[port]] is never reached: the entry at f.toml:1 matches all its ports and comes first; put this one before it"}},
    {"[[port]]\nmatch = { driver = \"mlx5_core\" }\nmtu = 9000\n[[port]]\nmatch = { pci_id = \"15b3:1023\" }\nmtu = 4200\n",
     {"f.toml:4:1: [[port]] is never reached: the entry at f.toml:1 matches all its ports and comes first; put this one before it"}},
    {"[[port]]\nmatch = { driver = \"bnxt_en\" }\nmtu = 9000\n[[port]]\nmatch = { pci_id = \"14e4:1760\" }\nmtu = 4200\n",
     {"f.toml:4:1: [[port]] is never reached: the entry at f.toml:1 matches all its ports and comes first; put this one before it"}},
    {"[[port]]\nmatch = { driver = \"mlx5\" }\ncnp_dscp = 48\n[[port]]\nmatch = { driver = \"bnxt\" }\ncnp_dscp = 46\n",
     {"f.toml:4:1: cnp_dscp: CNPs have DSCP 46 here and 48 in the entry at f.toml:1: the switches have one queue for CNPs, and the others wait among the data; write one value for the fabric, for example cnp at the top of the file"}},
    {"[[port]]\nmtu = 1500\n",
     {"f.toml:2:7: mtu: 1500 gives a RoCE path MTU below 4096; write mtu = 4200 or more"}},
    {"[[port]]\nmtu = 1500\npfc = [3, 4]\ntrust = \"dscp\"\ndscp_map = { 26 = 3 }\n",
     {"f.toml:2:7: mtu: 1500 gives a RoCE path MTU below 4096; write mtu = 4200 or more",
      "f.toml:3:7: pfc: no DSCP maps to priority 4, so no packet uses it; add it to dscp_map"}},
    {"[[port]]\nfec = \"off\"\n",
     {"f.toml:2:7: fec: links of 100 Gb/s and more lose packets without forward error correction; write fec = \"rs\", as on the switch"}},
    {"[[port]]\nmatch = { speed = [\"10G\", \"100G\"] }\nfec = \"off\"\n",
     {"f.toml:3:7: fec: links of 100 Gb/s and more lose packets without forward error correction; write fec = \"rs\", as on the switch"}},
    {"[[port]]\ncable_length = 30\n",
     {"f.toml:2:16: cable_length: sizes the headroom of lossless priorities, and this entry has no pfc"}},
    {"[[port]]\ndcbx = \"firmware\"\npfc = []\n",
     {"f.toml:2:8: dcbx: with \"firmware\", the NIC may replace pfc, ets and dscp_map by the values of the switch; write dcbx = \"host\""}},
    {"[[port]]\ntrust = \"dscp\"\ndscp_map = { 26 = 3 }\npfc = [3, 4]\n",
     {"f.toml:4:7: pfc: no DSCP maps to priority 4, so no packet uses it; add it to dscp_map"}},
    {"[[port]]\ndscp_map = { 10 = 0 }\npfc = [0]\n",
     {"f.toml:3:7: pfc: priority 0 also has all unmarked traffic (DSCP 0), which can then pause RoCE; map DSCP 0 to another priority in dscp_map"}},
    {"[[port]]\npfc = [3]\nets = { prio_tc = [0,0,0,1,0,0,0,0], tsa = [\"ets\", \"ets\"], bw = [100, 0] }\n",
     {"f.toml:3:7: ets: priority 3 is lossless, and its traffic class 1 gets 0 % of the link: RoCE starves behind the other classes; give the class a share in bw"}},
    {"[[port]]\npfc = [3]\nets = { prio_tc = [0,0,0,0,0,0,0,0], tsa = [\"ets\"], bw = [100] }\n",
     {"f.toml:3:7: ets: priority 3 is lossless, and its traffic class 0 also has lossy priorities: a pause stops those, too; give it a class of its own in prio_tc"}},
    {"[[port]]\npfc = [3]\nets = { prio_tc = [2,0,0,1,0,0,0,0], tsa = [\"ets\", \"ets\", \"strict\"], bw = [50, 50] }\n",
     {"f.toml:3:7: ets: priority 0, which has all unmarked traffic, goes to the strict traffic class 2: RoCE on priority 3 starves behind it; give it an ets class, and CNPs another priority"}},
    {"[[port]]\npfc = [3]\nprio2buffer = [0,0,0,0,0,0,0,0]\n",
     {"f.toml:3:15: prio2buffer: priority 3 is lossless and shares buffer 0 with the lossy priority 7: the NIC makes both lossless, and either fills the buffer; give the lossless one a buffer of its own"}},
    {"[[port]]\npfc = [3]\ncnp_prio = 3\n",
     {"f.toml:3:12: cnp_prio: priority 3 is lossless: while PFC pauses it, the CNPs that would end the congestion wait, too; write one without PFC"}},
    {"[[port]]\npfc = [3]\ndscp_map = { 26 = 3, 48 = 3 }\ncnp_dscp = 48\n",
     {"f.toml:4:12: cnp_dscp: dscp_map gives DSCP 48 priority 3, which is lossless: while PFC pauses it, the CNPs that would end the congestion wait, too; write one without PFC"}},
    {"[[port]]\ndscp_map = { 26 = 3, 48 = 5 }\ncnp_dscp = 48\ncnp_prio = 6\n",
     {"f.toml:3:12: cnp_dscp: dscp_map gives DSCP 48 priority 5, but CNPs have priority 6; write 48 = 6 in dscp_map"}},
    {"[[port]]\ndscp_map = { 26 = 3 }\ncnp_dscp = 48\n",
     {"f.toml:3:12: cnp_dscp: DSCP 48 has no priority in dscp_map, but CNPs need a priority of their own; for example 48 = 6 in dscp_map"}},
    {"[[port]]\ndscp_map = { 26 = 3, 10 = 1 }\npfc = [3]\nroce_tos = 42\n",
     {"f.toml:4:12: roce_tos: dscp_map gives DSCP 10 priority 1, which has no PFC: these packets can be lost; map it to a priority in pfc"}},
    {"[[port]]\ndscp_map = { 26 = 3 }\npfc = [3]\ntraffic_class = 98\n",
     {"f.toml:4:17: traffic_class: DSCP 24 has no priority in dscp_map: these packets can be lost; map it to a priority in pfc"}},
    {"[[port]]\ndscp_map = { 26 = 3, 10 = 1 }\npfc = [3]\nroce_dscp = 10\n",
     {"f.toml:4:13: roce_dscp: dscp_map gives DSCP 10 priority 1, which has no PFC: these packets can be lost; map it to a priority in pfc"}},
    {"[[port]]\ntrust = \"dscp\"\npfc = [3]\nroce_tos = 0\n",
     {"f.toml:4:12: roce_tos: without dscp_map, DSCP 0 has priority 0 by default (DSCP / 8), which has no PFC: these packets can be lost; write roce_tos = 106 (DSCP 26, priority 3)"}},
    {"[[port]]\ntrust = \"dscp\"\npfc = [5]\nroce_dscp = 26\n",
     {"f.toml:4:13: roce_dscp: without dscp_map, DSCP 26 has priority 3 by default (DSCP / 8), which has no PFC: these packets can be lost; write roce_dscp = 40 (DSCP 40, priority 5)"}},
    {"[[port]]\ntrust = \"dscp\"\npfc = [3]\nroce_tos = 106\ncnp_dscp = 48\n", {}},
    {"[[port]]\npfc = [3]\nroce_tos = 0\n", {}},  // the trust of the port is unknown
    {"[[port]]\ntrust = \"dscp\"\npfc = [0]\n",
     {"f.toml:3:7: pfc: priority 0 also has all unmarked traffic (DSCP 0), which can then pause RoCE; map DSCP 0 to another priority in dscp_map"}},
    {"[[port]]\ntrust = \"dscp\"\npfc = [3]\ncnp_dscp = 24\n",
     {"f.toml:4:12: cnp_dscp: without dscp_map, DSCP 24 has priority 3 by default (DSCP / 8), which is lossless: while PFC pauses it, the CNPs that would end the congestion wait, too; write one without PFC"}},
    {"[[port]]\nmatch = { driver = \"ice\" }\ndscp_map = { 26 = 3, 34 = 4 }\npfc = [3, 4]\n",
     {"f.toml:4:7: pfc: match.driver is \"ice\": Intel supports PFC on one traffic class (guide 635330); the driver accepts more, and does not show what the NIC does with them: keep one priority in pfc"}},
    {"[[port]]\nmatch = { driver = [\"mlx5_core\", \"ice*\"] }\nets = { prio_tc = [0,0,0,1,2,0,0,0], tsa = [\"ets\", \"ets\", \"ets\"], bw = [50, 25, 25] }\npfc = [3, 4]\n",
     {"f.toml:4:7: pfc: match.driver is \"ice*\": Intel supports PFC on one traffic class (guide 635330); the driver accepts more, and does not show what the NIC does with them: keep one priority in pfc"}},
    {"[[port]]\nmatch = { driver = \"ice\" }\ndscp_map = { 26 = 3 }\npfc = [3]\n", {}},
    {"[[port]]\nmatch = { driver = \"*\" }\ndscp_map = { 26 = 3, 34 = 4 }\npfc = [3, 4]\n", {}},
    {"[[port]]\nmatch = { driver = \"i40e\" }\ntrust = \"dscp\"\n",
     {"f.toml:3:9: trust: match.driver is \"i40e\": i40e does not map DSCPs: it takes the priority from the VLAN tag (E810 NICs map DSCPs)"}},
    {"[[port]]\nmatch = { driver = \"i40e\" }\ntraffic = { dscp = 26, priority = 3 }\n", {}},
    {"[[port]]\nmatch = { driver = \"mlx5*\" }\npfc_watchdog = 9000\n",
     {"f.toml:3:16: pfc_watchdog: match.driver is \"mlx5*\": mlx5 supports 0 (off) and 80 to 8000 milliseconds"}},
    {"[[port]]\nmatch = { driver = \"qede\" }\ndcbx = \"host\"\n",
     {"f.toml:3:8: dcbx: match.driver is \"qede\": this NIC's firmware always runs DCBX and takes ets and pfc as its offer: leave dcbx out"}},
    {"[[port]]\npfc = [3]\nroce_prio = 4\n",
     {"f.toml:3:13: roce_prio: priority 4 has no PFC: RoCE data can be lost; write one that is in pfc"}},
    {"[[port]]\ntrust = \"dscp\"\nroce_mode = \"v1\"\n",
     {"f.toml:3:13: roce_mode: packets of RoCE v1 have no IP header, so no DSCP that could select their priority; write roce_mode = \"v2\""}},
    {"[[port]]\ntraffic = { dscp = 26, priority = 3 }\ntrust = \"pcp\"\n",
     {"f.toml:3:9: trust: contradicts traffic (f.toml:2), which implies trust = \"dscp\"; write one of the two"}},
    {"[[port]]\ntraffic = { dscp = 26, priority = 3 }\npfc = []\n",
     {"f.toml:3:7: pfc: contradicts traffic (f.toml:2), which implies pfc = [3]; write one of the two"}},
    {"[[port]]\ntraffic = { dscp = 26, priority = 3 }\ndscp_map = { 26 = 4 }\npfc = [3, 4]\n",
     {"f.toml:4:7: pfc: no DSCP maps to priority 3, so no packet uses it; add it to dscp_map",
      "f.toml:3:12: dscp_map: contradicts traffic (f.toml:2), which implies 26 = 3; write one of the two"}},
    {"cnp = { dscp = 48, priority = 6 }\n[[port]]\ncnp_dscp = 46\n",
     {"f.toml:3:12: cnp_dscp: contradicts cnp (f.toml:1), which implies cnp_dscp = 48; write one of the two"}},
    {"cnp = { dscp = 48, priority = 6 }\n[[port]]\ncnp_prio = 5\n",
     {"f.toml:3:12: cnp_prio: contradicts cnp (f.toml:1), which implies cnp_prio = 6; write one of the two"}},
    {"[[port]]\ntraffic = { dscp = 26, priority = 3 }\nroce_prio = 5\n",
     {"f.toml:3:13: roce_prio: priority 5 has no PFC: RoCE data can be lost; write one that is in pfc",
      "f.toml:3:13: roce_prio: contradicts traffic (f.toml:2), which implies roce_prio = 3; write one of the two"}},
    {"[[port]]\npfc = [3]\necn_rp = []\n",
     {"f.toml:3:10: ecn_rp: is more aggressive than the vendor's (all priorities): priority 3 is lossless and has no congestion control here, so every congestion ends in PFC pauses that spread; add 3"}},
    {"[[port]]\npfc = [3, 4]\ndscp_map = { 26 = 3, 34 = 4 }\necn_np = [3]\n",
     {"f.toml:4:10: ecn_np: is more aggressive than the vendor's (all priorities): priority 4 is lossless and has no congestion control here, so every congestion ends in PFC pauses that spread; add 4"}},
    {"[[port]]\ncc = false\n",
     {"f.toml:2:6: cc: is more aggressive than the vendor's true: senders no longer slow down for CNPs, so every congestion ends in PFC pauses that spread; write cc = true, or leave it out"}},
    {"[[port]]\nrpg_ai_rate = 60\nrpg_hai_rate = 50\n",
     {"f.toml:2:15: rpg_ai_rate: 60 is more aggressive (higher) than the vendor's 5: many flows together overrun the switch buffer at each increase, until PFC pauses the link; try it on a few nodes first, or leave it out",
      "f.toml:2:15: rpg_ai_rate: 60 is above rpg_hai_rate, 50: the hyper increase would be the smaller one; write less"}},
    {"[[port]]\nmin_time_between_cnps = 50\n",
     {"f.toml:2:25: min_time_between_cnps: 50 is more aggressive (higher) than the vendor's 4: senders learn of congestion later, and queues grow until PFC pauses the link; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nclamp_tgt_rate_after_time_inc = 0\n",
     {"f.toml:2:33: clamp_tgt_rate_after_time_inc: 0 is more aggressive (lower) than the vendor's 1: after a CNP a flow climbs back to the rate that caused it; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nrpg_time_reset = 100\n",
     {"f.toml:2:18: rpg_time_reset: 100 is more aggressive (lower) than the vendor's 300: flows speed up again before the congestion drains, and rates swing; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nrpg_byte_reset = 1000\n",
     {"f.toml:2:18: rpg_byte_reset: 1000 is more aggressive (lower) than the vendor's 32767: flows, above all fast ones, speed up again after less data; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nrpg_max_rate = 100000\n",
     {"f.toml:2:16: rpg_max_rate: 100000 is more aggressive (higher) than the vendor's 0: flows at that rate are no longer limited, although the port is faster; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nrpg_hai_rate = 500\n",
     {"f.toml:2:16: rpg_hai_rate: 500 is more aggressive (higher) than the vendor's 50: many flows together overrun the switch buffer at each increase, until PFC pauses the link; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nrpg_gd = 12\n",
     {"f.toml:2:10: rpg_gd: 12 is more aggressive (higher) than the vendor's 11: a CNP takes less from the rate, so congestion lasts longer; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nrpg_min_dec_fac = 20\n",
     {"f.toml:2:19: rpg_min_dec_fac: 20 departs from the vendor's 50: it bounds how far one CNP can slow a flow, and the vendor's texts disagree on which side is gentler; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nrpg_min_rate = 100\n",
     {"f.toml:2:16: rpg_min_rate: 100 is more aggressive (higher) than the vendor's 1: with many senders to one receiver, even the slowest flows overrun it; try it on a few nodes first, or leave it out"}},
    {"[[port]]\ndce_tcp_g = 4\n",
     {"f.toml:2:13: dce_tcp_g: 4 departs from the vendor's 1019: it is the weight by which alpha, and so each cut, follows the CNPs, and the vendor's texts disagree on which side is gentler; try it on a few nodes first, or leave it out"}},
    {"[[port]]\nrate_reduce_monitor_period = 100\n",
     {"f.toml:2:30: rate_reduce_monitor_period: 100 is more aggressive (higher) than the vendor's 4: CNPs within it cut the rate only once, so congestion lasts longer; try it on a few nodes first, or leave it out"}},
    {"[[port]]\ninitial_alpha_value = 512\n",
     {"f.toml:2:23: initial_alpha_value: 512 is more aggressive (lower) than the vendor's 1023: the first CNP of a flow takes less from its rate; try it on a few nodes first, or leave it out"}},
    // On the gentle side of the vendor's values, or without the reason for doubt.
    {"[[port]]\nrpg_time_reset = 400\nrpg_byte_reset = 0\nrpg_ai_rate = 5\nrpg_gd = 10\nmin_time_between_cnps = 2\n", {}},
    {"[[port]]\nmatch = { speed = \"10G\" }\nfec = \"off\"\n", {}},
    {"[[port]]\nring_rx = 8192\n", {}},
};
// clang-format on

TEST(BadConfiguration, IsRefusedWithItsPlaceItsReasonAndWhatToWrite) {
  for (const Bad& one : all_bad()) {
    const auto loaded = parsed(one.text);
    ASSERT_FALSE(loaded.ok()) << one.text;
    EXPECT_EQ(test::replaced(loaded.error().text(), kProfiles, "PROFILES"), one.says) << one.text;
    EXPECT_EQ(loaded.error().code, 0) << one.text;
  }
}

// Every row of the table with a number.
TEST(BadConfiguration, ANumberOutsideItsRangeIsRefused) {
  size_t count = 0;
  for (const Setting& setting : kSettings) {
    if (!std::holds_alternative<std::optional<uint32_t> Qos::*>(setting.member) &&
        !std::holds_alternative<std::optional<OrNone> Qos::*>(setting.member))
      continue;
    ++count;
    const std::string key(setting.key);
    const std::string fault =
        key + ": expected an integer from " + std::to_string(setting.min) + " to " + std::to_string(setting.max);
    std::vector<uint64_t> outside{uint64_t{setting.max} + 1};
    if (setting.min > 0) outside.push_back(setting.min - 1);
    for (const uint64_t value : outside) {
      const auto loaded = parsed("[[port]]\n" + key + " = " + std::to_string(value) + "\n");
      ASSERT_FALSE(loaded.ok()) << key << " = " << value;
      EXPECT_TRUE(has(loaded.error().text(), fault)) << loaded.error().text();
    }
  }
  EXPECT_GT(count, 30U);
}

// One fault anywhere, and nothing of the rest is taken.
TEST(BadConfiguration, LeavesNothingHalfRead) {
  const std::string whole = "[[port]]\nname = \"whole\"\nmatch = { rdma = \"whole\" }\nmtu = 9000\n";
  ASSERT_TRUE(parsed(whole).ok());
  for (const Bad& one : all_bad()) EXPECT_FALSE(parsed(one.text + whole).ok()) << one.text;
}

TEST(BadConfiguration, IsNotRepeatedByTheMegabyte) {
  std::string huge;
  for (int i = 0; i < 200'000; ++i) huge += "\u20ac";
  for (const std::string& text : {"mode = \"" + huge + "\"\n", "[sysctl]\n\"net.ipv4.tcp_ecn\" = \"" + huge + "\"\n",
                                  "[[port]]\nprofile = \"" + huge + "\"\n"}) {
    const auto loaded = parsed(text);
    ASSERT_FALSE(loaded.ok());
    const std::string said = loaded.error().text();
    EXPECT_LT(said.size(), 4'100U);
    const size_t cut = said.find(" ... ");
    ASSERT_NE(cut, std::string::npos);
    EXPECT_TRUE(said.substr(0, cut).ends_with("\u20ac") && said.substr(cut).starts_with(" ... \u20ac"))
        << "whole characters";
  }
}

TEST(DoubtfulConfiguration, IsTakenWithTheseWarnings) {
  for (const Doubtful& one : kDoubtful) {
    const auto loaded = parsed(one.text);
    ASSERT_TRUE(loaded.ok()) << one.text << loaded.error().text();
    std::vector<std::string> told;
    for (const ConfigWarning& warning : loaded->warnings) told.push_back(warning.where + ": " + warning.what);
    EXPECT_EQ(told, one.says) << one.text;
  }
}

// -- Corrections, over all keys

// One key of the configuration: the text before its value and after it.
struct Place {
  std::string key, before, after = "\n";
  std::string example{};  // of the schema
  bool is_dscp = false, is_prio_set = false;
  std::string_view unit{};
};

Place port_key(std::string_view key) { return {std::string(key), "[[port]]\n" + std::string(key) + " = "}; }

std::vector<Place> all_places() {
  std::vector<Place> out;
  for (const config::Key& key : config::keys()) {
    std::string before = std::string(key.name) + " = ";
    if (!key.section.empty()) before.insert(0, "[" + std::string(key.section) + "]\n");
    out.push_back({std::string(key.name), before, "\n", key.example});
  }
  for (const Setting& setting : kSettings) {
    Place place = port_key(setting.key);
    place.example = config::correctable(setting).example;
    place.is_dscp = setting.key.ends_with("dscp");
    place.is_prio_set = std::holds_alternative<std::optional<PrioSet> Qos::*>(setting.member);
    place.unit = setting.unit;
    out.push_back(place);
  }
  for (const config::MatchKey& key : config::match_keys())
    out.push_back({std::string(key.name), "[[port]]\nmtu = 9000\nmatch = { " + std::string(key.name) + " = ", " }\n",
                   std::string(key.example)});
  for (const char* key : {"traffic", "cnp"}) {
    out.push_back({key, std::string(key) + " = ", "\n[[port]]\nmtu = 9000\n", "{ dscp = 26, priority = 3 }"});
    out.push_back({key, "[[port]]\n" + std::string(key) + " = ", "\n", "{ dscp = 48, priority = 6 }"});
  }
  out.push_back({"front_end", "[[port]]\nmatch = { netdev = \"eth0\" }\nmtu = 9000\nfront_end = "});
  out.push_back(port_key("name"));
  out.push_back({"kernel.numa_balancing", "[sysctl]\n\"kernel.numa_balancing\" = ", "\n", "0"});
  out.push_back({"net.ipv4.tcp_rmem", "[sysctl]\n\"net.ipv4.tcp_rmem\" = ", "\n", "\"4096 131072 67108864\""});
  out.push_back({"mlx5_core", "[driver_version]\nmlx5_core = ", "\n", "\"24.10-*\""});
  for (const RuleRow& row : rule_rows())
    for (const config::RuleValue& each : config::rule_values(row, {}))
      out.push_back(
          {std::string(each.key), "[" + each.section + "]\n" + std::string(each.key) + " = ", "\n", each.toml});
  return out;
}

Result<LoadedConfig> read_at(const Place& place, const std::string& value) {
  return parse_config(place.before + value + place.after, "f.toml", FABRIC_SOURCE_DIR "/etc/profiles", rule_rows());
}

// The policy without the places of its values.
std::string meaning(const Result<LoadedConfig>& loaded) {
  const std::string shown = show_config(loaded->policy, rule_rows());
  std::string out;
  for (const std::string_view line : split(shown, '\n')) out.append(line.substr(0, line.find("# f.toml"))).append("\n");
  return out;
}

struct Advice {
  bool is_certain = false;
  std::string value;
};
Advice advice_of(const Place& place, const std::string& error) {
  std::string key = place.key;
  if (key.find('.') != std::string::npos) key = "\"" + key + "\"";
  for (const bool certain : {true, false}) {
    const std::string head = std::string(certain ? "; write " : "; for example ") + key + " = ";
    if (const size_t at = error.find(head); at != std::string::npos)
      return {certain, error.substr(at + head.size(), error.find(", or leave it out", at) - at - head.size())};
  }
  return {};
}

const char* const kGarbage[] = {"\"none\"",
                                "-1",
                                "99999999",
                                "\"x\"",
                                "true",
                                "false",
                                "[]",
                                "{}",
                                "\"auto\"",
                                "\"0,0,0,1,0,0,0,0\"",
                                "[0,0,0,1,1,0,0,0]",
                                "\"9000\"",
                                "\"5m\"",
                                "96",
                                "104",
                                "200",
                                "1.5",
                                "0.5",
                                "\"ENFORCED\"",
                                "\"1a:00.0\"",
                                "\"26:3,48:6\"",
                                "\"no\"",
                                "\"off\"",
                                "\"on\"",
                                "\"\"",
                                "\" \"",
                                "\"a,b\"",
                                "[\"\"]",
                                "[1, \"x\"]",
                                "{ a = 1 }",
                                "{ dscp = 96, priority = 3 }",
                                "\"0x18\"",
                                "\"AF31\"",
                                "\"9k\"",
                                "\"400Gb/s\"",
                                "\"10%\"",
                                "\"/\"",
                                "\":::\"",
                                "1979-05-27",
                                "\"{\"",
                                "\"{0..3}\"",
                                "\"[3\"",
                                "[[3]]",
                                "\"3-4\"",
                                "\"unmapped mapped\"",
                                "\"-\"",
                                "\"1e3\""};

void expect_accepted(size_t step) {
  size_t certain = 0;
  const auto places = all_places();
  for (size_t at = 0; at < places.size(); at += step)
    for (const char* value : kGarbage) {
      const Place& place = places[at];
      const auto loaded = read_at(place, value);
      if (loaded.ok()) continue;
      const std::string error = loaded.error().text();
      const Advice advice = advice_of(place, error);
      if (has(error, "a level has no window") || has(error, "give both") || has(error, "unknown host setting"))
        continue;
      ASSERT_FALSE(advice.value.empty()) << place.before << value << "\n" << error;
      const auto corrected = read_at(place, advice.value);
      // A limit alone may contradict the other one of its pair.
      EXPECT_TRUE(corrected.ok() || has(corrected.error().text(), "give both")) << place.before << value << "\n"
                                                                                << error << "\n"
                                                                                << corrected.error().text();
      certain += advice.is_certain ? 1 : 0;
    }
  EXPECT_GT(certain, 200u / step);
}

TEST(Correction, IsAValueThatTheKeyAccepts) { expect_accepted(3); }
TEST(Correction, IsAValueThatTheKeyAcceptsHarder) { expect_accepted(1); }

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }
bool is_number(const std::string& value) {
  return !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
}

// Values that the key accepts: variations of its example.
std::vector<std::string> valid_values(const Place& place) {
  std::vector<std::string> tried{place.example,
                                 "0",
                                 "1",
                                 "2",
                                 "4",
                                 "5",
                                 "7",
                                 "24",
                                 "26",
                                 "48",
                                 "100",
                                 "256",
                                 "4096",
                                 "9000",
                                 "true",
                                 "false",
                                 "[4]",
                                 "[3, 4]",
                                 "[0, 7]",
                                 "[]",
                                 "{ 26 = 3 }",
                                 "{ 24 = 4, 46 = 5 }",
                                 "{ dscp = 24, priority = 4 }",
                                 "{ dscp = 46, priority = 5 }",
                                 "[0,0,1,2,0,0,0,0]",
                                 "[20000,100000,0,0,0,0,0,0]",
                                 "\"45s\"",
                                 "\"90s\"",
                                 "\"2min\"",
                                 "\"500ms\"",
                                 "\"none\"",
                                 "\"never\"",
                                 "\"0000:1a:00.0\"",
                                 "[\"0000:1a:00.0\", \"0000:2b:00.1\"]",
                                 "\"15b3:1023\"",
                                 "\"200G\"",
                                 "\"Sun 03:00-05:00\"",
                                 "\"3%\"",
                                 "[\"rs\", \"auto\"]",
                                 "[\"pcp\", \"dscp\"]",
                                 "[\"lanes\", \"casts\"]",
                                 "[\"mlx5_1\", \"mlx5_2\"]",
                                 "\"127.0.0.1:9400\""};
  for (const char* word :
       {"audit", "enforce", "idle",     "now", "never", "leave",   "restore",  "host",   "firmware", "rx",
        "tx",    "rx,tx",   "off",      "rs",  "baser", "llrs",    "dscp",     "pcp",    "v1",       "v2",
        "PXB",   "SYS",     "unmapped", "all", "auto",  "warning", "critical", "compute"})
    tried.push_back(in_quotes(word));
  std::vector<std::string> out;
  for (const std::string& value : tried)
    // A list of nodes that names one twice is not valid.
    if (!value.empty() && (place.key != "numa" || value != "[0,0,1,2,0,0,0,0]") && read_at(place, value).ok())
      out.push_back(value);
  return out;
}

// The value as people write it, who use another tool or another language.
std::vector<std::string> spellings(const Place& place, const std::string& value) {
  std::vector<std::string> out;
  if (is_number(value)) {
    for (const char* form : {"\"%\"", "\" % \"", "%.0", "[%]", "\"+%\""}) {
      std::string text = form;
      out.push_back(text.replace(text.find('%'), 1, value));
    }
    for (const char* unit : {"m", " m", " meters", "B", " bytes", "us", "%", " Mb/s", "Mbps"})
      if (place.unit != "ms" || unit != std::string("us")) out.push_back(in_quotes(value + unit));
    if (place.is_dscp && std::stoi(value) > 15 && std::stoi(value) < 64)
      for (const int ecn : {0, 1, 2}) out.push_back(std::to_string(std::stoi(value) * 4 + ecn));
    if (place.is_dscp && value == "26") out.insert(out.end(), {"\"AF31\"", "\"af31\"", "\"DSCP 26\""});
    if (place.is_dscp && value == "48") out.insert(out.end(), {"\"CS6\"", "\"cs6\""});
  }
  if (value.starts_with('"')) {
    const std::string text = value.substr(1, value.size() - 2);
    out.insert(out.end(), {in_quotes(upper(text)), in_quotes(" " + text), in_quotes(text + " "), "[" + value + "]"});
    if (text.size() > 4) out.insert(out.end(), {in_quotes(text + "d"), in_quotes(text.substr(0, text.size() - 1))});
    if (text.starts_with("0000:")) out.insert(out.end(), {in_quotes(text.substr(5)), in_quotes("0000" + upper(text))});
    if (text == "15b3:1023") out.insert(out.end(), {"\"[15b3:1023]\"", "\"0x15b3:0x1023\""});
    if (text == "200G" && place.key == "speed")
      out.insert(out.end(), {"200", "\"200\"", "\"200Gb/s\"", "\"200 Gbps\"", "\"200gbit\""});
    if (text.ends_with('s') && is_digit(text.front())) out.push_back(in_quotes(text + "ec"));
    if (text == "90s") out.push_back("\"1.5min\"");
  }
  if (value == "true") out.insert(out.end(), {"\"true\"", "\"on\"", "\"yes\"", "1", "\"enabled\""});
  if (value == "false") out.insert(out.end(), {"\"false\"", "\"off\"", "\"no\"", "0", "\"disabled\""});
  if (value.starts_with("[") && value != "[]") {
    std::string inside = value.substr(1, value.size() - 2);
    std::erase(inside, '"');
    out.insert(out.end(), {in_quotes(inside), in_quotes("[" + inside + "]")});
    std::string blanks = inside;
    std::erase(blanks, ',');
    if (inside.find(", ") != std::string::npos) out.push_back(in_quotes(blanks));
  }
  if (value == "[4]" && place.is_prio_set)
    out.insert(out.end(), {"4", "\"4\"", "[0,0,0,0,1,0,0,0]", "\"0,0,0,0,1,0,0,0\"", "[\"4\"]", "\"4:on\"",
                           "[false,false,false,false,true,false,false,false]", "\"0x10\""});
  if (value == "[3, 4]" && place.is_prio_set)
    out.insert(out.end(), {"[0,0,0,1,1,0,0,0]", "\"0,0,0,1,1,0,0,0\"", "\"0 0 0 1 1 0 0 0\"", "\"3-4\"", "\"0x18\"",
                           "\"0:off 1:off 2:off 3:on 4:on 5:off 6:off 7:off\"", "\"all:off 3:on 4:on\"", "[3, 4, 4]"});
  if (value == "[]" && place.is_prio_set)
    out.insert(out.end(), {"\"none\"", "false", "[0,0,0,0,0,0,0,0]", "\"0,0,0,0,0,0,0,0\""});
  if (value == "{ 24 = 4, 46 = 5 }")
    out.insert(out.end(), {"\"24:4,46:5\"", "\"24:4 46:5\"", "[\"24:4\", \"46:5\"]", "{ 96 = 4, 184 = 5 }",
                           "{ CS3 = 4, EF = 5 }", "{ 24 = \"4\", 46 = \"5\" }"});
  if (value == "{ dscp = 24, priority = 4 }")
    out.insert(out.end(), {"{ dscp = 96, priority = 4 }", "{ dscp = \"CS3\", priority = 4 }",
                           "{ dscp = \"24\", priority = \"4\" }", "\"24:4\"", "{ tos = 98, prio = 4 }"});
  return out;
}

// `step`: of so many keys one is tried.
void expect_meaning(size_t step) {
  size_t tried = 0, certain = 0;
  const auto places = all_places();
  for (size_t at = 0; at < places.size(); at += step)
    for (const std::string& value : valid_values(places[at])) {
      const Place& place = places[at];
      const std::string meant = meaning(read_at(place, value));
      for (const std::string& spelling : spellings(place, value)) {
        const auto loaded = read_at(place, spelling);
        if (loaded.ok()) continue;  // another value, or the same
        ++tried;
        const Advice advice = advice_of(place, loaded.error().text());
        if (!advice.is_certain) continue;
        ++certain;
        const auto corrected = read_at(place, advice.value);
        ASSERT_TRUE(corrected.ok()) << place.before << spelling << "\n" << loaded.error().text();
        EXPECT_EQ(meaning(corrected), meant) << place.before << spelling << "\n" << loaded.error().text();
      }
    }
  EXPECT_GT(certain, tried / 4) << tried;
}

TEST(Correction, MeansWhatTheOperatorMeant) { expect_meaning(20); }
TEST(Correction, MeansWhatTheOperatorMeantHarder) { expect_meaning(1); }

struct Case {
  std::string section, key, value;
  const char* write;  // null: an example
};
// clang-format off
const Case kCases[] = {
    {"[[port]]\n", "pfc", "[0,0,0,1,1,0,0,0]", "[3, 4]"},
    {"[[port]]\n", "pfc", "\"0,0,0,0,1,0,0,0\"", "[4]"},
    {"[[port]]\n", "pfc", "[0,0,0,1]", nullptr},
    {"[[port]]\n", "pfc", "8", nullptr},
    {"[[port]]\n", "pfc", "\"0x03\"", nullptr},
    {"[[port]]\n", "pfc", "5", "[5]"},
    {"[[port]]\n", "pfc", "\"prio3 and prio4\"", "[3, 4]"},
    {"[[port]]\n", "pfc", "[\"priority 3\", \"p4\"]", "[3, 4]"},
    {"[[port]]\n", "pfc", "{ 3 = true, 4 = false }", "[3]"},
    {"[[port]]\n", "pfc", "\"0b00011000\"", "[3, 4]"},
    {"[[port]]\n", "pfc", "\"00011000\"", "[3, 4]"},
    {"[[port]]\n", "pfc", "\"00010000\"", nullptr},  // from which end?
    {"[[port]]\n", "pfc", "\"tc3\"", nullptr},
    {"[[port]]\n", "pause", "\"no\"", "\"off\""},
    {"[[port]]\n", "pfc_watchdog", "\"off\"", "0"},
    {"[[port]]\n", "pfc_watchdog", "\"on\"", nullptr},
    {"[[port]]\n", "mtu", "\"9,000\"", "9000"},
    {"[[port]]\n", "cnp_dscp", "\"48 (CS6)\"", "48"},
    {"[[port]]\n", "cable_length", "\"0.5 (km)\"", "500"},
    {"[[port]]\n", "cable_length", "\"2 (km)\"", nullptr},
    {"[[port]]\n", "cable_length", "\"5 (miles)\"", nullptr},
    {"[[port]]\n", "fec", "\"cl91\"", "\"rs\""},
    {"[[port]]\n", "ets", "{ tsa = [\"wrr\", \"wrr\", \"sp\"], bw = [50,50,0], prio_tc = [0,0,0,1,0,0,2,0] }",
     "{ bw = [50, 50, 0], prio_tc = [0, 0, 0, 1, 0, 0, 2, 0], tsa = [\"ets\", \"ets\", \"strict\"] }"},
    {"[[port]]\n", "mtu", "\"9000\"", "9000"},
    {"[[port]]\n", "mtu", "\"9k\"", nullptr},
    {"[[port]]\n", "mtu", "70000", nullptr},
    {"[[port]]\n", "mrrs", "\"4k\"", "4096"},
    {"[[port]]\n", "cable_length", "\"5m\"", "5"},
    {"[[port]]\n", "cable_length", "\"2 km\"", nullptr},
    {"[[port]]\n", "cable_length", "\"500cm\"", "5"},
    {"[[port]]\n", "cnp_dscp", "192", "48"},
    {"[[port]]\n", "cnp_dscp", "99", nullptr},
    {"[[port]]\n", "roce_dscp", "\"AF31\"", "26"},
    {"[[port]]\n", "roce_tos", "107", "106"},
    {"[[port]]\n", "traffic_class", "99", "98"},
    {"[[port]]\n", "traffic_class", "3", nullptr},
    {"[[port]]\n", "traffic_class", "\"AF31\"", nullptr},
    {"[[port]]\n", "traffic_class", "\"None\"", "\"none\""},
    {"[[port]]\n", "trust", "\"both\"", nullptr},
    {"[[port]]\n", "trust", "\"L3\"", "\"dscp\""},
    {"[[port]]\n", "fec", "\"RS-FEC\"", "\"rs\""},
    {"[[port]]\n", "fec", "\"auto,rs\"", "[\"auto\", \"rs\"]"},
    {"[[port]]\n", "pause", "\"both\"", "\"rx,tx\""},
    {"[[port]]\n", "roce_mode", "2", "\"v2\""},
    {"[[port]]\n", "dscp_map", "{ 104 = 3, 48 = 6 }", nullptr},
    {"[[port]]\n", "dscp_map", "{ 104 = 3, 192 = 6 }", "{ 26 = 3, 48 = 6 }"},
    {"[[port]]\n", "maxrate", "[\"100gbit\",0,0,0,0,0,0,0]", "[100000000, 0, 0, 0, 0, 0, 0, 0]"},
    {"[[port]]\n", "maxrate", "\"100GB/s,0,0,0,0,0,0,0\"", nullptr},
    // The option, variable or field around the value.
    {"[[port]]\n", "pfc", "\"--pfc=0,0,0,1,1,0,0,0\"", "[3, 4]"},
    {"[[port]]\n", "pfc", "\"-p 0,0,0,1,0,0,0,0\"", nullptr},
    {"[[port]]\n", "pfc", "\"prio-pfc all:off 3:on\"", "[3]"},
    {"[[port]]\n", "pfc", "\"disabled\"", "[]"},
    {"[[port]]\n", "pfc", "\"CoS 3\"", "[3]"},
    {"[[port]]\n", "prio2buffer", "\"--prio2buffer 0,0,0,1,0,0,0,0\"", "[0, 0, 0, 1, 0, 0, 0, 0]"},
    {"[[port]]\n", "dscp_map", "\"--dscp2prio='set,26,3'\"", "{ 26 = 3 }"},
    {"[[port]]\n", "dscp_map", "\"dscp-prio 26:3 48:6\"", "{ 26 = 3, 48 = 6 }"},
    {"[[port]]\n", "dscp_map", "\"26 -> 3, 48 -> 6\"", "{ 26 = 3, 48 = 6 }"},
    {"[[port]]\n", "dscp_map", "{ 26 = \"prio3\" }", "{ 26 = 3 }"},
    {"[[port]]\n", "dscp_map", "{ dscp = 26, prio = 3 }", "{ 26 = 3 }"},
    {"[[port]]\n", "dscp_map", "[{ dscp = 26, priority = 3 }, { dscp = 48, priority = 6 }]", "{ 26 = 3, 48 = 6 }"},
    {"[[port]]\n", "cable_length", "\"--cable_len=5\"", "5"},
    {"[[port]]\n", "mtu", "\"mtu 9000\"", "9000"},
    {"[[port]]\n", "channels", "\"combined 32\"", "32"},
    {"[[port]]\n", "mrrs", "\"MaxReadReq 4096 bytes\"", "4096"},
    {"[[port]]\n", "traffic_class", "\"NCCL_IB_TC=106\"", "106"},
    {"[[port]]\n", "traffic_class", "\"Global tclass=106\"", "106"},
    {"[[port]]\n", "roce_tos", "\"106 (0x6a)\"", "106"},
    {"[[port]]\n", "roce_mode", "\"IB/RoCE v1\"", "\"v1\""},
    {"[[port]]\n", "cnp_prio", "\"prio6\"", "6"},
    {"[[port]]\n", "roce_dscp", "\"LE\"", "1"},
    {"[[port]]\n", "fec", "\"encoding rs\"", "\"rs\""},
    {"[[port]]\n", "fec", "\"RS(544,514)\"", "\"rs\""},
    {"[[port]]\n", "pause", "\"autoneg off rx off tx off\"", "\"off\""},
    {"[[port]]\n", "maxrate", "\"0:0 1:0 2:0 3:100gbit 4:0 5:0 6:0 7:0\"", "[0, 0, 0, 100000000, 0, 0, 0, 0]"},
    {"[[port]]\n", "maxrate", "\"0:0 1:0 3:100gbit\"", nullptr},
    {"[[port]]\n", "ets",
     "{ prio_tc = \"0:0 1:0 2:0 3:1 4:0 5:0 6:2 7:0\", tc_tsa = \"0:ets 1:ets 2:strict\", tc_bw = \"0:50 1:50 2:0\" }",
     "{ prio_tc = [0, 0, 0, 1, 0, 0, 2, 0], bw = [50, 50, 0], tsa = [\"ets\", \"ets\", \"strict\"] }"},
    {"[[port]]\n", "fabric", "{ lossless = true }", "{ kind = \"lossless\" }"},
    {"[[port]]\n", "fabric", "{ lossless = false }", nullptr},
    {"[fabric]\n", "kind", "\"no-drop\"", "\"lossless\""},
    {"[[port]]\n", "fabric", "{ kind = \"scheduled ethernet\" }", "{ kind = \"scheduled\" }"},
    {"", "maintenance", "[\"Sat 2:00-4:00\", \"Sunday 02:00-04:00\"]", "[\"Sat 02:00-04:00\", \"Sun 02:00-04:00\"]"},
    {"", "disruptive", "\"always\"", "\"now\""},
    {"[exporter]\n", "listen", "[\"127.0.0.1\"]", "[\"127.0.0.1:10479\"]"},
    {"", "mode", "\"enforced\"", "\"enforce\""},
    {"", "mode", "\"on\"", nullptr},
    {"", "mode", "\"dry-run\"", "\"audit\""},
    {"", "release", "\"rollback\"", "\"restore\""},
    {"[fabric]\n", "kind", "\"DDC\"", "\"scheduled\""},
    {"[rules.loss]\nenabled = false\nreason = \"x\"\n", "until", "\"2026-12-31\"", "2026-12-31"},
    {"", "disruptive", "\"no\"", nullptr},
    {"", "disruptive", "\"Never\"", "\"never\""},
    {"", "traffic", "{ dscp = 96, priority = 3 }", "{ dscp = 24, priority = 3 }"},
    {"", "reread", "\"0.5min\"", "\"30s\""},
    {"", "reread", "30000", nullptr},
    {"", "optics", "\"off\"", "0"},
    {"", "maintenance", "\"Saturday 2:00-4:00\"", "\"Sat 02:00-04:00\""},
    {"", "maintenance", "\"02:00-04:00\"", "\"daily 02:00-04:00\""},
    {"[exporter]\n", "raw", "\"mapped\"", nullptr},
    {"[exporter]\n", "listen", "\":9400\"", "[\"0.0.0.0:9400\", \"[::]:9400\"]"},
    {"[exporter]\n", "exclude", "\"mlx5_{0,1}\"", "[\"mlx5_0\", \"mlx5_1\"]"},
    {"[exporter]\n", "max_age", "\"never\"", nullptr},
    {"[expect]\n", "speed", "400", "\"400G\""},
    {"[expect]\n", "class", "\"pxb\"", "\"PXB\""},
};
// clang-format on

TEST(Correction, OfKnownMistakes) {
  for (const Case& each : kCases) {
    const Place place{each.key, each.section + each.key + " = "};
    const auto loaded = read_at(place, each.value);
    ASSERT_FALSE(loaded.ok()) << each.key << " = " << each.value;
    const Advice advice = advice_of(place, loaded.error().text());
    EXPECT_EQ(advice.is_certain, each.write != nullptr) << loaded.error().text();
    if (each.write != nullptr) EXPECT_EQ(advice.value, each.write) << loaded.error().text();
  }
}

std::string match_advice(const std::string& match) {
  const auto loaded = parse_config("[[port]]\nmtu = 9000\nmatch = { " + match + " }\n", "f.toml");
  if (!loaded) return loaded.error().text();
  return joined(loaded->warnings, "\n", [](const ConfigWarning& each) { return each.what; });
}

TEST(Correction, OfWhatAnEntryMatches) {
  for (const auto& [match, write] : std::vector<std::pair<std::string, std::string>>{
           {"pci = \"1a:00.0\"", "; write pci = \"0000:1a:00.0\""},
           {"pci = \"00000000:1A:00.0\"", "; write pci = \"0000:1a:00.0\""},
           {"pci = \"17:*\"", "; write pci = \"0000:17:*\""},
           {"pci = \"0000:17:00\"", "; write pci = \"0000:17:00.*\""},
           {"pci_id = \"[15b3:1021]\"", "; write pci_id = \"15b3:1021\""},
           {"netdev = \"ens{1,2}np0\"", "; write netdev = [\"ens1np0\", \"ens2np0\"]"},
           {"rdma = \"mlx5_0/1\"", "; write rdma = \"mlx5_0\""},
           {"speed = 400", "; write speed = \"400G\""},
           {"pci_id = \"15b3\"", "; write pci_id = \"15b3:*\""},
           {"pci_id = \"434e\"", "; write pci_id = \"434e:*\""},
           {"pci_id = \"1021\"", "for example pci_id"},
           {"driver = \"broadcom\"", "; write driver = \"bnxt_en\""},
           {"pci_id = \"15b3:\"", "; write pci_id = \"15b3:*\""},
           {"pci_id = \"15b3-1021\"", "; write pci_id = \"15b3:1021\""},
           {"rdma = \"/sys/class/infiniband/mlx5_0\"", "; write rdma = \"mlx5_0\""},
           {"netdev = \"/sys/class/net/eth0\"", "; write netdev = \"eth0\""},
           {"rdma = \"mlx5_0:1\"", "; write rdma = \"mlx5_0\""},
           {"netdev = \"enp170s0f0np0v10\"", "the 15 characters of a netdev's name"},
           {"numa = \"node1\"", "; write numa = 1"},
           {"driver = \"bnxt_re\"", "; write driver = \"bnxt_en\""},
           {"driver = \"mlx5_ib\"", "; write driver = \"mlx5_core\""},
           {"driver = \"irdma\"", "; write driver = [\"ice\", \"i40e\"]"},
           {"driver = \"i40iw\"", "; write driver = \"i40e\""},
           {"driver = \"ib_core\"", "a module for the NICs of all vendors"},
           {"driver = \"marvell\"", "; write driver = \"qede\""},
           {"driver = \"mlx5_0\"", "; write rdma = \"mlx5_0\""},
           {"rdma = \"ens1f0np0\"", "; write netdev = \"ens1f0np0\""},
           {"netdev = \"mlx5_*\"", "; write rdma = \"mlx5_*\""},
           {"speed = \"400GbE\"", "; write speed = \"400G\""},
           {"driver = \"mlx5_cor\"", "; write driver = \"mlx5_core\""},
           {"rdma = \"mlx5_0,mlx5_1\"", "; write rdma = [\"mlx5_0\", \"mlx5_1\"]"},
           {"netdev = \"ens1 ens2\"", "; write netdev = [\"ens1\", \"ens2\"]"},
           {"rdma = \"mlx5_.*\"", "; write rdma = \"mlx5_*\""},
           {"rdma = \"^mlx5_[0-3]$\"", "; write rdma = \"mlx5_[0-3]\""},
           {"netdev = \"ens1|ens2\"", "; write netdev = [\"ens1\", \"ens2\"]"},
           {"rdma = [\"mlx5_0 \", \"mlx5_1\"]", "; write rdma = [\"mlx5_0\", \"mlx5_1\"]"},
           {"driver = [\"bnxt_re\", \"mlx5_core\"]", "; write driver = [\"bnxt_en\", \"mlx5_core\"]"},
           {"rdma = \"=mlx5_0,mlx5_1\"", "; write rdma = [\"mlx5_0\", \"mlx5_1\"]"},
           {"rdma = \"mlx5_0-mlx5_3\"", "; write rdma = \"mlx5_[0-3]\""},
           {"rdma = \"mlx5_0-3\"", "; write rdma = \"mlx5_[0-3]\""},
           {"rdma = \"bnxt_re0-1\"", "; write rdma = \"bnxt_re[0-1]\""},
           {"rdma = \"rail0-rail1\"", "; write rdma = \"rail[0-1]\""},
           {"rdma = \"mlx5_8..10\"", "; write rdma = [\"mlx5_8\", \"mlx5_9\", \"mlx5_10\"]"},
           {"rdma = \"mlx5_\\\\d+\"", "; write rdma = \"mlx5_[0-9]*\""},
           {"rdma = \"uverbs0\"", "/sys/class/infiniband_verbs/uverbs0/ibdev"},
           {"driver = \"hns-roce-hw-v2\"", "; write driver = \"hns3\""},
           {"netdev = \"ens1np0@if5\"", "; write netdev = \"ens1np0\""},
           {"netdev = \"eth0:1\"", "; write netdev = \"eth0\""},
           {"speed = [\"400 Gb/s\", \"200G\"]", "; write speed = [\"400G\", \"200G\"]"},
           {"pci = \"0000:1a:20.0\"", "for example pci"},
           {"pci = \"0000:1a:00.8\"", "for example pci"}})
    EXPECT_TRUE(has(match_advice(match), write)) << match << "\n" << match_advice(match);
  // NCCL_IB_HCA excludes these names, and a pattern excludes nothing: no value is certain.
  for (const char* match :
       {"rdma = \"^mlx5_2\"", "rdma = \"^mlx5_2,mlx5_3\"", "netdev = \"ens*,!ens3\"", "rdma = \"!mlx5_2\""}) {
    EXPECT_FALSE(match_advice(match).empty()) << match;
    EXPECT_FALSE(has(match_advice(match), "; write ")) << match_advice(match);
  }
  for (const char* good :
       {"driver = \"bnxt_en\"", "driver = \"bnxt*\"", "driver = \"*\"", "driver = \"hns3\"", "driver = \"efa\"",
        "netdev = \"enp170s0f0np0*\"", "netdev = \"ens1.*\"", "netdev = \"ens1.100\"", "netdev = \"ibp65s0\"",
        "pci = \"0000:1a:00.*\"", "rdma = \"mlx5_[0,1]\"", "rdma = \"rail0-1\"", "pci = \"10000:1a:00.0\""})
    EXPECT_EQ(match_advice(good), "") << good;
}

TEST(Correction, RangesOfVersionsAllowNone) {
  for (const char* text : {"[firmware]\nMT_1 = \">=28.43\"\n", "[firmware]\nMT_1 = [\"28.39.*\", \"28.40 - 28.43\"]\n",
                           "[driver_version]\nmlx5_core = \"24.10,24.07\"\n"}) {
    const auto loaded = parsed(std::string("mode = \"audit\"\n") + text);
    ASSERT_TRUE(loaded.ok()) << text << loaded.error().text();
    ASSERT_EQ(loaded->warnings.size(), 1u) << text;
    EXPECT_TRUE(has(loaded->warnings[0].what, "allows no version")) << loaded->warnings[0].what;
  }
  EXPECT_TRUE(parsed("mode = \"audit\"\n[firmware]\nMT_1 = \"28.43.*\"\n")->warnings.empty());
}

// 26 is DSCP 6 if it is a type of service.
TEST(Correction, TellsDscpFromTypeOfService) {
  const auto warns = [](const std::string& text) {
    const auto loaded = test::loaded_from("[[port]]\n" + text);
    return std::ranges::any_of(loaded.warnings, [](const ConfigWarning& each) { return has(each.what, "DSCP x 4"); });
  };
  for (const char* text :
       {"traffic_class = 26\n", "roce_tos = 24\n", "roce_tos = 46\n",
        "traffic = { dscp = 40, priority = 3 }\nroce_tos = 40\n", "dscp_map = { 48 = 3 }\ntraffic_class = 48\n"})
    EXPECT_TRUE(warns(text)) << text;
  for (const char* text : {"traffic_class = 106\n", "roce_tos = 41\n", "roce_tos = 32\n", "traffic_class = 0\n",
                           "traffic = { dscp = 6, priority = 3 }\nroce_tos = 26\n", "traffic_class = \"none\"\n"})
    EXPECT_FALSE(warns(text)) << text;
}

TEST(Correction, PutsTheOperatorsOwnValueIntoQuotes) {
  for (const auto& [text, write] : std::vector<std::pair<std::string, std::string>>{
           {"mode = enforce\n", "write mode = \"enforce\""},
           {"mode = Enforced  # soon\n", "write mode = \"enforce\""},
           {"disruptive = idle\n", "write disruptive = \"idle\""},
           {"mode = \"audit\"\n[[port]]\nmtu = 9000\ncable_length = 5m\n", "write cable_length = 5"},
           {"[exporter]\nmax_age = 5s\n", "write max_age = \"5s\""},
           {"mode = \u201caudit\u201d\n", "write mode = \"audit\""}}) {
    const std::string error = test::refused(parse_config(text, "f.toml"));
    EXPECT_TRUE(has(error, write)) << error;
  }
  EXPECT_FALSE(has(test::refused(parse_config("[[port]]\nmatch = { pci = 0000:17:00.0 }\n", "f.toml")), "write "));
}

}  // namespace
}  // namespace fabric
