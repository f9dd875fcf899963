// SPDX-License-Identifier: Apache-2.0
#include <sysexits.h>
#include <systemd/sd-daemon.h>

#include <cstdio>

#include "agentd/agent.h"
#include "agentd/options.h"
#include "agentd/pci.h"
#include "judge/rule.h"

namespace fabric::agentd {
namespace {

// Says why the daemon does not start, to systemd as well.
int refuse(int exit_code, std::string_view id, const Error& failure) {
  write_journal({id, LOG_ERR, failure.text()});
  std::string first_line = failure.text().substr(0, failure.text().find('\n'));
  sd_notifyf(0, "STATUS=%s\nERRNO=%d", first_line.c_str(), failure.code != 0 ? failure.code : EINVAL);
  return exit_code;
}

int reconcile_once(PortManager& manager) {
  int worst = 0;
  const auto note = [&](const std::string& id, const Result<void>& done) {
    if (done) return;
    write_journal({message_id::trouble, LOG_ERR, id + ": " + done.error().text()});
    worst = 2;
  };
  const auto now = std::chrono::steady_clock::now();
  manager.rescan();
  for (const std::string& id : manager.table().ids()) note(id, manager.reconcile_port(id, now));
  note(kHostSubject, manager.reconcile_host(now));
  std::printf("%s\n", status_text(manager.view()).c_str());
  return std::max(worst, exit_code(manager.view()));
}

int run_agent(Kernel& kernel, PortManager& manager, const ConfigInUse& config, const std::string& config_file) {
  // Held until the process ends, whatever ends it.
  auto lock = state::take_lock("/", {}, state::kAgentLockFile);
  if (!lock)
    return refuse(lock.error().code == EWOULDBLOCK ? EX_TEMPFAIL : EX_OSERR, message_id::trouble, lock.error());
  manager.note_config(config);
  Agent agent(kernel, manager, config_file);
  if (auto confined = agent.confine(); !confined)
    write_journal({message_id::trouble, LOG_NOTICE,
                   "Landlock: " + confined.error().text() + "; nothing but the unit limits what agentd writes"});
  auto result = agent.open();
  if (result) result = agent.run();
  return result ? 0 : refuse(EX_OSERR, message_id::trouble, result.error());
}

int run(const Options& options) {
  if (!options.once && !options.pci) block_signals();
  auto kernel = open_kernel(options.root);
  if (!kernel) return refuse(EX_OSERR, message_id::trouble, kernel.error());
  auto config = load_config_in_use(options.root, options.config, rule_rows());
  // By hand, the operator's file is what counts.
  if (config && options.once && !config->error.empty()) config = error(0, config->error);
  if (!config && config.error().code == ENOENT)
    config = error(0, config.error().text() + "; write it as in fabric-agent.toml(5), or give another with --config");
  if (!config) return refuse(EX_CONFIG, message_id::configuration, config.error());
  for (const ConfigWarning& warning : config->config.warnings)
    write_journal({message_id::configuration, LOG_WARNING, warning.where + ": " + warning.what});
  if (options.pci) {
    if (!config->error.empty())
      write_journal({message_id::configuration, LOG_WARNING, config->error + "\nthe last valid configuration is used"});
    PciEnvironment environment = real_pci_environment(*kernel);
    return reconcile_pci(environment, config->config.policy);
  }
  if (!kernel->root.is_host() && config->config.policy.mode == Mode::enforce)
    return refuse(EX_CONFIG, message_id::configuration,
                  error(0, options.config_file() + ": mode: \"enforce\" on a captured tree; write mode = \"audit\""));
  PortManager manager(real_environment(*kernel), config->config.policy);
  return options.once ? reconcile_once(manager) : run_agent(*kernel, manager, *config, options.config);
}

}  // namespace
}  // namespace fabric::agentd

int main(int argc, char** argv) {
  using namespace fabric::agentd;
  auto options = parse_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "fabric-agentd: %s\n", options.error().what.c_str());
    return EX_USAGE;
  }
  if (options->help) return std::printf("%s", help_text().c_str()) < 0;
  if (options->version) return std::printf("fabric-agentd %s\n", FABRIC_VERSION) < 0;
  const int status = run(*options);
  std::fflush(nullptr);
  ::_exit(status);  // the reading of a module may hang in the kernel: nothing is torn down under it
}
