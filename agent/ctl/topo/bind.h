// SPDX-License-Identifier: Apache-2.0
// The cores that a process of each GPU should run on, for programs that start processes. All formats need
// topology.cores.
#pragma once

#include <string>

#include "ctl/topo/view.h"

namespace fabric::ctl {

// CPUs of each GPU, and srun's --cpu-bind.
std::string topo_cpuset(const TopoView& view);
// Lines of gres.conf(5) of Slurm 22.05. Cores: logical cores, where 0 is the first of the first socket, as `lstopo -l`
// numbers them. Links: the position in the list is the device's number by PCI address; -1 is the device itself, 0 no
// connection; a line with Links has one File.
std::string topo_slurm(const TopoView& view);
// "Rankfiles" in mpirun(1) of Open MPI 4.1 and 5.0: "rank N=+nHOST slot=CORES", logical cores in both. A comment warns
// of ranks that share cores, which is an error without "--bind-to :overload-allowed" of 5.0.
std::string topo_rankfile(const TopoView& view);

}  // namespace fabric::ctl
