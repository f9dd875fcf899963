// SPDX-License-Identifier: Apache-2.0
#include "agentd/options.h"

#include <getopt.h>

namespace fabric::agentd {

Result<AgentdOptions> parse_options(int argc, char* const argv[]) {
  static constexpr option known[] = {{"config", required_argument, nullptr, 'c'},
                                     {"root", required_argument, nullptr, 'r'},
                                     {"once", no_argument, nullptr, 'o'},
                                     {"pci", no_argument, nullptr, 'p'},
                                     {"help", no_argument, nullptr, 'h'},
                                     {"version", no_argument, nullptr, 'V'},
                                     {nullptr, 0, nullptr, 0}};
  using Kind = AgentdOptions::Kind;
  AgentdOptions options;
  bool is_once = false, is_pci = false;
  opterr = 0;
  optind = 0;  // glibc: restart the scan
  for (int found; (found = ::getopt_long(argc, argv, ":c:r:hV", known, nullptr)) != -1;) {
    switch (found) {
      // An empty value comes from an unset shell variable, and must not select this machine.
      case 'c':
        if (*optarg == '\0') return error(EINVAL, "--config needs a value; see --help");
        options.config = optarg;
        break;
      case 'r':
        if (*optarg == '\0') return error(EINVAL, "--root needs a value; see --help");
        options.root = optarg;
        break;
      case 'o': is_once = true; break;
      case 'p': is_pci = true; break;
      case 'h': options.help = true; break;
      case 'V': options.version = true; break;
      case ':': return error(EINVAL, std::string(argv[optind - 1]) + " needs a value; see --help");
      default: return error(EINVAL, std::string(argv[optind - 1]) + ": unknown option; see --help");
    }
  }
  if (optind < argc) return error(EINVAL, std::string(argv[optind]) + ": fabric-agentd takes no arguments; see --help");
  if (options.root != "/") is_once = true;  // a captured tree sends no events
  if (is_pci && is_once) return error(EINVAL, "--pci cannot be combined with --once or --root; see --help");
  if (is_once) options.run = Kind::once;
  if (is_pci) options.run = Kind::pci;
  return options;
}

std::string help_text() {
  return "Usage: fabric-agentd [--once | --pci] [--config FILE] [--root DIR]\n"
         "Enforces the settings of fabric-agent.toml(5) on the RoCE ports of this server.\n\n"
         "  -c, --config FILE  read FILE (and conf.d/*.toml beside it) instead of\n"
         "                     /etc/fabric-agent/fabric-agent.toml\n"
         "      --once         reconcile all ports once, print the changes, and exit:\n"
         "                     0 in sync; 1 a setting differs, waits or is unsupported;\n"
         "                     2 a setting was refused or ignored, or is in conflict\n"
         "      --pci          set only mrrs (PCIe) and kernel.numa_balancing, publish the\n"
         "                     settings in PCI configuration space, and exit\n"
         "                     (fabric-agent-pci.service; requires CAP_SYS_ADMIN)\n"
         "  -r, --root DIR     check a captured tree instead of this machine; implies --once,\n"
         "                     and requires mode = \"audit\"\n"
         "  -h, --help         show help\n"
         "  -V, --version      print the version\n\n"
         "Normally started by systemd: systemctl enable --now fabric-agent. See fabric-agentd(8).\n";
}

}  // namespace fabric::agentd
