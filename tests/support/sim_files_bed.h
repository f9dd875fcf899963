// SPDX-License-Identifier: Apache-2.0
// A simulated port with a tree of files behind it, both under reconcile().
#pragma once

#include "support/sim_files.h"
#include "support/sim_nic_bed.h"

namespace fabric::test {

struct FileBed {
  explicit FileBed(Personality personality)
      : files(std::make_shared<SimFiles>(tree)),
        nic(sim.add_nic("eth0", personality)),
        port(nic.port()),
        kernel(open()) {}

  Changes apply(const Qos& want) { return qos::reconcile(kernel, port, want, options); }
  Changes plan(const Qos& want) {
    qos::Options dry = options;
    dry.dry_run = true;
    return qos::reconcile(kernel, port, want, dry);
  }
  Qos read(const Keys& keys = Keys().set()) {
    auto now = qos::read(kernel, port, keys, &limits);
    EXPECT_TRUE(now.ok()) << now.error().text();
    return now.ok() ? *now : Qos{};
  }
  // What the link says of its speed; it has one only with a carrier.
  void set_speed(uint32_t mbps) {
    nic.speed = mbps;
    tree.file("sys/class/net/eth0/speed", std::to_string(mbps) + "\n");
  }

  Tree tree;
  std::shared_ptr<SimFiles> files;
  SimKernel sim;
  SimNic& nic;
  Port port;
  Kernel kernel;
  qos::Options options;
  Limits limits;  // of the newest read()

 private:
  // debugfs and configfs are mounted: something is in them.
  Kernel open() {
    tree.folder("sys/kernel/debug/clk").folder("sys/kernel/config/usb_gadget");
    tree.file("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    set_speed(nic.speed);
    Kernel out = sim.kernel(tree.path());
    out.root.set_behind(files);
    files->vanished = [this] { nic.present = false; };
    return out;
  }
};

}  // namespace fabric::test
