// SPDX-License-Identifier: Apache-2.0
// Runs the agent's event loop in a thread, on this kernel, in the namespaces of the test.
#pragma once

#include <signal.h>
#include <unistd.h>

#include "agentd/agent.h"
#include "support/config.h"

namespace fabric::agentd {

class RunningAgent : public test::ConfigFiles {
 protected:
  // Opens the kernel in the current namespaces of the test. Blocks the signals that the agent handles.
  void open_kernel_here() {
    auto kernel = open_kernel("/");
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    kernel_.emplace(std::move(*kernel));
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGHUP, SIGTERM, SIGINT}) sigaddset(&signals, signal);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &signals, nullptr), 0);
  }
  void TearDown() override { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    ::kill(::getpid(), SIGTERM);
    thread_.join();
  }

  // An environment without a log, in which no port is in use.
  Environment environment(std::function<std::vector<Port>(const Policy&)> scan) {
    return {.kernel = *kernel_,
            .directory = tree.path(),
            .log = [](const JournalEntry&) {},
            .scan = std::move(scan),
            .in_use = [](const Port&) { return false; }};
  }
  void start(Environment environment, const std::string& config) {
    tree.file("a.toml", config);
    manager_.emplace(std::move(environment), test::loaded(load()).policy);
    agent_.emplace(*kernel_, *manager_, file());
    const auto opened = agent_->open();
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    thread_ = std::thread([this] { EXPECT_TRUE(agent_->run().ok()); });
  }

  std::optional<Kernel> kernel_;
  std::optional<PortManager> manager_;
  std::optional<Agent> agent_;
  std::thread thread_;
};

}  // namespace fabric::agentd
