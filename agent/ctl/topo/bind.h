// SPDX-License-Identifier: Apache-2.0
// Which cores a process of each GPU should run on, for those who start processes. All need topology.cores.
#pragma once

#include <string>

#include "ctl/topo/view.h"

namespace fabric::ctl {

// CPUs of each GPU, and srun's --cpu-bind.
std::string topo_cpuset(const TopoView& view);
// Lines of gres.conf(5) of Slurm 22.05. Cores: logical cores, 0 the first of the first socket, as `lstopo -l`
// numbers them. Links: the place in the list is the device's number by PCI address; -1 the device itself, 0 no
// connection; such a line has one File.
std::string topo_slurm(const TopoView& view);
// "Rankfiles" in mpirun(1) of Open MPI 4.1 and 5.0: "rank N=+nHOST slot=CORES", logical cores in both. A comment warns
// of ranks that share cores, which is an error without "--bind-to :overload-allowed" of 5.0.
std::string topo_rankfile(const TopoView& view);

}  // namespace fabric::ctl
