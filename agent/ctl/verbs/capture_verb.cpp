// SPDX-License-Identifier: Apache-2.0
// capture: runs the other verbs with a recorder and saves everything that they read.
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>

#include "base/json.h"
#include "ctl/machine.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/capture.h"
#include "ctl/verbs/kept.h"
#include "kernel/capture/anonymize.h"
#include "node/counter_reader.h"

namespace fabric::ctl {
namespace {

struct SiteReading {
  std::string hostname;
  SiteFiles files;
};

// Reads the files and settings that the other verbs did not record.
Result<SiteReading> read_rest(const Options& options) {
  auto machine = open_machine(options);
  if (!machine) return machine.error();
  Kernel& kernel = machine->kernel;
  const Root& root = kernel.root;
  SiteReading site;
  const auto path_of = [](std::string name) { return name.erase(0, name.find_first_not_of('/')); };

  // The configuration is not read through the kernel's root, so the verbs did not record it.
  std::error_code failed;
  std::string file = std::filesystem::absolute(options.config_file(), failed).lexically_normal().string();
  if (!failed) {
    if (!root.is_host() && file.starts_with(root.path() + "/")) file.erase(0, root.path().size());
    const std::string folder = file.substr(0, file.rfind('/'));
    (void)root.read(file);
    site.files.configuration.insert(path_of(file));
    for (const std::string& place :
         {folder + "/conf.d", folder + "/profiles", std::string("/usr/share/fabric-agent/profiles")})
      if (const auto names = root.list(place))
        for (const std::string& name : *names)
          if (name.ends_with(".toml")) {
            (void)root.read(place + "/" + name);
            site.files.configuration.insert(path_of(place + "/" + name));
          }
  }
  if (machine->policy) {
    site.files.cabling = path_of(machine->policy->cabling.file);
    site.files.host = machine->policy->cabling.host;
  }

  for (const char* name : {"proc/sys/kernel/osrelease", "etc/os-release", "proc/cmdline", "proc/uptime"})
    (void)root.read(name);

  // Every setting, and whether the ports are in use, so that the machine can be compared with another policy later.
  const Node node = scan_machine(*machine, {.members = true});
  for (const Port& port : node.ports) {
    (void)qos::is_in_use(kernel, port);
    PortReader reader({root, kernel.rdma.get(), kernel.statistics.get()}, port);
    (void)reader.read();
  }
  (void)local_now(kernel);
  site.hostname = node.hostname;
  return site;
}

// Readings that failed with EACCES or EPERM, sorted: files by name, each netlink socket once.
std::vector<std::string> refused_readings(const Tape& tape) {
  std::set<std::string, NaturalLess> names;
  for (const auto& [question, samples] : tape.answers) {
    const auto& [ask, what] = question;
    const Answer& answer = samples.rbegin()->second;
    if (answer || (answer.error().code != EACCES && answer.error().code != EPERM)) continue;
    if (is_of_netlink(ask)) names.insert(std::string(to_text(ask)) + " netlink: " + answer.error().what);
    else if (is_of_files(ask)) names.insert("/" + what);
    else names.insert(what);
  }
  return {names.begin(), names.end()};
}

std::string about_text(const std::string& hostname, const Options& options, const std::vector<std::string>& reduced,
                       const std::vector<std::string>& refused) {
  utsname system{};
  (void)::uname(&system);
  std::string text = "Captured by fabric-agentctl " FABRIC_VERSION " at " + time_text(std::time(nullptr)) + ", user " +
                     std::to_string(::geteuid()) + "\n";
  std::string shown = hostname;
  if (!options.with_addresses) shown = host_pseudonym(hostname);
  text += "Machine: " + shown + ", " + system.sysname + " " + system.release + " " + system.machine + "\n";
  if (options.with_addresses) text += "Host name, MAC addresses, GUIDs, UUIDs and serial numbers: original\n";
  else text += "Host name, MAC addresses, GUIDs, UUIDs and serial numbers: pseudonyms (vendor prefixes are original)\n";
  text += "Usage: fabric-agentctl check --root THIS-DIRECTORY (also status, show, plan, topo)\n";
  if (!refused.empty()) text += "\nNot permitted to this user, and missing here:\n";
  for (const std::string& name : refused) text += "  " + name + "\n";
  if (!reduced.empty()) text += "\nOf these files, only what the checks use:\n";
  for (const std::string& name : reduced) text += "  " + name + "\n";
  return text;
}

}  // namespace

int run_capture(const Options& options, Output& output) {
  if (options.arguments.size() != 1 || options.arguments[0].empty())
    return fail(output, kUsage, "capture requires a DIR that is empty or does not exist");
  std::string directory = options.arguments.front();
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  if (auto usable = check_capture_directory(directory); !usable)
    return fail(output, kFailure, "capture: " + usable.error().text());
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
  auto site = read_rest(recorded);
  if (tape->beyond()) return fail(output, kFailure, "capture: " + tape->beyond()->text() + "; nothing was written");
  if (!site) return fail(output, kFailure, "capture: " + site.error().text());
  if (!options.with_addresses) site->files.shown_host = host_pseudonym(site->files.host);
  auto reduced = keep_used(*tape, site->files);
  if (!options.with_addresses) {
    auto hidden = anonymize(*tape, std::move(reduced));
    if (!hidden) return fail(output, kFailure, "capture: " + hidden.error().text() + "; nothing was written");
    reduced = std::move(*hidden);
  }
  const auto refused = refused_readings(*tape);
  const auto written = write_capture(*tape, about_text(site->hostname, options, reduced, refused), directory);
  if (!written) return fail(output, kFailure, "capture: " + written.error().text() + "; nothing was written");

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
  std::string text = directory + ": " + counted(written->files, "file") + ", " +
                     counted(written->answers, "other answer") + "; " + addresses +
                     " host name, MAC addresses, GUIDs, UUIDs and serial numbers.\n";
  if (!refused.empty()) {
    text += "Not permitted, and missing: " + counted(refused.size(), "reading");
    if (::geteuid() != 0) text += " (run as root)";
    text += "; see " + directory + "/fabric-agent/about.txt\n";
  }
  output.text += folded(text, output.width);
  return kDone;
}

}  // namespace fabric::ctl
