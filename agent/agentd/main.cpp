// SPDX-License-Identifier: Apache-2.0
#include <sysexits.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <cstdio>

#include "agentd/agent.h"
#include "agentd/options.h"
#include "agentd/pci.h"
#include "base/find.h"
#include "judge/rule.h"
#include "kernel/host/isolation.h"

namespace fabric::agentd {
namespace {

// Reports to the journal and to systemd why the daemon ends.
int fail(int exit_code, std::string_view id, const Error& failure) {
  write_journal({id, LOG_ERR, failure.text()});
  std::string first_line = failure.text().substr(0, failure.text().find('\n'));
  sd_notifyf(0, "STATUS=%s\nERRNO=%d", first_line.c_str(), failure.code != 0 ? failure.code : EINVAL);
  return exit_code;
}

// 0, or 2 after logging the error.
int log_failure(const std::string& subject, const Result<void>& done) {
  if (done) return 0;
  write_journal({message_id::trouble, LOG_ERR, subject + ": " + done.error().text()});
  return 2;
}

// The exit status if the configuration cannot be used. systemd starts the agent again after an error that may pass,
// such as EIO or EMFILE, and not after a fault in the files.
int config_exit_code(const Error& failure) {
  constexpr int kOfTheFiles[]{0, ENOENT, EACCES, EPERM, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG};
  return contains(kOfTheFiles, failure.code) ? EX_CONFIG : EX_OSERR;
}

// --once: returns the exit status.
int reconcile_once(PortManager& manager) {
  int worst = 0;
  const auto now = std::chrono::steady_clock::now();
  manager.rescan();
  for (const std::string& id : manager.table().ids())
    worst = std::max(worst, log_failure(id, manager.reconcile_port(id, now)));
  worst = std::max(worst, log_failure(kHostSubject, manager.reconcile_host(now)));
  std::printf("%s\n", service_status(manager.view()).c_str());
  return std::max(worst, exit_code(manager.view()));
}

// The daemon: returns the exit status when it is stopped or fails.
int run_agent(Kernel& kernel, PortManager& manager, const ConfigInUse& config, const std::string& config_file) {
  // The kernel releases the lock however the process ends.
  auto lock = state::take_lock("/", {}, state::kAgentLockFile);
  if (!lock) {
    const bool runs_already = lock.error().code == EWOULDBLOCK;
    return fail(runs_already ? EX_TEMPFAIL : EX_OSERR, message_id::trouble, lock.error());
  }
  manager.note_config(config);
  Agent agent(kernel, manager, config_file);
  if (auto confined = agent.confine(); !confined)
    write_journal({message_id::trouble, LOG_NOTICE,
                   "Landlock: " + confined.error().text() + "; only systemd's sandbox limits where agentd can write"});
  auto result = agent.open();
  if (result) result = agent.run();
  if (!result) return fail(EX_OSERR, message_id::trouble, result.error());
  return 0;
}

int run(const AgentdOptions& options) {
  using Kind = AgentdOptions::Kind;
  if (options.run == Kind::daemon) block_signals();
  // uid 0 may signal every process of root, without any capability.
  if (auto isolated = isolate_process(); !isolated)
    write_journal(
        {message_id::trouble, LOG_NOTICE, isolated.error().text() + "; agentd can signal other processes of root"});
  auto kernel = open_kernel(options.root);
  if (!kernel) return fail(EX_OSERR, message_id::trouble, kernel.error());
  auto config = load_config_in_use(options.root, options.config, rule_rows());
  // An operator who runs agentd by hand wants the current file checked, not the last valid one used.
  if (config && options.run == Kind::once && config->error) config = error(0, config->error->text());
  if (!config && config.error().code == ENOENT)
    config = error(0, config.error().text() + "; create it (see fabric-agent.toml(5)) or name another with --config");
  if (!config) return fail(config_exit_code(config.error()), message_id::configuration, config.error());
  for (const ConfigWarning& warning : config->config.warnings)
    write_journal({message_id::configuration, LOG_WARNING, warning.where + ": " + warning.what});
  if (options.run == Kind::pci) {
    if (config->error)
      write_journal(
          {message_id::configuration, LOG_WARNING, config->error->text() + "\nthe last valid configuration is used"});
    PciEnvironment environment = real_pci_environment(*kernel);
    return reconcile_pci(environment, config->config.policy);
  }
  if (!kernel->root.is_host() && config->config.policy.mode == Mode::enforce)
    return fail(EX_CONFIG, message_id::configuration,
                error(0, options.config_file() + ": mode: \"enforce\" on a captured tree; write mode = \"audit\""));
  PortManager manager(real_environment(*kernel), config->config.policy);
  if (options.run == Kind::once) return reconcile_once(manager);
  return run_agent(*kernel, manager, *config, options.config);
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
  ::_exit(status);  // no destructors: the thread that reads modules may hang in the kernel, and uses their objects
}
