// SPDX-License-Identifier: Apache-2.0
// capture: runs the other verbs with a recorder and saves everything that they read.
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/json.h"
#include "ctl/machine.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/capture.h"
#include "kernel/capture/anonymize.h"
#include "node/counter_reader.h"

namespace fabric::ctl {
namespace {

// Reads the files and settings that the other verbs did not record. Returns the host name.
Result<std::string> read_rest(const Options& options) {
  auto machine = open_machine(options);
  if (!machine) return machine.error();
  Kernel& kernel = machine->kernel;
  const Root& root = kernel.root;

  // The configuration is not read through the kernel's root, so the verbs did not record it.
  std::error_code failed;
  std::string file = std::filesystem::absolute(options.config_file(), failed).lexically_normal().string();
  if (!failed) {
    if (!root.is_host() && file.starts_with(root.path() + "/")) file.erase(0, root.path().size());
    const std::string folder = file.substr(0, file.rfind('/'));
    (void)root.read(file);
    for (const std::string& place :
         {folder + "/conf.d", folder + "/profiles", std::string("/usr/share/fabric-agent/profiles")})
      if (const auto names = root.list(place))
        for (const std::string& name : *names)
          if (name.ends_with(".toml")) (void)root.read(place + "/" + name);
  }

  for (const char* name :
       {"proc/version", "proc/sys/kernel/osrelease", "etc/os-release", "proc/cmdline", "proc/uptime"})
    (void)root.read(name);

  // Every setting, and whether the ports are in use, so that the machine can be compared with another policy later.
  const Node node = scan_machine(*machine, {.members = true});
  for (const Port& port : node.ports) {
    (void)qos::is_in_use(kernel, port);
    PortReader reader({root, kernel.rdma.get(), kernel.statistics.get()}, port);
    (void)reader.read();
  }
  (void)local_now(kernel);
  return node.hostname;
}

std::string about_text(const std::string& hostname, const Options& options, const std::vector<std::string>& refused) {
  utsname system{};
  (void)::uname(&system);
  std::string text = "Captured by fabric-agentctl " FABRIC_VERSION " at " + time_text(std::time(nullptr)) + ", user " +
                     std::to_string(::geteuid()) + "\n";
  text += "Machine: " + hostname + ", " + system.sysname + " " + system.release + " " + system.machine + "\n";
  if (options.with_addresses) text += "MAC addresses, GUIDs, UUIDs and serial numbers: original\n";
  else text += "MAC addresses, GUIDs, UUIDs and serial numbers: pseudonyms (vendor prefixes are original)\n";
  text += "Usage: fabric-agentctl check --root THIS-DIRECTORY (also status, show, plan, topo)\n";
  if (!refused.empty()) text += "\nNot permitted to this user, and missing here:\n";
  for (const std::string& name : refused) text += "  " + name + "\n";
  return text;
}

}  // namespace

int run_capture(const Options& options, Output& output) {
  if (options.arguments.size() != 1 || options.arguments[0].empty())
    return fail(output, kUsage, "capture requires a DIR that is empty or does not exist");
  std::string directory = options.arguments.front();
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  std::error_code failed;
  if (std::filesystem::exists(directory, failed) && !std::filesystem::is_empty(directory, failed))
    return fail(output, kFailure, "capture: " + directory + " is not an empty directory");
  const auto kernel = options.open(options.root);
  if (!kernel) return fail(output, kFailure, "capture: " + kernel.error().text());
  if (kernel->tape) return fail(output, kFailure, "capture: " + options.root + " is already a capture");
  const auto tape = std::make_shared<Tape>();
  Options recorded = options;
  recorded.open = [tape, open = options.open](const std::string& root) {
    auto opened = open(root);
    if (opened && !opened->tape) record(*opened, tape);
    return opened;
  };
  // The order matters: if a file is read again, the first answer is kept. The output and exit codes of the verbs are
  // ignored, since a failed reading is recorded as well.
  Options verb_options = recorded;
  verb_options.arguments.clear();
  verb_options.json = true;
  for (const char* verb : {"check", "status", "show", "plan", "topo", "neighbors"}) {
    Output ignored;
    (void)find_verb(verb)->run(verb_options, ignored);
  }
  const auto hostname = read_rest(recorded);
  if (!hostname) return fail(output, kFailure, "capture: " + hostname.error().text());
  anonymize(*tape, !options.with_addresses);
  const auto refused = refused_readings(*tape);
  const auto written = write_capture(*tape, about_text(*hostname, options, refused), directory);
  if (!written && written.error().code == EFBIG)
    return fail(output, kFailure, "capture: " + directory + ": more than 64 MiB; nothing was written");
  if (!written) return fail(output, kFailure, "capture: " + written.error().text());

  if (options.json) {
    output.text += json_text({{"directory", directory},
                              {"files", written->files},
                              {"bytes", written->bytes},
                              {"answers", written->answers},
                              {"addresses", options.with_addresses},
                              {"not_permitted", refused}});
    return kDone;
  }
  std::string addresses = "without";
  if (options.with_addresses) addresses = "with";
  std::string text = directory + ": " + std::to_string(written->files) + " files, " + std::to_string(written->answers) +
                     " other answers; " + addresses + " MAC addresses, GUIDs and serial numbers.\n";
  if (!refused.empty()) {
    text += std::to_string(refused.size()) + " readings were not permitted and are missing";
    if (::geteuid() != 0) text += " (run as root)";
    text += "; see " + directory + "/fabric-agent/about.txt\n";
  }
  output.text += folded(text, output.width);
  return kDone;
}

}  // namespace fabric::ctl
