#!/usr/bin/python3
"""The virtual GPU server's PCIe and NUMA layout: QEMU's options for it, and what a locality tool must say of it.

Per NUMA node n (0, 1) one root complex (pxb-pcie) with
  * a switch with a GPU and a NIC below it,
  * a root port with a GPU alone,
  * a root port with a NIC alone.

"topology.py --json" prints ../topology.json.
"""
import json
import sys

NODES = ({"bus": 0x20}, {"bus": 0x60})


def qemu_options(memory_mib, far_gpu=False):
    """far_gpu: the GPU below node 0's switch sits on a root port of its own on node 1 instead, as 0000:67:00.0."""
    half = memory_mib // 2
    options = []
    for node in (0, 1):
        options += ["-object", f"memory-backend-ram,id=mem{node},size={half}M",
                    "-numa", f"node,nodeid={node},cpus={node},memdev=mem{node}"]
    options += ["-numa", "dist,src=0,dst=1,val=21"]
    slot = 10
    for node, where in enumerate(NODES):
        devices = [
            f"pxb-pcie,id=pxb{node},bus_nr={where['bus']},numa_node={node},bus=pcie.0",
            f"pcie-root-port,id=rp{node}a,bus=pxb{node},chassis={slot},slot={slot},addr=0.0,x-speed=16,x-width=16",
            f"pcie-root-port,id=rp{node}b,bus=pxb{node},chassis={slot + 3},slot={slot + 3},addr=1.0,x-speed=16,x-width=16",
            f"pcie-root-port,id=rp{node}c,bus=pxb{node},chassis={slot + 4},slot={slot + 4},addr=2.0,x-speed=16,x-width=16",
            f"x3130-upstream,id=up{node},bus=rp{node}a",
            f"xio3130-downstream,id=dn{node}0,bus=up{node},chassis={slot + 1},slot={slot + 1},addr=0.0",
            f"xio3130-downstream,id=dn{node}1,bus=up{node},chassis={slot + 2},slot={slot + 2},addr=1.0",
            f"bochs-display,bus=dn{node}0,vgamem=4M",
            f"e1000e,bus=dn{node}1,subsys_ven=0x15b3,subsys=0x0023,romfile=",
            f"bochs-display,bus=rp{node}b,vgamem=4M",
            f"e1000e,bus=rp{node}c,subsys_ven=0x15b3,subsys=0x0023,romfile=",
        ]
        if far_gpu and node == 0:
            devices.remove("bochs-display,bus=dn00,vgamem=4M")
        if far_gpu and node == 1:
            devices += ["pcie-root-port,id=rp1d,bus=pxb1,chassis=30,slot=30,addr=3.0,x-speed=16,x-width=16",
                        "bochs-display,bus=rp1d,vgamem=4M"]
        for device in devices:
            options += ["-device", device]
        slot += 10
    return options


def devices():
    """GPUs and NICs with their place. Bus numbers are given out by firmware depth first: root port a 1, switch 2, below it 3 and 4."""
    gpus, nics = [], []
    for node, where in enumerate(NODES):
        for bus, kind, root in ((3, gpus, "a"), (4, nics, "a"), (5, gpus, "b"), (6, nics, "c")):
            kind.append({"pci": f"0000:{where['bus'] + bus:02x}:00.0", "numa": node, "root_port": root})
    return gpus, nics


def path_class(gpu, nic):
    """As nvidia-smi's legend: one switch PIX, one root complex PHB, another NUMA node SYS."""
    if gpu["numa"] != nic["numa"]:
        return "SYS"
    return "PIX" if gpu["root_port"] == nic["root_port"] else "PHB"


def expected():
    gpus, nics = devices()
    return {
        "gpus": gpus,
        "nics": nics,
        "paths": [{"gpu": g["pci"], "nic": n["pci"], "class": path_class(g, n)} for g in gpus for n in nics],
        "pairs": [{"gpu": g["pci"], "nics": best(g, nics)} for g in gpus],
    }


def best(gpu, nics):
    order = ("PIX", "PHB", "SYS")
    nearest = min((path_class(gpu, nic) for nic in nics), key=order.index)
    return [nic["pci"] for nic in nics if path_class(gpu, nic) == nearest]


if __name__ == "__main__":
    if sys.argv[1:] != ["--json"]:
        sys.exit("usage: topology.py --json")
    print(json.dumps(expected(), indent=1))
