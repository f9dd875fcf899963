// SPDX-License-Identifier: Apache-2.0
// A simulated port with a tree of files behind it, both under reconcile().
#pragma once

#include "support/sim_files.h"
#include "support/sim_nic_bed.h"

namespace fabric::test {

struct TreeWithFiles {
  Tree tree;
  std::shared_ptr<SimFiles> files = std::make_shared<SimFiles>(tree);
};

struct FileBed : TreeWithFiles, Bed {
  // debugfs and configfs are mounted: something is in them.
  explicit FileBed(Personality personality) : Bed(personality, tree.path()) {
    tree.folder("sys/kernel/debug/clk").folder("sys/kernel/config/usb_gadget");
    tree.file("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    set_speed(nic.speed);
    kernel.root.set_behind(files);
    files->vanished = [this] { nic.present = false; };
  }

  // What the link says of its speed; it has one only with a carrier.
  void set_speed(uint32_t mbps) {
    nic.speed = mbps;
    tree.file("sys/class/net/eth0/speed", std::to_string(mbps) + "\n");
  }
};

}  // namespace fabric::test
