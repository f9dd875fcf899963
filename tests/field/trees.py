# SPDX-License-Identifier: Apache-2.0
"""Machines of reports/, written from the facts of each report: the smallest tree of /sys and /proc that has them.

write(NAME, FOLDER) writes the machine NAME: what its function below adds to a host without devices. What no fact of the report fixes (bus
numbers, addresses, the healthy rest) is constructed. The right answers are in reports/*/report."""
import gzip
import json
import os
import shutil
import struct

NO_GID = ':'.join(['0000'] * 8)
# Beginnings of GIDs: of a netdev's MAC address, of an IPv4 address.
LINK_LOCAL, MAPPED = 'fe80:0000:0000:0000:5aa2:e1ff:fe00', '0000:0000:0000:0000:0000:ffff'
# PCI vendor, device and kernel driver of one NIC of each maker.
NICS = {'mlx5': ('0x15b3', '0x1021', 'mlx5_core'), 'mlx5-vf': ('0x15b3', '0x101e', 'mlx5_core'), 'bluefield': ('0x15b3', '0xa2dc', 'mlx5_core'),
        'bnxt': ('0x14e4', '0x1750', 'bnxt_en'), 'ionic': ('0x1dd8', '0x1002', 'ionic'), 'i40e': ('0x8086', '0x37d0', 'i40e'),
        'efa': ('0x1d0f', '0xefa3', 'efa'), 'mana': ('0x1414', '0x00ba', 'mana')}
GPUS = {'h100': ('0x10de', '0x2330', '0x030200', 'nvidia'), 'h20': ('0x10de', '0x2329', '0x030200', 'nvidia'),
        'a100': ('0x10de', '0x20b2', '0x030200', 'nvidia'), 'b300': ('0x10de', '0x3182', '0x030200', 'nvidia'),
        'gb10': ('0x10de', '0x2e12', '0x030200', 'nvidia'), 'v100': ('0x10de', '0x1db1', '0x030200', 'nvidia'),
        'b200': ('0x10de', '0x2901', '0x030200', 'nvidia'),
        'mi300x': ('0x1002', '0x74a1', '0x120000', 'amdgpu'), 'mi355x': ('0x1002', '0x75a3', '0x120000', 'amdgpu'),
        'h200': ('0x10de', '0x2335', '0x030200', 'nvidia'), 'l40s': ('0x10de', '0x26b9', '0x030200', 'nvidia'),
        'a2': ('0x10de', '0x25b6', '0x030200', 'nvidia'), 'a10g': ('0x10de', '0x2237', '0x030200', 'nvidia')}
# Names of the rate file by Gb/s.
RATES = {10: '10 Gb/sec (4X SDR)', 25: '25 Gb/sec (1X EDR)', 100: '100 Gb/sec (4X EDR)', 200: '200 Gb/sec (4X HDR)', 400: '400 Gb/sec (4X NDR)',
         800: '800 Gb/sec (4X XDR)'}
GEN5 = ('32.0 GT/s PCIe', '16')


def attribute(kind, value):
    """A netlink attribute."""
    return struct.pack('<HH', 4 + len(value), kind) + value + b'\0' * (-len(value) % 4)


def device_of(port):
    """The folder of the RDMA device of a port's folder."""
    return os.path.dirname(os.path.dirname(port))


class Tree:
    def __init__(self, top, release='6.8.0-60-generic'):
        self.top, self.index, self.answers, self.acs = top, 1, [], {}
        self.file('proc/sys/kernel/hostname', 'node-a')
        self.file('proc/sys/kernel/osrelease', release)
        for folder in 'sys/class/infiniband', 'sys/class/net', 'sys/bus/pci/devices':
            os.makedirs(os.path.join(top, folder), exist_ok=True)
        for node in 0, 1:
            self.file(f'sys/devices/system/node/node{node}/cpulist', f'{node * 8}-{node * 8 + 7}')

    def path(self, name):
        full = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        return full

    def file(self, name, text=''):
        with open(self.path(name), 'w', encoding='ascii') as file:
            file.write(f'{text}\n')

    def files(self, folder, **texts):
        for name, text in texts.items():
            self.file(f'{folder}/{name}', text)

    def link(self, name, target):
        os.symlink(os.path.relpath(os.path.join(self.top, target), os.path.dirname(self.path(name))), os.path.join(self.top, name))

    def module(self, *names):
        for name in names:
            self.file(f'sys/module/{name}/refcnt', '1')

    def function(self, parent, pci, kind, vendor, device, driver='', numa=0, link=GEN5):
        """A PCI function below the folder `parent`; its own folder."""
        folder = f'{parent}/{pci}'
        self.files(folder, vendor=vendor, device=device, numa_node=numa, **{'class': kind})
        self.files(folder, max_link_speed=link[0], max_link_width=link[1], current_link_speed=link[0], current_link_width=link[1])
        self.link(f'sys/bus/pci/devices/{pci}', folder)
        self.acs.setdefault(pci, None)
        if driver:
            if not os.path.isdir(os.path.join(self.top, f'sys/bus/pci/drivers/{driver}')):
                self.file(f'sys/bus/pci/drivers/{driver}/bind')
            self.link(f'{folder}/driver', f'sys/bus/pci/drivers/{driver}')
        return folder

    def bridge(self, parent, pci, numa=0, ids=('0x1000', '0xc030'), link=GEN5, acs=0):
        folder = self.function(parent, pci, '0x060400', *ids, 'pcieport', numa, link)
        self.acs[pci] = acs
        return folder

    def switch(self, number, downstream, numa=0, ids=('0x1000', '0xc030'), acs=0):
        """Root port and switch of bus 0x10 * (number + 1); the folders of its downstream ports."""
        bus = 0x10 * (number + 1)
        root = self.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:01.0', numa, ('0x8086', '0x352a'))
        upstream = self.bridge(root, f'0000:{bus + 1:02x}:00.0', numa, ids)
        return [self.bridge(upstream, f'0000:{bus + 2:02x}:{port:02x}.0', numa, ids, acs=acs) for port in range(downstream)]

    def root(self, bus, numa=0):
        return self.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:01.0', numa, ('0x8086', '0x352a'))

    def gpu(self, parent, bus, model, numa=0, link=GEN5):
        vendor, device, kind, driver = GPUS[model]
        return self.function(parent, f'0000:{bus:02x}:00.0', kind, vendor, device, driver, numa, link)

    def nic(self, parent, bus, maker, numa=0, slot='00.0', kind='0x020000', link=GEN5):
        return self.function(parent, f'0000:{bus:02x}:{slot}', kind, *NICS[maker], numa=numa, link=link)

    def rdma(self, nic, name, number=1, rate=400, layer='Ethernet', state=('4: ACTIVE', '5: LinkUp'), node_type='1: CA', counters=True):
        """An RDMA device with one port; the folder of the port."""
        folder = f'{nic}/infiniband/{name}'
        guid = f'5aa2:e103:0000:{number:04x}'
        self.files(folder, node_guid=guid, sys_image_guid=guid, fw_ver='28.43.2026', node_type=node_type, board_id='BOARD_1', hca_type='')
        self.link(f'{folder}/device', nic)
        self.link(f'sys/class/infiniband/{name}', folder)
        verbs = f'{nic}/infiniband_verbs/uverbs{len(os.listdir(self.path("sys/class/infiniband/."))) - 1}'
        self.file(f'{verbs}/ibdev', name)
        self.link(f'{verbs}/device', nic)
        self.link(f'sys/class/infiniband_verbs/{os.path.basename(verbs)}', verbs)
        port = f'{folder}/ports/1'
        self.files(port, state=state[0], phys_state=state[1], link_layer=layer, rate=RATES[rate], lid='0x0', sm_lid='0x0')
        if counters:
            self.files(f'{port}/counters', port_xmit_data=0, port_rcv_data=0, unicast_xmit_packets=0, unicast_rcv_packets=0)
            self.files(f'{port}/hw_counters', packet_seq_err=0, rx_write_requests=0)
        for index in range(4):
            self.file(f'{port}/gids/{index}', NO_GID)
        return port

    def gid(self, port, index, text, netdev):
        self.file(f'{port}/gids/{index}', text)
        self.file(f'{port}/gid_attrs/types/{index}', 'RoCE v2')
        self.file(f'{port}/gid_attrs/ndevs/{index}', netdev)

    def gids_of_both_versions(self, port, netdev, *texts, first=0):
        """The GIDs of the netdev's addresses, each as RoCE v1 and then v2, from the index `first` on."""
        for entry, text in enumerate(texts):
            for version in 0, 1:
                index = first + 2 * entry + version
                self.gid(port, index, text, netdev)
                self.file(f'{port}/gid_attrs/types/{index}', ('IB/RoCE v1', 'RoCE v2')[version])

    def gids(self, port, netdev, address='10.1.0.1'):
        a, b, c, d = map(int, address.split('.'))
        self.gid(port, 0, f'{LINK_LOCAL}:{(c << 8) + d:04x}', netdev)
        self.gid(port, 1, f'{MAPPED}:{(a << 8) + b:04x}:{(c << 8) + d:04x}', netdev)

    def netdev(self, nic, name, speed=400, carrier=True, mtu=9000, **more):
        folder = f'{nic}/net/{name}'
        self.index += 1
        self.files(folder, operstate='up' if carrier else 'down', carrier=int(carrier), mtu=mtu, speed=speed * 1000, type=1, dev_port=0,
                   flags='0x1003' if carrier else '0x1002', ifindex=self.index, address=f'58:a2:e1:00:00:{self.index:02x}', **more)
        self.link(f'{folder}/device', nic)
        self.link(f'sys/class/net/{name}', folder)

    def roce(self, parent, bus, rdma, netdev, number, maker='mlx5', rate=400, numa=0, address='', **more):
        """A RoCE NIC with a port that works; the folder of the port."""
        nic = self.nic(parent, bus, maker, numa)
        port = self.rdma(nic, rdma, number, rate)
        self.netdev(nic, netdev, rate, **more)
        self.gids(port, netdev, address or f'10.1.{number}.1')
        return port

    def refuse(self, file, errno):
        self.answers.append(f'read now {file}\n! {errno} -')

    def statistics(self, netdev, before, now):
        for sample, values in (('before', before), ('now', now)):
            self.answers.append('\n'.join([f'statistics {sample} {netdev}', *(f'= {name}={value}' for name, value in values.items())]))

    def counters(self, port, before, now, folder='hw_counters'):
        """Values of a folder of counters in both samples."""
        by_class = f'sys/class/infiniband/{port.split("/")[-3]}/ports/1/{folder}'
        for sample, values in (('before', before), ('now', now)):
            self.answers += [f'read {sample} {by_class}/{name}\n= {value}%0a' for name, value in values.items()]
        for name, value in now.items():
            self.file(f'{port}/{folder}/{name}', value)

    def link_state(self, netdev):
        """The answer to RTM_GETLINK by name and by index, as the files of the netdev say."""
        folder = f'{self.top}/sys/class/net/{netdev}'
        value = {name: open(f'{folder}/{name}', encoding='ascii').read().strip() for name in ('ifindex', 'mtu', 'carrier')}
        name = attribute(3, netdev.encode() + b'\0')
        by_name = struct.pack('<BxHiII', 0, 0, 0, 0, 0) + name
        by_index = struct.pack('<BxHiII', 0, 0, int(value['ifindex']), 0, 0)
        reply = struct.pack('<BxHiII', 0, 1, int(value['ifindex']), 0x11043, 0) + name
        reply += attribute(4, struct.pack('<I', int(value['mtu']))) + attribute(33, bytes([int(value['carrier'])]))
        for question in by_name, by_index:
            self.answers.append(f'route now {(struct.pack("<HH", 18, 0) + question).hex()}\n= {(struct.pack("<H", 16) + reply).hex()}')

    def list(self, command, header, entries):
        """The answer to a dump by rtnetlink."""
        question = struct.pack('<HH', command, 0x300) + bytes(header)
        self.answers.append('\n'.join([f'route now {question.hex()}'] + [f'= {(struct.pack("<H", command - 2) + each).hex()}' for each in entries]))

    def addressing(self, addresses):
        """Links, addresses, and the routes to their /24 by the kernel; no others. addresses: by netdev."""
        links, ips, routes = [], [], []
        for netdev, address in addresses.items():
            self.link_state(netdev)
            links.append(bytes.fromhex(self.answers[-1].split('\n= ')[1])[2:])
            index = int(open(f'{self.top}/sys/class/net/{netdev}/ifindex', encoding='ascii').read())
            ip = bytes(map(int, address.split('.')))
            ips.append(struct.pack('<BBBBI', 2, 24, 0x80, 0, index) + attribute(1, ip) + attribute(2, ip))
            # struct rtmsg: table main, protocol kernel, scope link, unicast
            routes.append(struct.pack('<BBBBBBBBI', 2, 24, 0, 0, 254, 2, 253, 1, 0) + attribute(1, ip[:3] + b'\0') + attribute(4, struct.pack('<I', index)))
        self.list(18, 16, links)  # RTM_GETLINK
        self.list(22, 8, ips)  # RTM_GETADDR
        self.list(26, 12, routes)  # RTM_GETROUTE
        self.list(34, 12, [])  # RTM_GETRULE

    def dcb(self, netdev, pfc, dscps, dcbx=0x1 | 0x8):
        """The answer to RTM_GETDCB: PFC of these priorities, and a DSCP table. dcbx: by the host, IEEE."""
        self.link_state(netdev)
        header = struct.pack('<BBH', 0, 21, 0)  # struct dcbmsg, DCB_CMD_IEEE_GET
        name = attribute(1, netdev.encode() + b'\0')
        mask = sum(1 << priority for priority in pfc)
        state = attribute(2, struct.pack('<BBBxHxx16Q', 8, mask, 0, 0, *[0] * 16))  # struct ieee_pfc
        table = b''.join(attribute(1, struct.pack('<BBH', 5, priority, dscp)) for dscp, priority in dscps.items())
        ets = attribute(1, struct.pack('<59B', *[0, 8, 0], *[50, 50] + [0] * 6, *[50, 50] + [0] * 6, *[2] * 8, *[0, 0, 0, 1, 0, 0, 0, 0], *[0] * 24))  # struct ieee_ets
        reply = header + name + attribute(13, ets + state + attribute(3, table)) + attribute(14, bytes([dcbx]))
        question = struct.pack('<HH', 78, 0) + header + name
        self.answers.append(f'route now {question.hex()}\n= {(struct.pack("<H", 78) + reply).hex()}')

    def ethtool(self, netdev, command, reply, flags=0, asked=b''):
        """The answer to a message of ethtool about a netdev (ETHTOOL_MSG_*), and the id of its family. reply: attributes."""
        header = struct.pack('<BBH', 3, 1, 0) + attribute(2, b'ethtool\0')  # CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME
        family = struct.pack('<BBH', 1, 2, 0) + attribute(1, struct.pack('<H', 21))
        question = f'generic now {(struct.pack("<HH", 16, 0) + header).hex()}\n= {(struct.pack("<H", 16) + family).hex()}'
        if question not in self.answers:
            self.answers.append(question)
        device = attribute(2, netdev.encode() + b'\0') + (attribute(3, struct.pack('<I', flags)) if flags else b'')
        question = struct.pack('<HHBBH', 21, 0, command, 1, 0) + attribute(0x8001, device) + asked
        self.answers.append(f'generic now {question.hex()}\n= {(struct.pack("<HBBH", 21, command, 1, 0) + reply).hex()}')

    def no_global_pause(self, netdev):
        self.ethtool(netdev, 21, attribute(2, b'\0') + attribute(3, b'\0') + attribute(4, b'\0'))

    def link_down(self, netdev, reason, detail=None):
        """The link is down for this reason (ETHTOOL_LINK_EXT_STATE_*)."""
        self.ethtool(netdev, 6, attribute(2, b'\0') + attribute(5, bytes([reason])) + (b'' if detail is None else attribute(6, bytes([detail]))), 4)

    def optics(self, netdev, rx, tx=(1.0, 1.0, 1.0, 1.0), lost=()):
        """A QSFP of SFF-8636 with four lanes. rx, tx: mW of each lane; lost: lanes without a signal, from 0."""
        low, high, limits = bytearray(128), bytearray(128), bytearray(128)
        low[0], low[3] = 0x11, sum(1 << lane for lane in lost)
        low[22:24], low[26:28] = struct.pack('>h', 45 * 256), struct.pack('>H', 33000)
        for lane in range(4):
            low[34 + 2 * lane:36 + 2 * lane] = struct.pack('>H', round(rx[lane] * 10000))
            low[42 + 2 * lane:44 + 2 * lane] = struct.pack('>H', 3500)
            low[50 + 2 * lane:52 + 2 * lane] = struct.pack('>H', round(tx[lane] * 10000))
        for lane in lost:
            low[9 + lane // 2] |= 0x50 >> 4 * (lane % 2)  # RX power: low alarm, low warning
        high[0], high[2], high[3], high[19] = 0x11, 0x0c, 0x10, 0x00
        high[20:36], high[40:56], high[56:58] = b'VENDOR A        ', b'QSFP-200G-SR4   ', b'A1'
        high[68:84], high[84:92], high[92] = b'SERIAL0001      ', b'240101  ', 0x0c
        high[63], high[95] = sum(high[0:63]) & 0xff, sum(high[64:95]) & 0xff
        for at, values in ((0, (75 * 256, -5 * 256, 70 * 256, 0)), (16, (36300, 29700, 34650, 31350)), (48, (34673, 646, 17378, 1023)),
                           (56, (5000, 1000, 4500, 1500)), (64, (34673, 1259, 17378, 2512))):
            limits[at:at + 8] = struct.pack('>4h' if at == 0 else '>4H', *values)
        for page, offset, data in ((0, 0, low), (0, 128, high), (3, 128, limits)):
            asked = attribute(2, struct.pack('<I', offset)) + attribute(3, struct.pack('<I', 128))
            asked += attribute(4, bytes([page])) + attribute(5, b'\0') + attribute(6, b'\x50')
            self.ethtool(netdev, 31, attribute(7, bytes(data)), asked=asked)

    def close(self):
        functions = {pci: {'mrrs': 4096, 'max_payload': 256, 'relaxed_ordering': True, **({} if acs is None else {'acs': acs})}
                     for pci, acs in self.acs.items()}
        self.file('run/fabric-agent/pci.json', json.dumps({'format': 1, 'updated': '2026-11-29T02:00:00Z', 'functions': functions}))
        if self.answers:
            self.file('fabric-agent/answers.txt', '\n'.join(['fabric-agent capture 1', *self.answers, 'end']))


DSCPS = {dscp: dscp // 8 for dscp in range(64)}
POLICY = '''mode = "audit"
traffic = { dscp = 26, priority = 3 }
[[port]]
name = "roce"
match = { driver = "mlx5_core" }
trust = "dscp"
pfc = [3]
'''


def installed_modules(tree, release, *modules):
    """The driver files of a kernel, by their place below kernel/drivers, and modules.dep: the RDMA drivers need ib_core."""
    folder = f'lib/modules/{release}'
    lines = []
    for module in modules:
        tree.file(f'{folder}/kernel/drivers/{module}.ko')
        needs = ' kernel/drivers/infiniband/core/ib_core.ko' if module.startswith('infiniband/hw/') else ''
        lines.append(f'kernel/drivers/{module}.ko:{needs}')
    tree.file(f'{folder}/modules.dep', '\n'.join(lines))


def gpu_switches(tree, model, count=8, ports=2, gpus=1, **more):
    """Switches with a GPU, or two, below the first of their downstream ports, half of the switches below each socket. Of each: its number,
    NUMA node and bus, and all its downstream ports. The caller adds the NICs."""
    for n in range(count):
        numa, bus = n * 2 // count, 0x10 * (n + 1)
        downstream = tree.switch(n, ports, numa, **more)
        for which in range(gpus):
            tree.gpu(downstream[which], bus + 3 + which, model, numa)
        yield n, numa, bus, downstream


def modules(tree, model, maker, count=8, names='{maker}_{n}', netdevs='ens{n}', rate=400):
    """A switch for each GPU and its NIC; the ports."""
    out = []
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, model, count):
        out.append(tree.roce(below_nic, bus + 4, names.format(maker=maker, n=n), netdevs.format(n=n + 1), n, maker, rate, numa))
    return out


def guest(tree, vendor, product):
    tree.files('sys/class/dmi/id', sys_vendor=vendor, product_name=product)
    tree.file('proc/cpuinfo', 'flags : fpu hypervisor')


def ainic_named_rdma0(tree):
    modules(tree, 'mi300x', 'ionic', names='rdma{n}', netdevs='enp{n}s0')
    tree.module('ionic', 'ionic_rdma', 'amdgpu')


def bluefield_dpu_mode(tree):
    for n in range(2):
        below_gpu, below_nic = tree.switch(n, 2)
        tree.gpu(below_gpu, 0x13 + 0x10 * n, 'h100')
        tree.roce(below_nic, 0x14 + 0x10 * n, f'mlx5_{n}', f'ens{n}np0', n, 'bluefield', phys_port_name='p0')
        # EOPNOTSUPP: the E-Switch is not this function's
        tree.refuse(f'sys/class/net/ens{n}np0/phys_switch_id', 95)
        tree.dcb(f'ens{n}np0', [], {})
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.replace('"audit"', '"enforce"').rstrip())


def dual_port_second_unprovisioned(tree):
    port = tree.root(0xc0)
    tree.gpu(tree.root(0xd0), 0xd1, 'h100')
    first, second = tree.nic(port, 0xc2, 'bnxt'), tree.nic(port, 0xc2, 'bnxt', slot='00.1')
    tree.gids(tree.rdma(first, 'bnxt_re0', 0, 100), 'enp194s0f0np0')
    tree.netdev(first, 'enp194s0f0np0', 100)
    tree.rdma(second, 'bnxt_re1', 1, 100, state=('1: DOWN', '3: Disabled'))
    tree.netdev(second, 'enp194s0f1np1', 100, carrier=False)


def efa_no_nccl_ib_variables(tree):
    guest(tree, 'Amazon EC2', 'p6-b300.48xlarge')
    for n, numa, bus, ports in gpu_switches(tree, 'b300', ports=3):
        for which in 0, 1:
            nic = tree.nic(ports[1 + which], bus + 4 + which, 'efa', numa)
            port = tree.rdma(nic, f'rdmap{bus + 4 + which}s0', 2 * n + which, 400, layer='Unspecified')
            for index in range(4):
                os.unlink(tree.path(f'{port}/gids/{index}'))
            tree.gid(port, 0, f'{LINK_LOCAL}:{2 * n + which:04x}', '')


def four_nics_eight_gpus(tree):
    """GPUs 1, 3, 4 and 6 share a switch with a NIC; each other GPU has a root port of its own."""
    beside = {1: 0, 3: 1, 4: 2, 6: 3}
    for n, numa, bus, ports in gpu_switches(tree, 'h20'):
        if n in beside:
            tree.roce(ports[1], bus + 4, f'mlx5_{beside[n]}', f'ens{beside[n]}np0', beside[n], numa=numa)
    tree.module('nvidia', 'nvidia_peermem')


def gdr_off_acs_on(tree):
    tree.file('proc/sys/kernel/osrelease', '3.10.0-1160.el7.x86_64')
    for n in range(2):
        # SrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+
        below_gpu, below_nic = tree.switch(n, 2, acs=0x1d)
        tree.gpu(below_gpu, 0x13 + 0x10 * n, 'v100')
        tree.roce(below_nic, 0x14 + 0x10 * n, f'mlx5_{n}', f'ens{n}', n, rate=100)
    tree.module('nvidia', 'mlx5_core', 'ib_core')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  418.67  Sat Apr  6 03:07:24 CDT 2019')


def names_of_host(tree, compute):
    """Four switches with two GPUs and a 400G NIC; 200G and 25G NICs below root ports of their own."""
    others = [name for name in range(9) if name not in compute]
    for n, numa, bus, ports in gpu_switches(tree, 'h100', 4, ports=3, gpus=2):
        tree.roce(ports[2], bus + 5, f'mlx5_{compute[n]}', f'ens{compute[n]}', compute[n], numa=numa)
    for n, (name, rate) in enumerate(zip(others, (200, 200, 25, 25))):
        tree.roce(tree.root(0x80 + 0x10 * n, n % 2), 0x81 + 0x10 * n, f'mlx5_{name}', f'eno{name}', name, rate=rate, numa=n % 2, address=f'192.168.{name}.5')
    tree.module('nvidia', 'nvidia_peermem')


def hca_names_host_a(tree):
    names_of_host(tree, (0, 3, 5, 8))


def hca_names_host_b(tree):
    names_of_host(tree, (0, 1, 4, 5))


def ionic_no_route_between_rails(tree):
    addresses = {}
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'mi300x'):
        netdev = f'benic{n + 1}p1'
        addresses[netdev] = f'30.2.{n + 1}.1'
        tree.roce(below_nic, bus + 4, f'ionic_{n}', netdev, n, 'ionic', 200, numa, address=addresses[netdev])
    tree.addressing(addresses)
    tree.module('ionic', 'ionic_rdma', 'amdgpu')


def ionic_provider_abi(tree):
    modules(tree, 'mi300x', 'ionic', rate=200)
    tree.module('ionic', 'ionic_rdma', 'amdgpu')
    folder = 'usr/lib/x86_64-linux-gnu/libibverbs'
    for name in 'libionic-rdmav59.so', 'libmlx5-rdmav34.so', 'libbnxt_re-rdmav34.so', 'libefa-rdmav34.so':
        tree.file(f'{folder}/{name}')
    for name in 'mlx5', 'bnxt_re', 'efa', 'ionic':
        tree.file(f'etc/libibverbs.d/{name}.driver', f'driver {name}')


def ionic_rdma_blacklisted(tree):
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'mi300x'):
        tree.netdev(tree.nic(below_nic, bus + 4, 'ionic', numa), f'enp{n}s0')
    tree.module('ionic', 'amdgpu')
    tree.file('proc/modules', 'ionic 311296 0 - Live 0x0000000000000000\namdgpu 19718144 0 - Live 0x0000000000000000')
    tree.file('etc/modprobe.d/blacklist-ionic.conf', 'blacklist ionic_rdma')


def iwarp_no_ib_counters(tree):
    for n in range(4):
        nic = tree.nic(tree.root(0x10) if n == 0 else 'sys/devices/pci0000:10/0000:10:01.0', 0x11, 'i40e', slot=f'00.{n}')
        tree.rdma(nic, f'i40iw{n}', n, 10, node_type='4: RNIC', counters=False)
        tree.netdev(nic, f'eno{n + 1}', 10)
    for n in range(2):
        tree.roce(tree.root(0x20 + 0x10 * n), 0x21 + 0x10 * n, f'mlx5_{n}', f'ens{n}', n, rate=100)


def lldpad_overrides_pfc(tree):
    modules(tree, 'h100', 'mlx5', 2)
    for n in range(2):
        # PFC as lldpad has written it; DCBX in the host (DCB_CAP_DCBX_HOST, IEEE)
        tree.dcb(f'ens{n + 1}', [], DSCPS)
    tree.files('proc/812', comm='lldpad', cmdline='/usr/sbin/lldpad\0-t', cgroup='0::/system.slice/lldpad.service',
               status='Name:\tlldpad\nPid:\t812\nUid:\t0\t0\t0\t0')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.replace('"audit"', '"enforce"').rstrip())


def mana(tree):
    guest(tree, 'Microsoft Corporation', 'Virtual Machine')
    nic = tree.nic('sys/devices/pci7870:00', 0, 'mana')
    port = tree.rdma(nic, 'mana_0', 1, 200)
    tree.netdev(nic, 'eth1', 200)
    tree.gids(port, 'eth1')
    tree.module('mana', 'mana_ib')
    return port


def mana_provider_missing(tree):
    mana(tree)
    folder = 'usr/lib/libibverbs'
    for name in 'libmlx5-rdmav34.so', 'libefa-rdmav34.so':
        tree.file(f'{folder}/{name}')
    for name in 'mlx5', 'efa':
        tree.file(f'etc/libibverbs.d/{name}.driver', f'driver {name}')


def mana_rate_einval(tree):
    port = mana(tree)
    os.unlink(tree.path(f'{port}/rate'))
    tree.refuse('sys/class/infiniband/mana_0/ports/1/rate', 22)
    tree.file(f'{os.path.dirname(os.path.dirname(device_of(port)))}/net/eth1/speed', '-1')


def on_priority_0(tree, ports, busy):
    """The policy's traffic is on priority 3, with PFC; the ports `busy` send on priority 0 at full rate."""
    for n, port in enumerate(ports):
        tree.dcb(f'ens{n + 1}', [3], DSCPS)
        idle = {f'{way}_prio{p}_{unit}': 1000 for way in ('rx', 'tx') for p in range(8) for unit in ('bytes', 'packets')}
        now = dict(idle)
        if n in busy:
            now |= {'tx_prio0_bytes': 1000 + 40_000_000_000, 'tx_prio0_packets': 1000 + 9_700_000}
        tree.statistics(f'ens{n + 1}', idle, now)
        tree.counters(port, {'rx_write_requests': 10}, {'rx_write_requests': 12})
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.rstrip())


def mori_devx_ignores_traffic_class(tree):
    ports = modules(tree, 'mi300x', 'mlx5', 2)
    on_priority_0(tree, ports, {0, 1})
    for port in ports:
        units = dict.fromkeys(('port_xmit_data', 'port_rcv_data'), 0)  # of 4 bytes
        tree.counters(port, units, dict.fromkeys(units, 10_000_000_000), 'counters')


def ucx_traffic_class_one_way(tree):
    """Host B, in one second."""
    ports = modules(tree, 'h100', 'mlx5', 1)
    tree.dcb('ens1', [3], DSCPS)
    zero = {f'{way}_prio{p}_{unit}': 0 for way in ('rx', 'tx') for p in range(8) for unit in ('bytes', 'packets')}
    now = zero | {'tx_prio0_packets': 4015359, 'tx_prio0_bytes': 4015359 * 4180, 'rx_prio3_packets': 3964146, 'rx_prio3_bytes': 3964146 * 4180,
                  'rx_prio0_packets': 50950, 'rx_prio0_bytes': 50950 * 90}
    tree.statistics('ens1', zero, now)
    units = dict.fromkeys(('port_xmit_data', 'port_rcv_data'), 0)  # of 4 bytes
    tree.counters(ports[0], units, dict.fromkeys(units, 4_150_000_000), 'counters')
    tree.counters(ports[0], {'rx_write_requests': 0}, {'rx_write_requests': 960_000})
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.rstrip())


def nccl_all_vfs_of_host(tree):
    """A container with three VFs; sysfs shows the 34 of the host, whose netdevs are in other network namespaces."""
    given, parents = {6, 18, 26}, []
    for n in range(34):
        # two of the four PFs have one VF more than the others
        pf = n % 4
        if n < 4:
            parents.append(tree.root(0x10 * (pf + 1)))
        nic = tree.nic(parents[pf], 0x11 + 0x10 * pf, 'mlx5-vf', slot=f'{n // 4 // 8:02x}.{n // 4 % 8}')
        port = tree.rdma(nic, f'mlx5_{n}', n, 100)
        name = f'net{sorted(given).index(n) + 1}' if n in given else f'vf{n}'
        tree.gids(port, name, f'10.2.{n}.1')
        if n in given:
            tree.netdev(nic, name, 100)
        else:
            os.makedirs(os.path.join(tree.top, nic, 'net'))


def nccl_pex88096_swapped_pair(tree):
    """Four switches with two GPUs and two NICs; in the first a virtual bridge stands before GPU0's and GPU1's own NICs in turn:
    GPU0 is one bridge nearer to mlx5_1."""
    ids = ('0x1000', '0xc010')
    for n in range(4):
        numa, bus = n // 2, 0x20 * (n + 1)
        root = tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:01.0', numa, ('0x1022', '0x1483'))
        upstream = tree.bridge(root, f'0000:{bus + 1:02x}:00.0', numa, ids)
        ports = [tree.bridge(upstream, f'0000:{bus + 2:02x}:{port:02x}.0', numa, ids) for port in range(4)]
        if n == 0:
            # P2P bridge: a further level of the same switch, with the port of NIC 0
            inner = tree.bridge(ports[2], f'0000:{bus + 8:02x}:00.0', numa, ids)
            ports[2] = tree.bridge(inner, f'0000:{bus + 9:02x}:00.0', numa, ids)
        for which in 0, 1:
            tree.gpu(ports[which], bus + 4 + which, 'a100', numa)
            number = 2 * n + which
            tree.roce(ports[2 + which], bus + (10 if which == 0 else 11), f'mlx5_{number}', f'ens{number}', number, rate=200, numa=numa)
    tree.module('nvidia', 'nvidia_peermem')


def nccl_topo_file_slow_bridge(tree):
    guest(tree, 'QEMU', 'Standard PC (Q35 + ICH9, 2009)')
    slow = ('2.5 GT/s PCIe', '1')
    for n in range(4):
        bus = 0x10 * (n + 1)
        upstream = tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:00.0', ids=('0x104c', '0x8232'), link=slow)
        ports = [tree.bridge(upstream, f'0000:{bus + 1:02x}:{port:02x}.0', ids=('0x104c', '0x8232'), link=slow) for port in (0, 1)]
        tree.gpu(ports[0], bus + 2, 'a100', link=('16.0 GT/s PCIe', '16'))
        nic = tree.nic(ports[1], bus + 3, 'mlx5', link=('16.0 GT/s PCIe', '16'))
        tree.gids(tree.rdma(nic, f'mlx5_{n}', n, 200), f'eth{n}', f'10.1.{n}.1')
        tree.netdev(nic, f'eth{n}', 200)
    tree.module('nvidia', 'nvidia_peermem')


def rccl_hyperv_gdr_check(tree):
    tree.file('proc/sys/kernel/osrelease', '6.5.0-1025-azure')
    guest(tree, 'Microsoft Corporation', 'Virtual Machine')
    tree.file('sys/class/dmi/id/bios_version', 'Hyper-V UEFI Release v4.1')
    tree.file('proc/sys/kernel/numa_balancing', '1')
    tree.file('proc/kallsyms', '0000000000000000 T ib_register_peer_memory_client\t[ib_core]')
    for n in range(8):
        numa = n // 4
        folder = f'sys/devices/pci000{n}:00'
        tree.function(folder, f'000{n}:00:00.0', '0x120000', '0x1002', '0x74b5', 'amdgpu', numa)
        nic = tree.function(f'sys/devices/pci01{n:02x}:00', f'01{n:02x}:00:02.0', '0x020700', '0x15b3', '0x101e', 'mlx5_core', numa)
        port = tree.rdma(nic, f'mlx5_ib{n}', n, 400, layer='InfiniBand')
        tree.files(port, lid=f'0x1{n}', sm_lid='0x1')
        tree.file(f'{port}/gids/0', f'{LINK_LOCAL}:{n:04x}')
    tree.module('amdgpu', 'mlx5_core')


def roce_congestion_counters(tree):
    """The values since boot, as two samples: zero, and these."""
    port = modules(tree, 'v100', 'mlx5', 1, rate=100)[0]
    now = {'duplicate_request': 0, 'implied_nak_seq_err': 0, 'local_ack_timeout_err': 91316, 'np_cnp_sent': 17269947,
           'np_ecn_marked_roce_packets': 11293938, 'out_of_buffer': 0, 'out_of_sequence': 6140236, 'packet_seq_err': 929974,
           'req_cqe_error': 2, 'req_cqe_flush_error': 0, 'req_remote_access_errors': 0, 'resp_cqe_error': 20540}
    tree.counters(port, dict.fromkeys(now, 0), now)
    traffic = dict.fromkeys(('port_xmit_data', 'port_rcv_data', 'port_xmit_packets', 'port_rcv_packets'), 0)
    tree.counters(port, traffic, dict.fromkeys(traffic, 900_000_000), 'counters')


def spark_mtu_1500(tree):
    tree.gpu(tree.root(0x0f), 0x10, 'gb10')
    tree.roce(tree.root(0x01), 0x02, 'rocep1s0f0', 'enp1s0f0np0', 0, rate=200, mtu=1500)


def vm_acs_ats_half_bandwidth(tree):
    guest(tree, 'QEMU', 'Standard PC (Q35 + ICH9, 2009)')
    for n in range(2):
        bus = 0x10 * (n + 1)
        tree.gpu(tree.bridge('sys/devices/pci0000:00', f'0000:00:{2 * n + 1:02x}.0', ids=('0x1b36', '0x000c')), bus, 'a100')
        tree.roce(tree.bridge('sys/devices/pci0000:00', f'0000:00:{2 * n + 2:02x}.0', ids=('0x1b36', '0x000c')), bus + 1, f'mlx5_{n}', f'eth{n}', n, rate=200)
    tree.module('nvidia', 'nvidia_peermem')


def efa_mlx5_uverbs_exposed(tree):
    """The pod: the device plugin has given it the eight EFA devices; a hostPath shows the verbs devices of two mlx5 functions as well."""
    guest(tree, 'Amazon EC2', 'p6-b200.48xlarge')
    for n, numa, bus, ports in gpu_switches(tree, 'h100'):
        nic = tree.nic(ports[1], bus + 4, 'efa', numa)
        tree.gid(tree.rdma(nic, f'rdmap{bus + 4}s0', n, 400, layer='Unspecified'), 0, f'{LINK_LOCAL}:{n:04x}', '')
    for n in range(2):
        nic = tree.nic(tree.root(0xa0 + 0x10 * n), 0xa1 + 0x10 * n, 'mlx5')
        tree.rdma(nic, f'ibp{115 + n}s0f0', 20 + n, 400)
        os.makedirs(os.path.join(tree.top, nic, 'net'))
    tree.file('proc/1/comm', 'sleep')
    for n in range(10):
        tree.file(f'dev/infiniband/uverbs{n}')


def pod(tree, uverbs):
    """A container: no init as process 1, and the verbs devices that the device plugin has given it."""
    tree.file('proc/1/comm', 'sleep')
    for n in range(uverbs):
        tree.file(f'dev/infiniband/uverbs{n}')


def virtual_netdev(tree, name, address='02:00:00:00:00', mtu=9000):
    """A netdev without a PCI function (macvlan, veth)."""
    folder = f'sys/devices/virtual/net/{name}'
    tree.index += 1
    tree.files(folder, operstate='up', carrier=1, mtu=mtu, speed=200000, type=1, flags='0x1003', ifindex=tree.index, iflink=tree.index + 100,
               address=f'{address}:{tree.index:02x}')
    tree.link(f'sys/class/net/{name}', folder)


def pod_gids_from_4(tree):
    """A pod with a macvlan netdev on each of four NICs; entries 0 to 3 of each GID table are the host's and other pods'."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h100', 4):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa)
        port = tree.rdma(nic, f'mlx5_{n}', n, 200)
        os.makedirs(os.path.join(tree.top, nic, 'net'))
        virtual_netdev(tree, f'net{n + 1}')
        for index in range(4):
            for kind in 'types', 'ndevs':
                tree.refuse(f'sys/class/infiniband/mlx5_{n}/ports/1/gid_attrs/{kind}/{index}', 22)
        tree.gids_of_both_versions(port, f'net{n + 1}', f'fe80:0000:0000:0000:a4ed:ccff:fe8b:{n:04x}',
                                   f'{MAPPED}:0a98:{4 * n:02x}0c', first=4)
    tree.module('nvidia', 'nvidia_peermem')
    pod(tree, 4)


def pod_gids_all_zero(tree):
    """A pod on the host's default network (a veth of Calico); the RDMA devices are shared with it, their netdevs are the host's."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'a100', 2):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa)
        tree.rdma(nic, f'mlx5_{n}', n, 100)
        os.makedirs(os.path.join(tree.top, nic, 'net'))
    virtual_netdev(tree, 'eth0', mtu=1450)
    tree.module('nvidia', 'nvidia_peermem')
    pod(tree, 2)


def nic_in_x8_slot(tree):
    slot = ('8.0 GT/s PCIe', '8')
    bridge = tree.bridge('sys/devices/pci0000:b2', '0000:b2:00.0', ids=('0x8086', '0x2030'), link=slot)
    for n in range(2):
        nic = tree.nic(bridge, 0xb3, 'mlx5', slot=f'00.{n}', link=slot)
        tree.files(nic, device='0x101d', max_link_speed='16.0 GT/s PCIe', max_link_width='16')
        tree.gids(tree.rdma(nic, f'mlx5_{n}', n, 100), f'ens8f{n}', f'10.1.{n}.1')
        tree.netdev(nic, f'ens8f{n}', 100)
    tree.gpu(tree.root(0x3a), 0x3b, 'v100', link=('8.0 GT/s PCIe', '16'))
    tree.module('nvidia', 'nvidia_peermem')


def global_pause_no_drops(tree):
    """One second: 308 of 400 Gb/s are sent, and the port is paused for 217 ms of it. No counter of drops moves."""
    port = modules(tree, 'h100', 'mlx5', 1)[0]
    tree.dcb('ens1', [], {})
    before = {f'{way}_{what}': 0 for way in ('rx', 'tx') for what in (
        'global_pause', 'global_pause_duration', 'global_pause_transition', 'pause_ctrl_phy', 'discards_phy', 'bytes_phy', 'packets_phy',
        *(f'prio{p}_{unit}' for p in range(8) for unit in ('bytes', 'packets')))}
    before |= {'rx_out_of_buffer': 0, 'rx_crc_errors_phy': 0}
    sent = {'tx_bytes_phy': 38_500_000_000, 'tx_packets_phy': 9_400_000, 'tx_prio0_bytes': 38_500_000_000, 'tx_prio0_packets': 9_400_000}
    paused = {'rx_global_pause': 410_000, 'rx_global_pause_duration': 217_000, 'rx_global_pause_transition': 205_000, 'rx_pause_ctrl_phy': 410_000}
    tree.statistics('ens1', before, before | sent | paused)
    units = dict.fromkeys(('port_xmit_data', 'port_rcv_data', 'port_xmit_packets'), 0)
    tree.counters(port, units, units | {'port_xmit_data': 9_625_000_000, 'port_xmit_packets': 9_400_000}, 'counters')
    zero = dict.fromkeys(('out_of_sequence', 'packet_seq_err', 'local_ack_timeout_err', 'out_of_buffer', 'np_cnp_sent', 'rp_cnp_handled',
                          'np_ecn_marked_roce_packets', 'rx_write_requests'), 0)
    tree.counters(port, zero, zero)
    tree.answers += ['clock before steady\n= 1000000000000\n= 0', 'clock now steady\n= 1001000000000\n= 0']


def fec_not_negotiated(tree):
    """A port with a cable and without a link; the other port of the host works."""
    ports = modules(tree, 'v100', 'mlx5', 2, rate=100)
    tree.files(ports[0], state='1: DOWN', phys_state='2: Polling')
    tree.files('sys/class/net/ens1', operstate='down', carrier=0, speed=-1, flags='0x1003')
    for netdev in 'ens1', 'ens2':
        tree.link_state(netdev)
    tree.module('nvidia', 'nvidia_peermem')


def bond_one_queue_pair(tree):
    """Four RoCE bonds of two 100 Gb/s ports each, and eight GPUs."""
    for n, numa, bus, ports in gpu_switches(tree, 'a100', 4, ports=3, gpus=2):
        first, second = (tree.nic(ports[2], bus + 5, 'mlx5', numa, slot=f'00.{f}') for f in (0, 1))
        port = tree.rdma(first, f'mlx5_bond_{n}', n, 100)
        members = [f'ens{n + 1}f{f}np{f}' for f in (0, 1)]
        for nic, member in zip((first, second), members):
            tree.netdev(nic, member, 100)
            tree.link(f'{nic}/net/{member}/master', f'sys/devices/virtual/net/bond{n}')
            tree.file(f'{nic}/net/{member}/bonding_slave/state', 'active')
        virtual_netdev(tree, f'bond{n}')
        tree.files(f'sys/devices/virtual/net/bond{n}/bonding', slaves=' '.join(members), mode='802.3ad 4', xmit_hash_policy='layer3+4 1',
                   mii_status='up', miimon='100')
        tree.gids_of_both_versions(port, f'bond{n}', f'fe80:0000:0000:0000:0ac0:ebff:feda:{n:04x}',
                                   f'{MAPPED}:c800:d1{n:02x}')
    tree.module('nvidia', 'nvidia_peermem', 'bonding')


def dual_plane_vfs(tree):
    """The pod: for each GPU a virtual function of each port of its NIC; ports 0 are in plane 0, ports 1 in plane 1."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'b300'):
        for plane in 0, 1:
            nic = tree.nic(below_nic, bus + 4, 'mlx5-vf', numa, slot=f'00.{2 + plane}')
            name = f'net{2 * n + plane + 1}'
            port = tree.rdma(nic, f'mlx5_{2 * n + plane}', 2 * n + plane, 400)
            tree.netdev(nic, name, 400)
            tree.gids(port, name, f'10.{plane}.{n}.5')
    tree.module('nvidia', 'nvidia_peermem')
    pod(tree, 16)


def rccl_iommu_translated(tree):
    """An AMD host whose kernel was started without iommu=pt: each GPU is in a group of the default, translated domain."""
    tree.file('proc/sys/kernel/osrelease', '5.15.0-101-generic')
    tree.file('proc/cmdline', 'BOOT_IMAGE=/vmlinuz-5.15.0-101-generic root=/dev/mapper/ubuntu--vg-ubuntu--lv ro')
    tree.files('sys/class/dmi/id', sys_vendor='ASUS', product_name='Server')
    tree.file('proc/cpuinfo', 'vendor_id : AuthenticAMD\nflags : svm')
    tree.file('sys/class/iommu/ivhd0/amd-iommu/features', '25bf732fa2295afe')
    for group, bus in enumerate((0x2f, 0x03)):
        root = tree.bridge(f'sys/devices/pci0000:{bus - 1:02x}', f'0000:{bus - 1:02x}:01.1', 0, ('0x1022', '0x1483'))
        gpu = tree.function(root, f'0000:{bus:02x}:00.0', '0x038000', '0x1002', '0x738c', 'amdgpu', link=('16.0 GT/s PCIe', '16'))
        tree.file(f'sys/kernel/iommu_groups/{group}/type', 'DMA-FQ')
        tree.link(f'{gpu}/iommu_group', f'sys/kernel/iommu_groups/{group}')
        tree.link(f'sys/kernel/iommu_groups/{group}/devices/0000:{bus:02x}:00.0', gpu)
    tree.module('amdgpu')


def bnxt_ipv6_gids(tree):
    """Eight Broadcom NICs with IPv6 addresses only."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'mi300x'):
        nic = tree.nic(below_nic, bus + 4, 'bnxt', numa)
        port = tree.rdma(nic, f'bnxt_re{n}', n, 400)
        tree.netdev(nic, f'ens{n + 1}np0')
        tree.gids_of_both_versions(port, f'ens{n + 1}np0', f'{LINK_LOCAL}:{n:04x}',
                                   f'fd93:16d3:59b6:{n:04x}:5aa2:e1ff:fe00:{n:04x}')
    tree.module('amdgpu', 'bnxt_en', 'bnxt_re')


def socket_direct_one_subnet(tree):
    """A Socket Direct card: a PCI function below each socket, with a netdev each, both with addresses of one subnet."""
    addresses = {}
    for n in range(2):
        bus = 0x40 + 0x40 * n
        tree.gpu(tree.root(bus + 0x10, n), bus + 0x11, 'a100', n, link=('16.0 GT/s PCIe', '16'))
        netdev = f'ens{n + 1}f0'
        port = tree.roce(tree.root(bus, n), bus + 1, f'mlx5_{n}', netdev, 0, rate=100, numa=n, address=f'10.1.1.{n + 1}')
        tree.file(f'{device_of(port)}/node_guid', f'5aa2:e103:0000:000{n}')
        addresses[netdev] = f'10.1.1.{n + 1}'
    for name in 'all', 'default', *addresses:
        tree.files(f'proc/sys/net/ipv4/conf/{name}', arp_ignore=0, arp_announce=0, arp_filter=0, rp_filter=0)
    tree.addressing(addresses)
    tree.module('nvidia', 'nvidia_peermem')


def ice_safe_mode(tree):
    """Two ports of an Intel E810 whose driver is in safe mode: no RDMA device."""
    tree.file('proc/sys/kernel/osrelease', '7.1.9-zabbly+')
    tree.gpu(tree.root(0x10), 0x11, 'a100')
    root = tree.root(0x00)
    for n in range(2):
        nic = tree.function(root, f'0000:01:00.{n}', '0x020000', '0x8086', '0x159b', 'ice', link=('16.0 GT/s PCIe', '8'))
        tree.netdev(nic, f'eno{n + 1}np{n}', 10)
    tree.module('ice', 'irdma', 'ib_core')
    tree.file('proc/modules', 'irdma 393216 0 - Live 0x0000000000000000\nice 1277952 1 irdma, Live 0x0000000000000000')


def spark_nics(tree, cage):
    """The GPU of a DGX Spark, and one of its two cages: a PCI function of x4 in each of two domains. (domain, folder, RDMA device, netdev)"""
    x4 = ('32.0 GT/s PCIe', '4')
    bridge = tree.bridge('sys/devices/pci000f:00', '000f:00:00.0', ids=('0x10de', '0x22d1'))
    vendor, device, kind, driver = GPUS['gb10']
    tree.function(bridge, '000f:01:00.0', kind, vendor, device, driver)
    for domain, place in ((0, 'p1'), (2, 'P2p1')):
        root = tree.bridge(f'sys/devices/pci{domain:04x}:00', f'{domain:04x}:00:00.0', ids=('0x10de', '0x22ce'), link=x4)
        nic = tree.function(root, f'{domain:04x}:01:00.{cage}', '0x020000', *NICS['mlx5'], link=x4)
        yield domain, nic, f'roce{place}s0f{cage}', f'en{place}s0f{cage}np{cage}'
    tree.module('nvidia', 'mlx5_core', 'mlx5_ib')


def spark_second_half(tree):
    """A DGX Spark: the cable ends at one cage, which has two PCI functions of x4; only one of their netdevs has an address."""
    for domain, nic, rdma, netdev in spark_nics(tree, 0):
        port = tree.rdma(nic, rdma, domain, 200)
        tree.netdev(nic, netdev, 200)
        tree.gids(port, netdev, f'10.1.{domain}.1')
        if domain:
            tree.file(f'{port}/gids/1', NO_GID)
            os.unlink(tree.path(f'{port}/gid_attrs/types/1'))
            os.unlink(tree.path(f'{port}/gid_attrs/ndevs/1'))


def pex_uplink_half_speed(tree):
    """Four switches PEX890xx with a GPU and a NIC each; the link above the last one runs at half of the speed of both of its ends."""
    modules(tree, 'h100', 'mlx5', 3)
    root = tree.bridge('sys/devices/pci0000:59', '0000:59:01.0', 1, ('0x8086', '0x352a'))
    upstream = tree.bridge(root, '0000:5a:00.0', 1)
    for folder in root, upstream:
        tree.file(f'{folder}/current_link_speed', '16.0 GT/s PCIe')
    ports = [tree.bridge(upstream, f'0000:5b:{port:02x}.0', 1) for port in (0, 1)]
    tree.gpu(ports[0], 0x5c, 'h100', 1)
    tree.roce(ports[1], 0x5d, 'mlx5_3', 'ens4', 3, numa=1)
    tree.module('nvidia', 'nvidia_peermem')


def gen5_nic_below_gen4_root(tree):
    """Healthy: ConnectX-7 of 200 Gb/s below root ports of 16 GT/s, which is all that the host has."""
    gen4 = ('16.0 GT/s PCIe', '16')
    for n, bus in enumerate((0x16, 0x38, 0x97, 0xb8)):
        numa = n // 2
        for device in 2, 3:
            tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:{device:02x}.0', numa, ('0x8086', '0x347a'), link=gen4)
        tree.gpu(f'sys/devices/pci0000:{bus:02x}/0000:{bus:02x}:03.0', bus + 2, 'a100', numa, link=gen4)
        port = tree.roce(f'sys/devices/pci0000:{bus:02x}/0000:{bus:02x}:02.0', bus + 1, f'mlx5_{n}', f'ens{n + 1}np0', n, rate=200, numa=numa)
        tree.file(f'{"/".join(port.split("/")[:-4])}/current_link_speed', '16.0 GT/s PCIe')
    tree.module('nvidia', 'nvidia_peermem')


def more_ports(tree, port, numbers, active, rate=200):
    """Further ports of an RDMA device; `port` is the folder of its port 1. active: numbers of the ports with a link."""
    for number in numbers:
        folder = f'{os.path.dirname(port)}/{number}'
        up = number in active
        tree.files(folder, state='4: ACTIVE' if up else '1: DOWN', phys_state='5: LinkUp' if up else '3: Disabled', link_layer='Ethernet',
                   rate=RATES[rate], lid='0x0', sm_lid='0x0')
        tree.files(f'{folder}/counters', port_xmit_data=0, port_rcv_data=0)
        for index in range(4):
            tree.file(f'{folder}/gids/{index}', NO_GID)


def cx8_four_planes(tree):
    """Healthy: eight ConnectX-8 with four planes (multiport E-Switch). One RDMA device a NIC, with 12 ports: 3, 6, 9 and 12 are the planes,
    the others are those of representors."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'b300'):
        functions = [tree.nic(below_nic, bus + 4, 'mlx5', numa, slot=f'00.{plane}') for plane in range(4)]
        for function in functions:
            tree.file(f'{function}/device', '0x1023')
        port = tree.rdma(functions[0], f'mlx5_{n}', n, 200, state=('1: DOWN', '3: Disabled'))
        more_ports(tree, port, range(2, 13), (3, 6, 9, 12))
        for plane, function in enumerate(functions):
            name = f'eth_r{n}_p{plane}'
            tree.netdev(function, name, 200, phys_port_name=f'p{plane}', phys_switch_id=f'{n:02x}a2e10003005aa2')
            tree.gids(f'{os.path.dirname(port)}/{3 * plane + 3}', name, f'10.{plane}.{n}.1')
    tree.module('nvidia', 'nvidia_peermem')


def vf_node_guid_zero(tree):
    """The pod: two virtual functions whose administrative MAC address was never set."""
    for n, _, bus, (_, below_nic) in gpu_switches(tree, 'a100', 2):
        nic = tree.nic(below_nic, bus + 4, 'mlx5-vf', n, slot='00.2')
        port = tree.rdma(nic, f'mlx5_{8 + n}', n, 25)
        tree.files(device_of(port), node_guid='0000:0000:0000:0000', sys_image_guid='0c42:a103:00c6:cf52')
        tree.netdev(nic, f'net{n + 1}', 25)
        tree.gids(port, f'net{n + 1}', f'192.168.{102 + n}.10')
    tree.module('nvidia', 'nvidia_peermem')
    pod(tree, 2)


def bnxt_re_not_built(tree):
    """A node whose kernel has bnxt_en and the RDMA core, and was built without bnxt_re."""
    release = '6.18.5-talos'
    tree.file('proc/sys/kernel/osrelease', release)
    tree.gpu(tree.root(0x10), 0x11, 'a100')
    for n in range(2):
        nic = tree.nic('sys/devices/pci0000:c0/0000:c0:01.0' if n else tree.root(0xc0), 0xc1, 'bnxt', slot=f'00.{n}')
        tree.file(f'{nic}/device', '0x16d7')
        tree.netdev(nic, f'enp193s0f{n}np{n}', 25)
    tree.module('bnxt_en', 'ib_core', 'ib_ipoib', 'nvidia')
    tree.file('proc/modules', 'bnxt_en 442368 0 - Live 0x0000000000000000\nib_ipoib 147456 0 - Live 0x0000000000000000\n'
              'ib_core 524288 1 ib_ipoib, Live 0x0000000000000000')
    installed_modules(tree, release, 'net/ethernet/broadcom/bnxt/bnxt_en', 'infiniband/core/ib_core', 'infiniband/hw/mlx5/mlx5_ib', 'infiniband/hw/mlx4/mlx4_ib')


def bond_of_two_nics(tree):
    """bond0 has both ports of a ConnectX-6 Dx and both of a ConnectX-5: no device of the bond is made."""
    tree.gpu(tree.root(0x10), 0x11, 'a100')
    members = []
    for card, bus in enumerate((0x03, 0x04)):
        root = tree.root(0x20 + 0x10 * card)
        for n in range(2):
            nic = tree.nic(root, bus, 'mlx5', slot=f'00.{n}')
            tree.file(f'{nic}/device', ('0x101d', '0x1017')[card])
            members.append((nic, f'enp{bus}s0f{n}np{n}'))
            port = tree.rdma(nic, f'mlx5_{2 * card + n}', 2 * card + n, 25)
            tree.file(f'{device_of(port)}/sys_image_guid', f'5aa2:e103:0000:00{card}0')
            tree.netdev(nic, members[-1][1], 25)
            tree.link(f'{nic}/net/{members[-1][1]}/master', 'sys/devices/virtual/net/bond0')
            tree.file(f'{nic}/net/{members[-1][1]}/bonding_slave/state', 'active')
            tree.gids_of_both_versions(port, 'bond0', 'fe80:0000:0000:0000:0ac0:ebff:feda:0001', f'{MAPPED}:0a01:0105')
    virtual_netdev(tree, 'bond0')
    tree.files('sys/devices/virtual/net/bond0/bonding', slaves=' '.join(name for _, name in members), mode='802.3ad 4',
               xmit_hash_policy='layer3+4 1', mii_status='up', miimon='100')
    tree.module('nvidia', 'nvidia_peermem', 'bonding')


def gb300_root_port_acs(tree):
    """A GB300 tray as its kernel starts: ACS isolation (0x1d) on all ports, so that each function is an IOMMU group of its own. The direct
    function of each NIC shares a switch with the GPU, in a PCI domain of their own."""
    tree.file('proc/sys/kernel/osrelease', '6.14.0-1013-nvidia-64k')
    tree.file('proc/cmdline', 'BOOT_IMAGE=/vmlinuz root=LABEL=cloudimg-rootfs ro iommu.passthrough=0')
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB300 NVL')
    x16 = ('64.0 GT/s PCIe', '16')
    for n in range(4):
        numa, domain, direct = n // 2, (0x00, 0x02, 0x10, 0x12)[n], (0x08, 0x09, 0x18, 0x19)[n]
        top = tree.bridge(f'sys/devices/pci{domain:04x}:00', f'{domain:04x}:00:00.0', numa, ('0x10de', '0x22b1'), link=x16, acs=0x1d)
        above = tree.bridge(top, f'{domain:04x}:01:00.0', numa, ('0x15b3', '0x197c'), link=x16)
        port = tree.bridge(above, f'{domain:04x}:02:00.0', numa, ('0x15b3', '0x197c'), link=x16, acs=0x1d)
        nic = tree.function(port, f'{domain:04x}:03:00.0', '0x020000', '0x15b3', '0x1023', 'mlx5_core', numa, x16)
        ib = tree.rdma(nic, f'mlx5_{n}', n, 400)
        tree.netdev(nic, f'rdma{n}', 400)
        tree.gids(ib, f'rdma{n}', f'10.1.{n}.1')
        top = tree.bridge(f'sys/devices/pci{direct:04x}:00', f'{direct:04x}:00:00.0', numa, ('0x10de', '0x22b2'), link=x16, acs=0x1d)
        above = tree.bridge(top, f'{direct:04x}:01:00.0', numa, ('0x15b3', '0x197c'), link=x16)
        ports = [tree.bridge(above, f'{direct:04x}:02:{device:02x}.0', numa, ('0x15b3', '0x197c'), link=x16, acs=0x1d) for device in (0, 3)]
        vendor, device, kind, driver = GPUS['b300']
        functions = (tree.function(ports[0], f'{direct:04x}:03:00.0', '0x020700', '0x15b3', '0x2100', 'mlx5_core', numa, x16),
                     tree.function(ports[1], f'{direct:04x}:06:00.0', kind, vendor, device, driver, numa, x16))
        for place, function in enumerate(functions):
            group = f'sys/kernel/iommu_groups/{20 + 2 * n + place}'
            tree.file(f'{group}/type', 'identity')
            tree.link(f'{function}/iommu_group', group)
    tree.module('nvidia')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build')


def spark_second_port_mtu(tree):
    """A DGX Spark after a firmware update: the second function of the cage is back at MTU 1500 and without its address."""
    for domain, nic, rdma, netdev in spark_nics(tree, 1):
        port = tree.rdma(nic, rdma, domain, 200)
        tree.netdev(nic, netdev, 200, mtu=1500 if domain else 9000)
        texts = [f'{LINK_LOCAL}:000{domain}', f'{MAPPED}:0a0a:0101']
        tree.gids_of_both_versions(port, netdev, *texts[:1 if domain else 2])


def oke_pod_ipv6_disabled(tree):
    """A pod of GB200 nodes of Oracle Cloud: IPv6 is disabled in its network namespace, so the GID tables have the default entries only."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB200 NVL', chassis_asset_tag='OracleCloud.com')
    for n in range(4):
        numa = n // 2
        gpu = tree.bridge(f'sys/devices/pci{8 + n:04x}:00', f'{8 + n:04x}:00:00.0', numa, ('0x10de', '0x22b2'))
        tree.function(gpu, f'{8 + n:04x}:01:00.0', '0x030200', '0x10de', '0x2941', 'nvidia', numa)
        root = tree.bridge(f'sys/devices/pci{n:04x}:00', f'{n:04x}:00:00.0', numa, ('0x10de', '0x22b1'))
        nic = tree.function(root, f'{n:04x}:01:00.0', '0x020000', *NICS['mlx5'], numa=numa)
        port = tree.rdma(nic, f'mlx5_{n}', n, 400)
        tree.netdev(nic, f'rdma{n}', 400)
        tree.gids_of_both_versions(port, f'rdma{n}', f'{LINK_LOCAL}:{n:04x}')
        tree.file(f'proc/sys/net/ipv6/conf/rdma{n}/disable_ipv6', '1')
    for name in 'all', 'default':
        tree.file(f'proc/sys/net/ipv6/conf/{name}/disable_ipv6', '1')
    tree.module('nvidia', 'nvidia_peermem')
    pod(tree, 4)


def gb200_compute_and_storage(tree):
    """Healthy: below each Grace CPU two GPUs, two ConnectX-7 and a BlueField-3 with two ports, each below a root port of its own."""
    for numa in 0, 1:
        def root(domain, kind='0x22b1', numa=numa):
            return tree.bridge(f'sys/devices/pci{domain:04x}:00', f'{domain:04x}:00:00.0', numa, ('0x10de', kind))
        for n in range(2):
            gpu, nic = 8 + 16 * numa + n, 16 * numa + 2 * n
            tree.function(root(gpu, '0x22b2'), f'{gpu:04x}:01:00.0', '0x030200', '0x10de', '0x2941', 'nvidia', numa)
            name = 4 * numa + n
            port = tree.rdma(tree.function(root(nic), f'{nic:04x}:01:00.0', '0x020000', *NICS['mlx5'], numa=numa), f'mlx5_{name}', name, 400)
            tree.netdev(f'sys/devices/pci{nic:04x}:00/{nic:04x}:00:00.0/{nic:04x}:01:00.0', f'ens{name}', 400)
            tree.gids(port, f'ens{name}', f'10.1.{name}.1')
        dpu = 6 + 16 * numa
        above = root(dpu)
        for n in range(2):
            name = 4 * numa + 2 + n
            nic = tree.function(above, f'{dpu:04x}:01:00.{n}', '0x020000', *NICS['bluefield'], numa=numa)
            port = tree.rdma(nic, f'mlx5_{name}', name, 200)
            tree.netdev(nic, f'ens{name}', 200)
            tree.gids(port, f'ens{name}', f'10.2.{name}.1')
    tree.module('nvidia', 'nvidia_peermem')


def talos_amd_no_p2pdma(tree):
    """MI300X with inbox drivers. The kernel has neither PCI peer-to-peer DMA nor move notification; only /proc/config.gz says so."""
    tree.file('proc/sys/kernel/osrelease', '6.18.15-talos')
    modules(tree, 'mi300x', 'mlx5')
    tree.module('amdgpu', 'mlx5_core', 'mlx5_ib', 'ib_core')
    with open(tree.path('proc/config.gz'), 'wb') as file:
        options = [f'CONFIG_OPTION_{n}={"ym"[n % 2]}' for n in range(5000)]
        options[2500] = '# CONFIG_PCI_P2PDMA is not set\nCONFIG_DMA_SHARED_BUFFER=y\n# CONFIG_DMABUF_MOVE_NOTIFY is not set'
        file.write(gzip.compress('\n'.join(options).encode(), mtime=0))


def containerd_memlock_8m(tree):
    """A Kubernetes node: containerd.service sets no LimitMEMLOCK, so containers inherit the default of systemd."""
    modules(tree, 'h100', 'mlx5')
    tree.module('nvidia', 'nvidia_peermem')
    for pid, name in ((1210, 'containerd'), (1450, 'kubelet')):
        tree.file(f'lib/systemd/system/{name}.service', f'[Unit]\nDescription={name}\n[Service]\nExecStart=/usr/bin/{name}\nDelegate=yes\n'
                  'LimitNOFILE=1048576')
        tree.link(f'etc/systemd/system/multi-user.target.wants/{name}.service', f'lib/systemd/system/{name}.service')
        tree.file(f'sys/fs/cgroup/system.slice/{name}.service/cgroup.procs', pid)
        tree.files(f'proc/{pid}', comm=name, cgroup=f'0::/system.slice/{name}.service', cmdline=f'/usr/bin/{name}\0',
                   status=f'Name:\t{name}\nPid:\t{pid}\nNSpid:\t{pid}\nUid:\t0\t0\t0\t0',
                   limits='Limit                     Soft Limit           Hard Limit           Units     \n'
                   'Max open files            1048576              1048576              files     \n'
                   'Max locked memory         8388608              8388608              bytes     ')
    tree.file('proc/1/comm', 'systemd')


def nic_lost(tree, pci, driver):
    """Eight GPUs with a NIC each; the function `pci`, in the place of the fourth NIC, has neither an RDMA device nor a netdev."""
    lost = int(pci[5:7], 16)
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h100'):
        if n == 3:
            tree.function(below_nic, pci, '0x020000', '0x15b3', '0x1021', driver, numa)
        else:
            tree.roce(below_nic, bus + 4 if bus + 4 != lost else bus + 5, f'mlx5_{n}', f'ens{n + 1}', n, numa=numa)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def nic_probe_failed(tree):
    nic_lost(tree, '0000:69:01.0', '')


def nic_torn_down(tree):
    nic_lost(tree, '0000:65:01.0', 'mlx5_core')


def e810_lid_1(tree):
    """Healthy: irdma reports LID 1 for ports of RoCE."""
    for n in range(2):
        tree.gpu(tree.root(0x20 + 0x20 * n, n), 0x21 + 0x20 * n, 'a100', n, link=('16.0 GT/s PCIe', '16'))
        nic = tree.function(tree.root(0x30 + 0x20 * n, n), f'0000:{0x31 + 0x20 * n:02x}:00.0', '0x020000', '0x8086', '0x1592', 'ice', n,
                            ('16.0 GT/s PCIe', '16'))
        port = tree.rdma(nic, f'rocep{0x31 + 0x20 * n}s0', n, 100)
        tree.file(f'{port}/lid', '0x1')
        tree.netdev(nic, f'ens{n + 1}', 100)
        tree.gids(port, f'ens{n + 1}', f'5.5.{n}.1')
    tree.module('ice', 'irdma', 'ib_core', 'nvidia', 'nvidia_peermem')


def efa_p2p_none(tree):
    """A P5 instance with the driver of NVIDIA that is not open: the driver of EFA has found no provider of peer-to-peer memory."""
    tree.file('proc/sys/kernel/osrelease', '5.15.0-1078-aws')
    guest(tree, 'Amazon EC2', 'p5.48xlarge')
    for n, numa, bus, ports in gpu_switches(tree, 'h100', ports=5):
        for which in range(4):
            nic = tree.nic(ports[1 + which], bus + 4 + which, 'efa', numa)
            tree.file(f'{nic}/device', '0xefa1')
            tree.file(f'{nic}/p2p')
            port = tree.rdma(nic, f'rdmap{bus + 4 + which}s0', 4 * n + which, 100, layer='Unspecified')
            for index in range(4):
                os.unlink(tree.path(f'{port}/gids/{index}'))
            tree.gid(port, 0, f'{LINK_LOCAL}:{4 * n + which:04x}', '')
    tree.module('nvidia', 'efa', 'ib_core', 'ib_uverbs')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024')


def spark_second_controller_x2(tree):
    """A DGX Spark with a BIOS of before April 2026: the PCIe link of the second half of the cage has 2 lanes."""
    for domain, nic, rdma, netdev in spark_nics(tree, 0):
        if domain:
            for folder in nic, os.path.dirname(nic):
                tree.file(f'{folder}/current_link_width', '2')
        port = tree.rdma(nic, rdma, domain, 200)
        tree.netdev(nic, netdev, 200)
        tree.gids(port, netdev, f'10.1.{domain}.1')


def ib_card_mlx5_ib_missing(tree):
    """Two ConnectX-6 for InfiniBand only: mlx5_core is loaded from the initramfs, which does not have mlx5_ib. No RDMA device, no netdev."""
    for n, _, bus, (_, below_nic) in gpu_switches(tree, 'a100', 2):
        tree.function(below_nic, f'0000:{bus + 4:02x}:00.0', '0x020700', '0x15b3', '0x101b', 'mlx5_core', n)
    tree.module('mlx5_core', 'nvidia')
    tree.file('proc/modules', 'mlx5_core 1634304 0 - Live 0x0000000000000000\nnvidia 56598528 0 - Live 0x0000000000000000')


def grace(tree, numa, domain, kind='0x22b1'):
    """A root port of a Grace CPU, in a PCI domain of its own."""
    return tree.bridge(f'sys/devices/pci{domain:04x}:00', f'{domain:04x}:00:00.0', numa, ('0x10de', kind))


def gh200(tree, release, cmdline):
    """A GH200: the GPU and two ConnectX-7 with two ports each, each below a root port of its own."""
    tree.file('proc/sys/kernel/osrelease', release)
    tree.file('proc/cmdline', cmdline)
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f')
    tree.files('sys/class/dmi/id', sys_vendor='Supermicro', product_name='ARS-111GL-NHR')
    gpu = tree.function(grace(tree, 0, 9, '0x22b2'), '0009:01:00.0', '0x030200', '0x10de', '0x2342', 'nvidia')
    for card in range(2):
        above = grace(tree, 0, 2 * card)
        for n in range(2):
            name = 2 * card + n
            nic = tree.function(above, f'{2 * card:04x}:01:00.{n}', '0x020000', *NICS['mlx5'])
            port = tree.rdma(nic, f'mlx5_{name}', name, 200)
            tree.netdev(nic, f'ens{name}np{n}', 200)
            tree.gids(port, f'ens{name}np{n}', f'10.1.{name}.1')
    tree.module('nvidia', 'nvidia_uvm', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  565.10  Release Build')
    return gpu


def gh200_passthrough(tree):
    """Linux 6.8 with iommu.passthrough=y: the group of the GPU has an identity domain."""
    gpu = gh200(tree, '6.8.0-1010-nvidia-64k', 'BOOT_IMAGE=/vmlinuz-6.8.0-1010-nvidia-64k root=/dev/mapper/ubuntu--vg-ubuntu--lv ro iommu.passthrough=y')
    tree.file('sys/kernel/iommu_groups/7/type', 'identity')
    tree.link(f'{gpu}/iommu_group', 'sys/kernel/iommu_groups/7')
    tree.link('sys/kernel/iommu_groups/7/devices/0009:01:00.0', gpu)
    tree.file('sys/class/iommu/smmu3.0x0000000011000000/devices/.keep')


def gh200_gdr_c2c(tree):
    gh200(tree, '6.8.0-1013-nvidia-64k', 'BOOT_IMAGE=/vmlinuz-6.8.0-1013-nvidia-64k root=LABEL=cloudimg-rootfs ro')


def vf_gid_of_old_mac(tree):
    """Virtual functions whose MAC address was set while mlx5_ib registered the RDMA device: the default GIDs are those of the random
    address before; the GIDs of the IPv6 and IPv4 addresses follow."""
    tree.file('proc/sys/kernel/osrelease', '6.17.0-1008-nvidia')
    for n, _, bus, (_, below_nic) in gpu_switches(tree, 'h100', 2):
        nic = tree.nic(below_nic, bus + 4, 'mlx5-vf', n, slot='00.2')
        port = tree.rdma(nic, f'mlx5_{n}', n, 400)
        tree.netdev(nic, f'ens{n + 1}v0', 400)
        mac = open(tree.path(f'{nic}/net/ens{n + 1}v0/address'), encoding='ascii').read().strip()[-2:]
        for index in range(4, 8):
            tree.file(f'{port}/gids/{index}', NO_GID)
        tree.gids_of_both_versions(port, f'ens{n + 1}v0', f'fe80:0000:0000:0000:a4ed:ccff:fe8b:19{n:02x}',
                                   f'{LINK_LOCAL}:00{mac}', f'{MAPPED}:0a01:0{n}01')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def spurd_memlock_8m(tree):
    """A node of a cluster with the scheduler Spur: spurd.service has the default limit of systemd, and starts the steps of jobs with it."""
    modules(tree, 'mi300x', 'bnxt')
    tree.module('amdgpu', 'bnxt_en', 'bnxt_re')
    tree.file('lib/systemd/system/spurd.service', '[Unit]\nDescription=Spur node agent\n[Service]\nExecStart=/usr/bin/spurd\nRestart=on-failure')
    tree.link('etc/systemd/system/multi-user.target.wants/spurd.service', 'lib/systemd/system/spurd.service')
    tree.file('sys/fs/cgroup/system.slice/spurd.service/cgroup.procs', 1310)
    tree.files('proc/1310', comm='spurd', cgroup='0::/system.slice/spurd.service', cmdline='/usr/bin/spurd\0',
               status='Name:\tspurd\nPid:\t1310\nNSpid:\t1310\nUid:\t0\t0\t0\t0',
               limits='Limit                     Soft Limit           Hard Limit           Units     \n'
               'Max open files            524288               524288               files     \n'
               'Max locked memory         8388608              8388608              bytes     ')
    tree.file('proc/1/comm', 'systemd')


def oci_roce_without_address(tree):
    """A BM.GPU4.8 of Oracle Cloud without the agent's plugins for RDMA: the ports of the cluster network have links and no addresses."""
    tree.files('sys/class/dmi/id', sys_vendor='Oracle Corporation', product_name='ORACLE SERVER E4-2c', chassis_asset_tag='OracleCloud.com')
    for n, numa, bus, ports in gpu_switches(tree, 'a100'):
        for which in 0, 1:
            name = 2 * n + which
            nic = tree.nic(ports[1], bus + 4, 'mlx5', numa, slot=f'00.{which}')
            tree.file(f'{nic}/device', '0x1019')
            port = tree.rdma(nic, f'mlx5_{name}', name, 100)
            tree.netdev(nic, f'rdma{name}', 100)
            tree.gids_of_both_versions(port, f'rdma{name}', f'{LINK_LOCAL}:{name:04x}')
    tree.roce(tree.root(0xc0), 0xc1, 'mlx5_16', 'eth0', 16, rate=25, address='10.0.0.5')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def nebius_vpc_nic(tree):
    """A virtual machine with eight GPUs and the eight InfiniBand NICs beside them; mlx5_12 is a virtual function for the VPC's network."""
    guest(tree, 'QEMU', 'Standard PC (Q35 + ICH9, 2009)')
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h100'):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700')
        port = tree.rdma(nic, f'mlx5_{n}', n, 400, layer='InfiniBand')
        tree.files(port, lid=f'0x{0x101 + n:x}', sm_lid='0x1')
        tree.file(f'{port}/gids/0', f'{LINK_LOCAL}:{n:04x}')
    tree.roce(tree.root(0xc0), 0xc1, 'mlx5_12', 'eth0', 12, maker='mlx5-vf', rate=100, address='10.0.0.5')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def hgx_b200(tree, lpf):
    """Eight B200 with a RoCE NIC each, and the four functions of ConnectX-7 that manage the NVSwitches, of which `lpf` is the first number;
    the folders of their ports."""
    modules(tree, 'b200', 'mlx5', names='mlx5_{n}')
    above, out = tree.root(0xb0), []
    for n in range(4):
        nic = tree.nic(above, 0xb1, 'mlx5', slot=f'00.{n}', kind='0x020700', link=('32.0 GT/s PCIe', '2'))
        tree.file(f'{nic}/vpd', 'MLX:MN=MLNX:CSKU=V2:UUID=V3:PCI=V0:MODL=CX71143A:SMDL=SW_MNG')
        port = tree.rdma(nic, f'mlx5_{lpf + n}', lpf + n, 400, layer='InfiniBand')
        tree.file(f'{port}/gids/0', f'fe80:0000:0000:0000:cc40:f303:0027:f6{0x2e + n:02x}')
        out.append(port)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')
    return out


def b200_nvlink_management(tree):
    """Healthy."""
    for n, port in enumerate(hgx_b200(tree, 8)):
        tree.files(port, lid=f'0x{n + 1:x}', sm_lid='0x1')
    tree.module('ib_umad')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 1 - Live 0x0000000000000000' for name in (
        'nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'ib_umad')))


def b200_ib_umad_not_loaded(tree):
    """The fabric manager has not started: nothing loads ib_umad, and the ports that manage the NVSwitches have no subnet manager."""
    for port in hgx_b200(tree, 8):
        tree.files(port, state='2: INIT', lid='0xffff')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 1 - Live 0x0000000000000000' for name in (
        'nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')))
    tree.file('proc/1/comm', 'systemd')
    tree.file('lib/systemd/system/nvidia-fabricmanager.service', '[Unit]\nDescription=NVIDIA fabric manager service\n[Service]\n'
              'ExecStart=/usr/bin/nvidia-fabricmanager-start.sh --mode start')


def h4d_irdma_gids(tree):
    """Healthy: the RDMA device of a virtual machine of Google Cloud (Intel IPU, idpf and irdma); two GIDs, both of RoCE v2."""
    guest(tree, 'Google', 'Google Compute Engine')
    nic = tree.function(tree.root(0x10), '0000:11:00.0', '0x020000', '0x8086', '0x1452', 'idpf')
    port = tree.rdma(nic, 'irdma0', 1, 200)
    tree.file(f'{port}/lid', '0x1')
    tree.netdev(nic, 'eth1', 200, mtu=8896)
    tree.gid(port, 0, f'{LINK_LOCAL}:0002', 'eth1')
    tree.gid(port, 1, f'{MAPPED}:c0a8:4004', 'eth1')
    tree.module('idpf', 'irdma', 'ib_core', 'ib_uverbs')


def efa_zero_guid(tree):
    """Healthy: the EFA devices of a P4d instance have no GUID and no version of a firmware."""
    guest(tree, 'Amazon EC2', 'p4d.24xlarge')
    for n, numa, bus, ports in gpu_switches(tree, 'a100', 4, ports=3, gpus=2):
        nic = tree.nic(ports[2], bus + 5, 'efa', numa)
        tree.files(nic, device='0xefa0', p2p='NVIDIA')
        port = tree.rdma(nic, f'rdmap{bus}s27', n, 100, layer='Unspecified')
        tree.files(device_of(port), node_guid='0000:0000:0000:0000', sys_image_guid='0000:0000:0000:0000', fw_ver='0.0.0.0')
        for index in range(4):
            os.unlink(tree.path(f'{port}/gids/{index}'))
        tree.gid(port, 0, f'{LINK_LOCAL}:{n:04x}', '')
    tree.module('nvidia', 'efa', 'ib_core', 'ib_uverbs')


def switchdev_pf_with_sf(tree):
    """Healthy: one port of a ConnectX-6 Dx is in switchdev mode, with a subfunction; the PF's RDMA device has no GIDs then."""
    tree.file('proc/sys/kernel/osrelease', '5.13.0')
    tree.gpu(tree.root(0x10), 0x11, 'a100')
    above = tree.root(0x20)
    first, second = (tree.nic(above, 0x21, 'mlx5', slot=f'00.{n}') for n in (0, 1))
    for nic in first, second:
        tree.file(f'{nic}/device', '0x101d')
    tree.gids(tree.rdma(first, 'mlx5_0', 0, 100), 'enp33s0f0np0', '10.1.0.1')
    tree.netdev(first, 'enp33s0f0np0', 100)
    tree.rdma(second, 'mlx5_1', 1, 100)
    tree.netdev(second, 'enp33s0f1np1', 100, phys_port_name='p1', phys_switch_id='0c42a10300c6cf53')
    tree.netdev(second, 'enp33s0f1npf1sf88', 100, phys_port_name='pf1sf88', phys_switch_id='0c42a10300c6cf53')
    function = f'{second}/mlx5_core.sf.4'
    os.makedirs(os.path.join(tree.top, function))
    tree.link('sys/bus/auxiliary/devices/mlx5_core.sf.4', function)
    tree.file(f'{function}/sfnum', '88')
    port = tree.rdma(function, 'mlx5_2', 2, 100)
    tree.netdev(function, 'enp33s0f1s88', 100)
    tree.gids(port, 'enp33s0f1s88', '10.1.2.1')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def gb300_no_issm(tree):
    """Healthy: a GB300 tray with InfiniBand, whose kernel makes no devices for a subnet manager (issm)."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB300 NVL')
    for n in range(4):
        numa, domain = n // 2, (0x00, 0x02, 0x10, 0x12)[n]
        tree.function(grace(tree, numa, (0x08, 0x09, 0x18, 0x19)[n], '0x22b2'), f'{(0x08, 0x09, 0x18, 0x19)[n]:04x}:01:00.0', '0x030200', '0x10de',
                      '0x31c2', 'nvidia', numa)
        nic = tree.function(grace(tree, numa, domain), f'{domain:04x}:01:00.0', '0x020700', '0x15b3', '0x1023', 'mlx5_core', numa)
        port = tree.rdma(nic, f'mlx5_{n}', n, 400, layer='InfiniBand')
        tree.files(port, lid=f'0x{0x21 + n:x}', sm_lid='0x1', cap_mask='0xa751ec48')
        tree.file(f'{port}/gids/0', f'{LINK_LOCAL}:{n:04x}')
        tree.files(f'{nic}/infiniband_mad/umad{n}', ibdev=f'mlx5_{n}', port=1)
        tree.link(f'sys/class/infiniband_mad/umad{n}', f'{nic}/infiniband_mad/umad{n}')
        tree.file(f'dev/infiniband/umad{n}')
        tree.file(f'dev/infiniband/uverbs{n}')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def bond_of_two_400g(tree):
    """Eight ConnectX-8 with two ports of 400 Gb/s in a RoCE bond, one beside each GPU."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'b300'):
        first, second = (tree.nic(below_nic, bus + 4, 'mlx5', numa, slot=f'00.{f}', link=('64.0 GT/s PCIe', '16')) for f in (0, 1))
        port = tree.rdma(first, f'mlx5_bond_{n}', n, 400)
        members = [f'ens{n + 1}f{f}np{f}' for f in (0, 1)]
        for nic, member in zip((first, second), members):
            tree.file(f'{nic}/device', '0x1023')
            tree.netdev(nic, member, 400)
            tree.link(f'{nic}/net/{member}/master', f'sys/devices/virtual/net/bond{n}')
            tree.file(f'{nic}/net/{member}/bonding_slave/state', 'active')
        virtual_netdev(tree, f'bond{n}')
        tree.file(f'sys/devices/virtual/net/bond{n}/speed', 800000)
        tree.files(f'sys/devices/virtual/net/bond{n}/bonding', slaves=' '.join(members), mode='802.3ad 4', xmit_hash_policy='layer3+4 1',
                   mii_status='up', miimon='100')
        tree.gids_of_both_versions(port, f'bond{n}', f'fe80:0000:0000:0000:0ac0:ebff:feda:{n:04x}',
                                   f'{MAPPED}:c800:d1{n:02x}')
    tree.module('nvidia', 'nvidia_peermem', 'bonding')


def infiniband(tree, nic, name, number, rate=400):
    """An InfiniBand device with a port that works; the folder of the port."""
    port = tree.rdma(nic, name, number, rate, layer='InfiniBand')
    tree.files(port, lid=f'0x{0x101 + number:x}', sm_lid='0x1')
    tree.file(f'{port}/gids/0', f'fe80:0000:0000:0000:5aa2:e103:0000:{number:04x}')
    tree.file(f'{port}/pkeys/0', '0xffff')
    return port


def ninth_port_infiniband(tree):
    """A DGX H100: eight InfiniBand NICs beside the GPUs, and two NICs with two ports each for storage over Ethernet. The first port of
    one of these two has the link layer InfiniBand."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='DGXH100')
    for n, name in enumerate((0, 3, 4, 5, 6, 9, 10, 11)):
        numa, bus = n // 4, 0x30 + 0x10 * n
        below_gpu, below_nic = tree.switch(n + 2, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'h100', numa)
        infiniband(tree, tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700'), f'mlx5_{name}', name)
    for numa, bus, names in ((0, 0x29, (1, 2)), (1, 0xc9, (7, 8))):
        above = tree.root(bus - 1, numa)
        for f, name in enumerate(names):
            other = name == 1
            nic = tree.nic(above, bus, 'mlx5', numa, slot=f'00.{f}', kind='0x020700' if other else '0x020000')
            if other:
                port = tree.rdma(nic, 'mlx5_1', 1, 10, layer='InfiniBand', state=('1: DOWN', '2: Polling'))
                tree.files(port, lid='0xffff', sm_lid='0x0')
                tree.file(f'{port}/gids/0', 'fe80:0000:0000:0000:5aa2:e103:0000:0001')
            else:
                port = tree.rdma(nic, f'mlx5_{name}', name, 200)
                tree.netdev(nic, f'enp{bus}s0f{f}np{f}', 200)
                tree.gids_of_both_versions(port, f'enp{bus}s0f{f}np{f}', f'{LINK_LOCAL}:{name:04x}',
                                           f'{MAPPED}:0a02:0{name}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def prio_statistics(**moved):
    """The statistics of an mlx5 netdev of two samples: all zero, and what moved."""
    zero = {f'{way}_prio{p}_{unit}': 0 for way in ('rx', 'tx') for p in range(8) for unit in ('bytes', 'packets', 'pause', 'pause_duration', 'discards')}
    zero |= {f'{way}_{what}': 0 for way in ('rx', 'tx') for what in ('global_pause', 'global_pause_duration', 'pause_ctrl_phy', 'discards_phy',
                                                                    'bytes_phy', 'packets_phy')}
    zero |= {'rx_out_of_buffer': 0, 'rx_crc_errors_phy': 0}
    return zero, zero | moved


def seconds(tree, number):
    """The time between the two samples."""
    tree.answers += ['clock before steady\n= 1000000000000\n= 0', f'clock now steady\n= {1000000000000 + number * 1000000000}\n= 0']


def spark_pfc_lost(tree):
    """One of four DGX Spark after a restart: the settings of mlnx_qos are gone, and all RoCE traffic is on priority 0."""
    for domain, nic, rdma, netdev in spark_nics(tree, 0):
        port = tree.rdma(nic, rdma, domain, 200)
        tree.netdev(nic, netdev, 200)
        tree.gids_of_both_versions(port, netdev, f'{LINK_LOCAL}:000{domain}', f'{MAPPED}:0a0a:0{domain}01')
        tree.dcb(netdev, [], {})
        tree.statistics(netdev, *prio_statistics(rx_prio0_bytes=8_000_000_000, rx_prio0_packets=1_950_000, tx_prio0_bytes=8_000_000_000,
                                                 tx_prio0_packets=1_950_000))
        units = dict.fromkeys(('port_xmit_data', 'port_rcv_data'), 0)  # of 4 bytes
        tree.counters(port, units, dict.fromkeys(units, 2_000_000_000), 'counters')
        tree.counters(port, {'rx_write_requests': 0}, {'rx_write_requests': 16_000})
    seconds(tree, 1)
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.rstrip())


def spark_loss(tree):
    """Another set of DGX Spark, in six minutes of a job: no PFC, an MTU of 1500, and packets that arrive out of order at the peer."""
    for domain, nic, rdma, netdev in spark_nics(tree, 0):
        port = tree.rdma(nic, rdma, domain, 200)
        tree.netdev(nic, netdev, 200, mtu=1500)
        tree.gids_of_both_versions(port, netdev, f'{LINK_LOCAL}:000{domain}', f'{MAPPED}:0a0a:0{domain}01')
        tree.dcb(netdev, [], {})
        tree.statistics(netdev, *prio_statistics(rx_prio0_bytes=90_000_000_000, rx_prio0_packets=85_000_000, tx_prio0_bytes=90_000_000_000,
                                                 tx_prio0_packets=85_000_000))
        units = dict.fromkeys(('port_xmit_data', 'port_rcv_data', 'port_xmit_packets', 'port_rcv_packets'), 0)
        tree.counters(port, units, units | {'port_xmit_data': 22_500_000_000, 'port_rcv_data': 22_500_000_000, 'port_xmit_packets': 85_000_000,
                                            'port_rcv_packets': 85_000_000}, 'counters')
        zero = dict.fromkeys(('packet_seq_err', 'roce_adp_retrans', 'out_of_sequence', 'local_ack_timeout_err', 'out_of_buffer', 'np_cnp_sent',
                              'rp_cnp_handled', 'np_ecn_marked_roce_packets', 'req_transport_retries_exceeded', 'rx_write_requests'), 0)
        tree.counters(port, zero, zero | {'rx_write_requests': 1_000_000} | ({} if domain else {'packet_seq_err': 4830, 'roce_adp_retrans': 498}))
    seconds(tree, 360)


def pkey_limited(tree):
    """Eight InfiniBand NICs; the first P_Key of one of them has no membership bit."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'b300'):
        port = infiniband(tree, tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700'), f'mlx5_{n}', n)
        if n == 5:
            tree.file(f'{port}/pkeys/0', '0x7fff')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def provider(name, least, most):
    """A shared object with the struct verbs_device_ops of a provider of libibverbs, which the loader relocates: the name of its driver, and
    the versions of the kernel's ABI that it supports."""
    data, text, relocations, dynamic = 0x1000, 0x1100, 0x1200, 0x1300  # addresses, and places in the file
    file = bytearray(0x1400)
    # Elf64_Ehdr (64 bits, little-endian, ET_DYN, x86-64), then Elf64_Phdr of PT_LOAD and PT_DYNAMIC
    file[:64] = struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\x02\x01\x01', 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    file[64:176] = struct.pack('<IIQQQQQQ', 1, 6, 0, 0, 0, len(file), len(file), 0x1000) + struct.pack('<IIQQQQQQ', 2, 6, dynamic, dynamic, dynamic, 48, 48, 8)
    file[data + 8:data + 16] = struct.pack('<II', least, most)
    file[text:text + len(name) + 1] = name.encode() + b'\0'
    file[relocations:relocations + 48] = struct.pack('<QQq', data, 8, text) + struct.pack('<QQq', data + 16, 8, text)  # R_X86_64_RELATIVE
    file[dynamic:dynamic + 48] = struct.pack('<qQqQqQ', 7, relocations, 8, 48, 0, 0)  # DT_RELA, DT_RELASZ, DT_NULL
    return bytes(file)


def bnxt_abi_8(tree):
    """A container on a host with the RDMA driver of Broadcom: the kernel's verbs ABI of bnxt_re is 8, the image has the providers of rdma-core."""
    for port in modules(tree, 'mi300x', 'bnxt', names='bnxt_re{n}', netdevs='ens{n}np0'):
        nic = '/'.join(port.split('/')[:-4])
        uverbs = os.listdir(tree.path(f'{nic}/infiniband_verbs/.'))[0]
        tree.file(f'{nic}/infiniband_verbs/{uverbs}/abi_version', '8')
    tree.file('sys/class/infiniband_verbs/abi_version', '6')
    tree.file('sys/module/bnxt_re/version', '235.2.86.0')
    tree.module('bnxt_en', 'bnxt_re', 'amdgpu', 'ib_core', 'ib_uverbs')
    for name, most in ('bnxt_re', 1), ('mlx5', 1), ('efa', 1), ('irdma', 5):
        with open(tree.path(f'usr/lib/x86_64-linux-gnu/libibverbs/lib{name}-rdmav59.so'), 'wb') as file:
            file.write(provider(name, 1, most))
        tree.file(f'etc/libibverbs.d/{name}.driver', f'driver {name}')
    pod(tree, 8)


def azure(tree, gpu, device, gpus, nics, numas, rate, names):
    """A virtual machine of Azure: each GPU and each InfiniBand NIC (a virtual function) in a PCI domain of its own; the NICs' folders."""
    guest(tree, 'Microsoft Corporation', 'Virtual Machine')
    tree.file('sys/class/dmi/id/bios_version', 'Hyper-V UEFI Release v4.1')
    tree.file('proc/sys/kernel/osrelease', '5.15.0-1074-azure')
    tree.file('proc/sys/kernel/numa_balancing', '0')
    for node in range(2, max(numas) + 1):
        tree.file(f'sys/devices/system/node/node{node}/cpulist', f'{node * 8}-{node * 8 + 7}')
    vendor, _, kind, driver = GPUS[gpu]
    for n, (gpu_domain, nic_domain, numa) in enumerate(zip(gpus, nics, numas)):
        tree.function(f'sys/devices/pci{gpu_domain:04x}:00', f'{gpu_domain:04x}:00:00.0', kind, vendor, device, driver, numa)
        nic = tree.function(f'sys/devices/pci{nic_domain:04x}:00', f'{nic_domain:04x}:00:02.0', '0x020700', '0x15b3', '0x101c', 'mlx5_core', numa)
        yield n, infiniband(tree, nic, names.format(n=n), n, rate)


def mi300x_vm_polling(tree):
    """A virtual machine with eight MI300X and eight InfiniBand NICs, one of which has no link."""
    for n, port in azure(tree, 'mi300x', '0x74b5', range(1, 9), range(0x101, 0x109), [n // 4 for n in range(8)], 400, 'mlx5_{n}'):
        if n == 7:
            tree.files(port, state='1: DOWN', phys_state='2: Polling', lid='0xd4b', sm_lid='0x1', rate=RATES[10])
    tree.module('amdgpu', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')
    tree.file('proc/kallsyms', '0000000000000000 T ib_register_peer_memory_client\t[ib_core]')


def global_tclass_236(tree):
    """Eight ConnectX-7 whose driver puts traffic class 236 on all queue pairs of the kernel's path. The policy: DSCP 59, priority 5."""
    ports = []
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h100'):
        port = tree.roce(below_nic, bus + 4, f'mlx5_{n + 1}', f'eth{n + 1}', n + 1, numa=numa)
        device = device_of(port)
        tree.file(f'{device}/tc/1/traffic_class', 'Global tclass=236')
        for side in 'rp', 'np':  # the driver with tc/ has these, too
            tree.files(f'{os.path.dirname(os.path.dirname(device))}/net/eth{n + 1}/ecn/roce_{side}/enable',
                       **{str(priority): int(priority == 5) for priority in range(8)})
        tree.dcb(f'eth{n + 1}', [5], {dscp: 5 if dscp == 59 else 0 for dscp in range(64)})
        tree.statistics(f'eth{n + 1}', *prio_statistics(tx_prio5_bytes=2_000_000_000, tx_prio5_packets=500_000, tx_prio0_bytes=20_000_000_000,
                                                        tx_prio0_packets=4_900_000))
        units = dict.fromkeys(('port_xmit_data', 'port_rcv_data'), 0)  # of 4 bytes
        tree.counters(port, units, dict.fromkeys(units, 5_500_000_000), 'counters')
        tree.counters(port, {'rx_write_requests': 0}, {'rx_write_requests': 2_000})
        ports.append(port)
    seconds(tree, 1)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.replace('dscp = 26, priority = 3', 'dscp = 59, priority = 5').replace('[3]', '[5]').rstrip())


def irdma_not_built(tree):
    """A node whose kernel has ice and the RDMA core, and was built without irdma."""
    release = '6.12.40-talos'
    tree.file('proc/sys/kernel/osrelease', release)
    tree.gpu(tree.root(0x10), 0x11, 'a100')
    above = tree.root(0xc0)
    for n in range(2):
        nic = tree.function(above, f'0000:c1:00.{n}', '0x020000', '0x8086', '0x1592', 'ice', link=('16.0 GT/s PCIe', '16'))
        tree.netdev(nic, f'enp193s0f{n}', 100)
    tree.module('ice', 'ib_core', 'ib_uverbs', 'nvidia')
    tree.file('proc/modules', 'ice 1277952 0 - Live 0x0000000000000000\nib_uverbs 200704 0 - Live 0x0000000000000000\n'
              'ib_core 524288 1 ib_uverbs, Live 0x0000000000000000')
    installed_modules(tree, release, 'net/ethernet/intel/ice/ice', 'infiniband/core/ib_core', 'infiniband/core/ib_uverbs', 'infiniband/hw/mlx5/mlx5_ib')


def oci_a100_numa_8(tree):
    """A BM.GPU4.8 with four NUMA nodes a socket: two GPUs and two NICs with two ports below each of four PCIe switches, in two stages; the
    front-end ports are mlx5_0 and mlx5_9."""
    tree.files('sys/class/dmi/id', sys_vendor='Oracle Corporation', product_name='ORACLE SERVER E4-2c', chassis_asset_tag='OracleCloud.com')
    for node in range(8):
        tree.file(f'sys/devices/system/node/node{node}/cpulist', f'{16 * node}-{16 * node + 15},{128 + 16 * node}-{143 + 16 * node}')
    bus = 0x05
    for numa, first in ((3, 5), (1, 1), (7, 14), (5, 10)):
        def stage(parent, number, numa=numa):
            return tree.bridge(parent, f'0000:{number:02x}:00.0', numa, ('0x1000', '0xc010'))
        root = tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:01.1', numa, ('0x1022', '0x1483'))
        top = stage(root, bus + 1)
        for place in range(4):
            down = tree.bridge(top, f'0000:{bus + 2:02x}:{4 * place:02x}.0', numa, ('0x1000', '0xc010'))
            inner = tree.bridge(stage(down, bus + 3 + 3 * place), f'0000:{bus + 4 + 3 * place:02x}:00.0', numa, ('0x1000', '0xc010'))
            leaf = bus + 5 + 3 * place
            if place < 2:
                tree.gpu(inner, leaf, 'a100', numa, link=('16.0 GT/s PCIe', '16'))
                continue
            for f in range(2):
                name = first + 2 * (place - 2) + f
                nic = tree.nic(inner, leaf, 'mlx5', numa, slot=f'00.{f}', link=('16.0 GT/s PCIe', '16'))
                tree.file(f'{nic}/device', '0x1019')
                port = tree.rdma(nic, f'mlx5_{name}', name, 100)
                tree.netdev(nic, f'rdma{name}', 100, mtu=4220)
                tree.gids_of_both_versions(port, f'rdma{name}', f'{LINK_LOCAL}:{name:04x}',
                                           f'{MAPPED}:c0a8:{name:02x}05')
        bus += 0x20
    for name, numa, number in ((0, 2, 0xa0), (9, 6, 0xb0)):
        nic = tree.nic(tree.root(number, numa), number + 1, 'mlx5', numa)
        tree.file(f'{nic}/device', '0x101d')
        port = tree.rdma(nic, f'mlx5_{name}', name, 100)
        tree.file(f'{port}/rate', '50 Gb/sec (2X EDR)')
        tree.netdev(nic, f'eth{name // 9}', 50)
        tree.gids_of_both_versions(port, f'eth{name // 9}', f'{LINK_LOCAL}:{name:04x}',
                                   f'{MAPPED}:0a00:{name:02x}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def mi355x_ionic_and_bnxt(tree):
    """Eight MI355X with a NIC of AMD each, which has IPv6 addresses only, and a NIC of Broadcom for the front end. The driver of AMD's NIC
    has no RoCE v1, so index 1 is the routable GID there, and a link-local one on the other NIC."""
    for n, bus in enumerate((0x69, 0x79, 0x89, 0x99, 0xc9, 0xd9, 0xe9, 0xf9)):
        numa = n // 4
        root = tree.bridge(f'sys/devices/pci0000:{bus - 7:02x}', f'0000:{bus - 7:02x}:01.1', numa, ('0x1022', '0x14ab'))
        upstream = tree.bridge(root, f'0000:{bus - 6:02x}:00.0', numa)
        below_gpu, below_nic = (tree.bridge(upstream, f'0000:{bus - 5:02x}:{port:02x}.0', numa) for port in (0, 1))
        tree.gpu(below_gpu, bus - 4, 'mi355x', numa)
        nic = tree.nic(below_nic, bus, 'ionic', numa)
        port = tree.rdma(nic, f'rocep{bus}s0', n, 400)
        tree.netdev(nic, f'enp{bus}s0', 400)
        tree.gid(port, 0, f'fe80:0000:0000:0000:0690:81ff:fe39:{n:04x}', f'enp{bus}s0')
        tree.gid(port, 1, f'fd93:16d3:59b6:010{n}:0690:81ff:fe39:{n:04x}', f'enp{bus}s0')
    above = tree.root(0xb8, 1)
    for f in range(2):
        nic = tree.nic(above, 0xc1, 'bnxt', 1, slot=f'00.{f}')
        port = tree.rdma(nic, f'rocep193s0f{f}', 20 + f, 200)
        tree.netdev(nic, f'enp193s0f{f}np{f}', 200)
        tree.gids_of_both_versions(port, f'enp193s0f{f}np{f}', f'fe80:0000:0000:0000:7ec2:55ff:feba:ff8{8 + f}',
                                   f'{MAPPED}:0a0{f}:0105')
    tree.module('ionic', 'ionic_rdma', 'bnxt_en', 'bnxt_re', 'amdgpu')


def h200_ethernet_beside_gpu(tree):
    """Eight H200 with an InfiniBand NIC each; below two of the eight switches a ConnectX-6 Dx with two Ethernet ports is as near to the GPU."""
    names = iter(range(12))
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        ports = tree.switch(n, 3 if n % 4 == 0 else 2, numa)
        tree.gpu(ports[0], bus + 3, 'h200', numa)
        name = next(names)
        infiniband(tree, tree.nic(ports[1], bus + 4, 'mlx5', numa, kind='0x020700'), f'mlx5_{name}', name)
        for f in range(2 if n % 4 == 0 else 0):
            name = next(names)
            nic = tree.nic(ports[2], bus + 5, 'mlx5', numa, slot=f'00.{f}', link=('16.0 GT/s PCIe', '16'))
            tree.file(f'{nic}/device', '0x101d')
            up = f == 1
            port = tree.rdma(nic, f'mlx5_{name}', name, 100, state=('4: ACTIVE', '5: LinkUp') if up else ('1: DOWN', '3: Disabled'))
            if not up:
                tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
            tree.netdev(nic, f'ens{n + 1}f{f}np{f}', 100, carrier=up, mtu=1500)
            if up:
                tree.gids_of_both_versions(port, f'ens{n + 1}f{f}np{f}', f'{LINK_LOCAL}:{name:04x}',
                                           f'{MAPPED}:0a14:{name:02x}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def oci_h100(tree):
    """A BM.GPU.H100.8: eight ConnectX-7 with two ports, mlx5_2 to mlx5_17, and mlx5_0 for the front
    end; the root port above the latter, and its NIC."""
    tree.files('sys/class/dmi/id', sys_vendor='Oracle Corporation', product_name='ORACLE SERVER X9-2c', chassis_asset_tag='OracleCloud.com')
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h100'):
        for f in range(2):
            name = 2 + 2 * n + f
            nic = tree.nic(below_nic, bus + 4, 'mlx5', numa, slot=f'00.{f}')
            port = tree.rdma(nic, f'mlx5_{name}', name, 200)
            tree.netdev(nic, f'rdma{2 * n + f}', 200, mtu=4220)
            tree.gids_of_both_versions(port, f'rdma{2 * n + f}', f'{LINK_LOCAL}:{name:04x}',
                                       f'{MAPPED}:c0a8:{name:02x}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')
    above = tree.root(0xa0)
    nic = tree.nic(above, 0xa1, 'mlx5')
    tree.file(f'{nic}/device', '0x101d')
    port = tree.rdma(nic, 'mlx5_0', 0, 100)
    tree.netdev(nic, 'eth0', 100)
    tree.gids_of_both_versions(port, 'eth0', f'{LINK_LOCAL}:aa00', f'{MAPPED}:0a00:0005')
    return above, nic


def oci_h100_aux_port(tree):
    """The second port of the front-end NIC is not provisioned by the cloud: disabled, without an address."""
    above, _ = oci_h100(tree)
    aux = tree.nic(above, 0xa1, 'mlx5', slot='00.1')
    tree.file(f'{aux}/device', '0x101d')
    port = tree.rdma(aux, 'mlx5_1', 1, 100, state=('1: DOWN', '3: Disabled'))
    tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
    tree.netdev(aux, 'eth1', 100, carrier=False, mtu=1500)
    tree.file('sys/class/net/eth1/speed', '-1')


def oci_siw(tree):
    """Block storage of the cloud has made a SoftiWARP device on eth0 (its parent in this kernel: the PCI function of eth0)."""
    tree.file('proc/sys/kernel/osrelease', '5.15.0-1087-oracle')
    _, prime = oci_h100(tree)
    port = tree.rdma(prime, 'siw_eth0', 99, 100, node_type='4: RNIC', counters=False)
    device = device_of(port)
    for name in 'fw_ver', 'board_id', 'hca_type':
        os.unlink(tree.path(f'{device}/{name}'))
    tree.file(f'{port}/gids/0', '58a2:e100:0012:0000:0000:0000:0000:0000')
    tree.file(f'{port}/gid_attrs/ndevs/0', 'eth0')
    for index in 1, 2, 3:
        os.unlink(tree.path(f'{port}/gids/{index}'))
    tree.module('siw')


def g5_one_efa(tree):
    """A g5.48xlarge: eight A10G and one EFA device, all on one PCI bus; the firmware gives the NUMA node of the GPUs and none for the NIC."""
    guest(tree, 'Amazon EC2', 'g5.48xlarge')
    unknown = ('Unknown', '0')
    vendor, device, kind, driver = GPUS['a10g']
    for n in range(8):
        tree.function('sys/devices/pci0000:00', f'0000:00:{0x16 + n:02x}.0', kind, vendor, device, driver, n // 4, unknown)
    nic = tree.function('sys/devices/pci0000:00', '0000:00:15.0', '0x020000', *NICS['efa'], numa=-1, link=unknown)
    tree.file(f'{nic}/device', '0xefa1')
    port = tree.rdma(nic, 'rdmap0s21', 1, 100, layer='Unspecified')
    for index in range(4):
        os.unlink(tree.path(f'{port}/gids/{index}'))
    tree.gid(port, 0, 'fe80:0000:0000:0000:0401:0bff:fe00:0001', '')
    tree.module('nvidia', 'efa', 'ib_core', 'ib_uverbs')


def coreos_config(tree):
    """Two Radeon PRO W7900 and a NIC of Broadcom with Fedora CoreOS, whose kernel configuration is below /usr/lib/modules only."""
    release = '6.19.8-200.fc43.x86_64'
    tree.file('proc/sys/kernel/osrelease', release)
    for n in range(2):
        root = tree.bridge(f'sys/devices/pci0000:{0x20 * (n + 1):02x}', f'0000:{0x20 * (n + 1):02x}:01.1', n, ('0x1022', '0x14ab'))
        tree.function(root, f'0000:{0x20 * (n + 1) + 3:02x}:00.0', '0x030000', '0x1002', '0x7448', 'amdgpu', n, ('16.0 GT/s PCIe', '16'))
    tree.roce(tree.bridge('sys/devices/pci0000:c0', '0000:c0:01.1', 0, ('0x1022', '0x14ab')), 0xc2, 'bnxt_re0', 'enp194s0f0np0', 0, 'bnxt', 100)
    tree.module('amdgpu', 'bnxt_en', 'bnxt_re', 'ib_core', 'ib_uverbs')
    tree.file(f'usr/lib/modules/{release}/config', 'CONFIG_PCI_P2PDMA=y\nCONFIG_DMA_SHARED_BUFFER=y\nCONFIG_DMABUF_MOVE_NOTIFY=y\n'
              'CONFIG_HSA_AMD=y\nCONFIG_HSA_AMD_P2P=y\nCONFIG_INFINIBAND_BNXT_RE=m')
    os.symlink('usr/lib', os.path.join(tree.top, 'lib'))


def ndv4(tree):
    """An ND96asr_v4 of Azure (HPC image): eight A100 and eight InfiniBand NICs in four NUMA nodes, and the image's topology file."""
    gpus, nics = (1, 2, 3, 4, 0xb, 0xc, 0xd, 0xe), range(0x101, 0x109)
    for _ in azure(tree, 'a100', '0x20b0', gpus, nics, [n // 2 for n in range(8)], 200, 'mlx5_ib{n}'):
        pass
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')
    lines = ['<system version="1">']
    for numa in range(4):
        lines += [f'  <cpu numaid="{numa}" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">',
                  f'    <pci busid="ffff:ff:0{numa + 1}.0" class="0x060400" link_speed="16 GT/s" link_width="16">']
        for n in 2 * numa, 2 * numa + 1:
            lines += [f'      <pci busid="{gpus[n]:04x}:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>',
                      f'      <pci busid="{nics[n]:04x}:00:02.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>']
        lines += ['    </pci>', '  </cpu>']
    tree.file('opt/microsoft/ndv4-topo.xml', '\n'.join([*lines, '</system>']))


def azure_ndv4_topo_file(tree):
    ndv4(tree)


def azure_ndv4_an(tree):
    """Healthy: accelerated networking adds mlx5_an0, a virtual function of 40 Gb/s whose netdev is below that of the hypervisor (eth0)."""
    ndv4(tree)
    nic = tree.function('sys/devices/pcibabe:00', 'babe:00:02.0', '0x020000', '0x15b3', '0x1016', 'mlx5_core', 0)
    port = tree.rdma(nic, 'mlx5_an0', 40, 100)
    tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
    tree.netdev(nic, 'enP47806s1', 40, mtu=1500)
    virtual_netdev(tree, 'eth0', mtu=1500)
    tree.link(f'{nic}/net/enP47806s1/master', 'sys/devices/virtual/net/eth0')


def gb200_nic_map(tree):
    """Below each Grace CPU two GPUs, two ConnectX-7 for InfiniBand, and a BlueField-3 with one Ethernet port; by domain the latter comes last."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB200 NVL')
    for numa in 0, 1:
        for n in range(2):
            gpu = 8 + 16 * numa + n
            tree.function(grace(tree, numa, gpu, '0x22b2'), f'{gpu:04x}:01:00.0', '0x030200', '0x10de', '0x2941', 'nvidia', numa)
            domain, name = 16 * numa + 2 * n, 3 * numa + n
            infiniband(tree, tree.function(grace(tree, numa, domain), f'{domain:04x}:03:00.0', '0x020700', *NICS['mlx5'], numa=numa), f'mlx5_{name}', name)
        domain, name = 6 + 16 * numa, 3 * numa + 2
        nic = tree.function(grace(tree, numa, domain), f'{domain:04x}:03:00.0', '0x020000', *NICS['bluefield'], numa=numa)
        port = tree.rdma(nic, f'mlx5_{name}', name, 400)
        tree.netdev(nic, f'enP{domain}p3s0np0', 400)
        tree.gids_of_both_versions(port, f'enP{domain}p3s0np0', f'{LINK_LOCAL}:{name:04x}',
                                   f'{MAPPED}:0a02:0{name}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def tx_pfc_of_reader(tree):
    """In one second: a reader of a KV cache takes 180 of 200 Gb/s into host memory from one peer, and its NIC sends PFC pause frames."""
    port = modules(tree, 'h20', 'mlx5', 1, rate=200)[0]
    tree.dcb('ens1', [3], DSCPS)
    tree.statistics('ens1', *prio_statistics(rx_prio3_bytes=22_500_000_000, rx_prio3_packets=5_400_000, rx_bytes_phy=22_500_000_000,
                                             rx_packets_phy=5_400_000, tx_prio3_pause=48_000, tx_prio3_pause_duration=90_000, tx_pause_ctrl_phy=48_000))
    units = dict.fromkeys(('port_xmit_data', 'port_rcv_data', 'port_rcv_packets'), 0)
    tree.counters(port, units, units | {'port_rcv_data': 5_600_000_000, 'port_rcv_packets': 5_400_000}, 'counters')
    zero = dict.fromkeys(('out_of_sequence', 'packet_seq_err', 'local_ack_timeout_err', 'out_of_buffer', 'np_cnp_sent', 'rp_cnp_handled',
                          'np_ecn_marked_roce_packets', 'rx_write_requests', 'rx_read_requests'), 0)
    tree.counters(port, zero, zero)
    seconds(tree, 1)
    tree.module('nvidia', 'nvidia_peermem')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.rstrip())


def vf_data_path(tree):
    """Healthy: RoCE runs over one virtual function of each NIC, which the host itself uses; the ports of the PFs are disabled."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'b300'):
        pf = tree.nic(below_nic, bus + 4, 'mlx5', numa)
        tree.files(pf, device='0x1023', sriov_numvfs=1, sriov_totalvfs=8)
        tree.rdma(pf, f'mlx5_{n}', n, 400, state=('1: DOWN', '3: Disabled'))
        tree.netdev(pf, f'ens{n + 1}np0', 400, carrier=False)
        vf = tree.nic(below_nic, bus + 4, 'mlx5-vf', numa, slot='00.1', link=('Unknown', '0'))
        tree.link(f'{vf}/physfn', pf)
        tree.link(f'{pf}/virtfn0', vf)
        port = tree.rdma(vf, f'roce_vf_r{n}', 20 + n, 400)
        tree.netdev(vf, f'ens{n + 1}v0', 400)
        tree.gids_of_both_versions(port, f'ens{n + 1}v0', f'fe80:0000:0000:0000:5aa2:e1ff:fe01:{n:04x}', f'{MAPPED}:0a01:{n:02x}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def infiniband_without_ipoib(tree):
    """Healthy: eight ConnectX-7 for InfiniBand without IPoIB, whose netdevs are down, and two ConnectX-6 with one of two Ethernet ports in use."""
    for name, (n, numa, bus, (_, below_nic)) in zip((0, 3, 4, 5, 6, 9, 10, 11), gpu_switches(tree, 'h100')):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700')
        infiniband(tree, nic, f'mlx5_{name}', name)
        tree.netdev(nic, f'ibp{bus + 4}s0', 400, carrier=False, mtu=4092)
        tree.files(f'{nic}/net/ibp{bus + 4}s0', type=32, address=f'00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:{name:02x}')
    for numa, bus, names in ((0, 0xa1, (1, 2)), (1, 0xb1, (7, 8))):
        above = tree.root(bus - 1, numa)
        for f, name in enumerate(names):
            nic = tree.nic(above, bus, 'mlx5', numa, slot=f'00.{f}', link=('16.0 GT/s PCIe', '16'))
            tree.file(f'{nic}/device', '0x101d')
            port = tree.rdma(nic, f'mlx5_{name}', name, 100, state=('1: DOWN', '3: Disabled') if f else ('4: ACTIVE', '5: LinkUp'))
            tree.netdev(nic, f'enp{bus}s0f{f}np{f}', 100, carrier=not f, mtu=1500)
            if not f:
                tree.gids_of_both_versions(port, f'enp{bus}s0f0np0', f'{LINK_LOCAL}:{name:04x}',
                                           f'{MAPPED}:0a03:0{name}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib')


def a3_mega(tree):
    """Healthy: an a3-megagpu-8g of Google Cloud. Nine gVNIC, one of them for the front end, and no RDMA device."""
    guest(tree, 'Google', 'Google Compute Engine')
    gen4 = ('16.0 GT/s PCIe', '16')
    nic = tree.function('sys/devices/pci0000:00', '0000:00:0c.0', '0x020000', '0x1ae0', '0x0042', 'gve', 0, ('Unknown', '0'))
    tree.netdev(nic, 'enp0s12', 200, mtu=1894)
    for n, bus in enumerate((0x02, 0x09, 0x82, 0x89)):
        numa = n // 2
        upstream = tree.bridge(f'sys/devices/pci0000:{bus - 1:02x}', f'0000:{bus:02x}:00.0', numa, ('0x10b5', '0x8796'), gen4)
        ports = [tree.bridge(upstream, f'0000:{bus + 1:02x}:{port:02x}.0', numa, ('0x10b5', '0x8796'), gen4) for port in range(4)]
        for which in 0, 1:
            tree.gpu(ports[which], bus + 2 + which, 'h100', numa, gen4)
            number = bus + 4 + which
            nic = tree.function(ports[2 + which], f'0000:{number:02x}:00.0', '0x020000', '0x1ae0', '0x0042', 'gve', numa, gen4)
            tree.netdev(nic, f'enp{number}s0f0', 200, mtu=1894)
    tree.module('nvidia', 'nvidia_uvm', 'gve')


def gb300_xdr_and_bluefield(tree):
    """Healthy: a GB300 tray with a ConnectX-8 for InfiniBand (XDR) for each GPU, and one BlueField-3 with two Ethernet ports below the second CPU."""
    tree.files('sys/class/dmi/id', sys_vendor='Supermicro', product_name='ARS-121GL-NB3-LCC')
    for n in range(4):
        numa, domain, gpu = n // 2, (0x00, 0x02, 0x10, 0x12)[n], (0x08, 0x09, 0x18, 0x19)[n]
        tree.function(grace(tree, numa, gpu, '0x22b2'), f'{gpu:04x}:01:00.0', '0x030200', '0x10de', '0x31c2', 'nvidia', numa)
        nic = tree.function(grace(tree, numa, domain), f'{domain:04x}:03:00.0', '0x020700', '0x15b3', '0x1023', 'mlx5_core', numa)
        name = f'ib{f"P{domain}" if domain else ""}p3s0'
        infiniband(tree, nic, name, n, 800)
        tree.netdev(nic, name, 800, carrier=False, mtu=4092)
        tree.files(f'{nic}/net/{name}', type=32, address=f'00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:{n:02x}')
    above = grace(tree, 1, 22)
    for f in range(2):
        nic = tree.function(above, f'0016:01:00.{f}', '0x020000', *NICS['bluefield'], numa=1)
        port = tree.rdma(nic, f'roceP22p1s0f{f}', 20 + f, 200)
        tree.netdev(nic, f'enP22s22f{f}np{f}', 200)
        tree.gids_of_both_versions(port, f'enP22s22f{f}np{f}', f'{LINK_LOCAL}:001{f}', f'{MAPPED}:0a14:0{f}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def gb200_vrf_rails(tree):
    """Healthy: a virtual machine with four GB200 and a virtual function of a RoCE NIC for each; each function's netdev is in a VRF of its own,
    and has an IPv6 address (ULA) only. The routes are in the tables of the VRFs."""
    guest(tree, 'QEMU', 'KVM Virtual Machine')
    links, addresses, routes = [], [], []
    for n in range(4):
        numa = n // 2
        tree.function(grace(tree, numa, 8 + n, '0x22b2'), f'{8 + n:04x}:01:00.0', '0x030200', '0x10de', '0x2941', 'nvidia', numa)
        nic = tree.function(grace(tree, numa, n), f'{n:04x}:01:00.0', '0x020000', *NICS['mlx5-vf'], numa=numa)
        port, netdev, vrf, table = tree.rdma(nic, f'mlx5_{n}', n, 400), f'eth_r{n}_vf0', f'vrf_r{n}', 50 + n
        tree.netdev(nic, netdev, 400)
        index = tree.index
        virtual_netdev(tree, vrf, mtu=65575)
        tree.file(f'sys/devices/virtual/net/{vrf}/uevent', f'DEVTYPE=vrf\nINTERFACE={vrf}\nIFINDEX={tree.index}')
        tree.link(f'{nic}/net/{netdev}/master', f'sys/devices/virtual/net/{vrf}')
        tree.gids_of_both_versions(port, netdev, f'{LINK_LOCAL}:{n:04x}', f'fc01:0000:0003:000{n}:0000:0000:0000:0005')
        for name, number, more in ((vrf, tree.index, attribute(18, attribute(1, b'vrf\0') + attribute(2, attribute(1, struct.pack('<I', table))))),
                                   (netdev, index, attribute(10, struct.pack('<I', tree.index)))):
            links.append(struct.pack('<BxHiII', 0, 1, number, 0x11043, 0) + attribute(3, name.encode() + b'\0') + attribute(4, struct.pack('<I', 9000))
                         + attribute(33, b'\1') + more)
        tree.link_state(netdev)
        ip = bytes.fromhex(f'fc0100000003000{n}0000000000000005')
        addresses.append(struct.pack('<BBBBI', 10, 64, 0x80, 0, index) + attribute(1, ip))
        # struct rtmsg: protocol kernel, unicast; the local address, and the subnet
        for prefix, bits, kind in ((ip, 128, 2), (ip[:8] + bytes(8), 64, 1)):
            routes.append(struct.pack('<BBBBBBBBI', 10, bits, 0, 0, table, 2, 0, kind, 0) + attribute(1, prefix) + attribute(4, struct.pack('<I', index))
                          + attribute(15, struct.pack('<I', table)))
    tree.list(18, 16, links)
    tree.list(22, 8, addresses)
    tree.list(26, 12, routes)
    # struct fib_rule_hdr, action FR_ACT_TO_TBL; FRA_PRIORITY, FRA_L3MDEV: the rule that the kernel adds with the first VRF
    tree.list(34, 12, [struct.pack('<BBBBBBBBI', 10, 0, 0, 0, 0, 0, 0, 1, 0) + attribute(6, struct.pack('<I', 1000)) + attribute(19, b'\1'),
                       struct.pack('<BBBBBBBBI', 10, 0, 0, 0, 254, 0, 0, 1, 0) + attribute(6, struct.pack('<I', 32766)) + attribute(15, struct.pack('<I', 254))])
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'vrf')


def mana_below_netvsc(tree):
    """Healthy: a D8ds_v6 of Azure. Both ports of MANA are one PCI function, and each of its netdevs is below that of the hypervisor, which
    has the address; the GIDs are those of the latter."""
    guest(tree, 'Microsoft Corporation', 'Virtual Machine')
    tree.file('proc/sys/kernel/osrelease', '6.18.41-vyos')
    nic = tree.nic('sys/devices/pci7870:00', 0, 'mana')
    ports = [tree.rdma(nic, 'mana_0', 1, 200)]
    more_ports(tree, ports[0], [2], [2])
    ports.append(f'{os.path.dirname(ports[0])}/2')
    for n, port in enumerate(ports):
        tree.netdev(nic, f'vf_eth{n}', 200, mtu=1500)
        tree.file(f'{nic}/net/vf_eth{n}/dev_port', n)
        above = f'sys/devices/LNXSYSTM:00/ACPI0004:00/VMBUS:00/f861516{3 + n}-0000-1000-2000-70a8a53148a{8 + n}'
        tree.netdev(above, f'eth{n}', 200, mtu=1500)
        tree.file(f'{above}/vendor', '0x1414')
        tree.file('sys/bus/vmbus/drivers/hv_netvsc/bind')
        tree.link(f'{above}/driver', 'sys/bus/vmbus/drivers/hv_netvsc')
        tree.link(f'{nic}/net/vf_eth{n}/master', f'{above}/net/eth{n}')
        tree.file(f'{nic}/net/vf_eth{n}/address', open(tree.path(f'{above}/net/eth{n}/address'), encoding='ascii').read().strip())
        tree.gids(port, f'eth{n}', f'10.0.{n}.4')
    tree.module('mana', 'mana_ib', 'hv_netvsc', 'ib_core', 'ib_uverbs')


def multi_pf_one_netdev(tree):
    """Healthy: a Socket Direct NIC, with a function below each socket and one netdev for both. The netdev is below the first function; the
    second is disconnected from the network, so its RDMA device has neither a netdev nor GIDs, and its port is down."""
    tree.file('proc/sys/kernel/osrelease', '6.12.0-55-generic')
    for n in range(2):
        tree.gpu(tree.root(0x40 + 0x10 * n, n), 0x41 + 0x10 * n, 'h100', n)
        nic = tree.nic(tree.root(0x07 + 0x70 * n, n), 0x08 + 0x70 * n, 'mlx5', n)
        port = tree.rdma(nic, f'mlx5_{n}', 1, 400, state=('4: ACTIVE', '5: LinkUp') if n == 0 else ('1: DOWN', '3: Disabled'))
        tree.file(f'{device_of(port)}/node_guid', f'5aa2:e103:0000:000{n + 1}')
        if n == 0:
            tree.netdev(nic, 'eth2', 400)
            tree.gids_of_both_versions(port, 'eth2', f'{LINK_LOCAL}:0002', f'{MAPPED}:0a01:0205')
        else:
            os.makedirs(os.path.join(tree.top, nic, 'net'))
    tree.files('sys/kernel/debug/mlx5/0000:08:00.0/multi-pf', group_id='0x00000101', primary='0000:08:00.0 vhca 0x0', secondary_0='0000:78:00.0 vhca 0x2')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def bluefield_arm_side(tree):
    """Healthy: the Arm cores of a BlueField-2. Both PFs are in switchdev mode and have no GID table; RDMA runs over a subfunction of each."""
    tree.file('proc/sys/kernel/osrelease', '5.4.0-1049-bluefield')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd08')
    tree.files('sys/class/dmi/id', sys_vendor='https://www.mellanox.com', product_name='BlueField SoC')
    upstream = tree.bridge('sys/devices/pci0000:00', '0000:00:00.0', ids=('0x15b3', '0x1978'), link=('16.0 GT/s PCIe', '16'))
    below = tree.bridge(upstream, '0000:01:00.0', ids=('0x15b3', '0x1976'), link=('16.0 GT/s PCIe', '16'))
    for n in range(2):
        nic = tree.function(below, f'0000:03:00.{n}', '0x020000', '0x15b3', '0xa2d6', 'mlx5_core', link=('16.0 GT/s PCIe', '16'))
        port = tree.rdma(nic, f'mlx5_{n}', n, 100)
        for index in range(4):
            os.unlink(tree.path(f'{port}/gids/{index}'))
        switch = f'{n}a2e10003005aa2'
        tree.netdev(nic, f'p{n}', 100, mtu=9000, phys_port_name=f'p{n}', phys_switch_id=switch)
        tree.netdev(nic, f'pf{n}hpf', 100, mtu=9000, phys_port_name=f'pf{n}', phys_switch_id=switch)
        tree.netdev(nic, f'en3f{n}pf{n}sf0', 100, mtu=9000, phys_port_name=f'pf{n}sf0', phys_switch_id=switch)
        function = f'{nic}/mlx5_core.sf.{2 + n}'
        os.makedirs(os.path.join(tree.top, function))
        tree.link(f'sys/bus/auxiliary/devices/mlx5_core.sf.{2 + n}', function)
        tree.file(f'{function}/sfnum', 0)
        port = tree.rdma(function, f'mlx5_{2 + n}', 2 + n, 100)
        tree.netdev(function, f'enp3s0f{n}s0', 100)
        tree.gids(port, f'enp3s0f{n}s0', f'10.1.{2 + n}.1')
    tree.module('mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')


def hns_bond_four_ports(tree):
    """Healthy: a Kunpeng server whose four ports are in one bond (802.3ad). The driver registers hns_bond_0 in the place of the devices of
    the four functions, below the first of them."""
    tree.file('proc/sys/kernel/osrelease', '6.19.0')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x48\nCPU architecture: 8\nCPU variant\t: 0x2\nCPU part\t: 0xd22')
    tree.files('sys/class/dmi/id', sys_vendor='Huawei', product_name='TaiShan 200 (Model 2280)')
    tree.gpu(tree.bridge('sys/devices/pci0000:00', '0000:00:08.0', ids=('0x19e5', '0xa120'), link=('16.0 GT/s PCIe', '16')), 0x04, 'a100',
             link=('16.0 GT/s PCIe', '16'))
    above = tree.bridge('sys/devices/pci0000:7c', '0000:7c:00.0', ids=('0x19e5', '0xa121'), link=('Unknown', '0'))
    nics = [tree.function(above, f'0000:7d:00.{n}', '0x020000', '0x19e5', '0xa222', 'hns3', link=('Unknown', '0')) for n in range(4)]
    port = tree.rdma(nics[0], 'hns_bond_0', 0, 25)
    members = [f'eno{n + 1}' for n in range(4)]
    for nic, member in zip(nics, members):
        tree.netdev(nic, member, 25)
        tree.link(f'{nic}/net/{member}/master', 'sys/devices/virtual/net/bond0')
        tree.file(f'{nic}/net/{member}/bonding_slave/state', 'active')
    virtual_netdev(tree, 'bond0')
    tree.file('sys/devices/virtual/net/bond0/speed', 100000)
    tree.files('sys/devices/virtual/net/bond0/bonding', slaves=' '.join(members), mode='802.3ad 4', xmit_hash_policy='layer3+4 1', mii_status='up',
               miimon='100')
    tree.gids_of_both_versions(port, 'bond0', 'fe80:0000:0000:0000:0ac0:ebff:feda:0001', f'{MAPPED}:0a01:0205')
    tree.module('hns3', 'hns_roce_hw_v2', 'ib_core', 'ib_uverbs', 'bonding', 'nvidia', 'nvidia_peermem')


def ionic_rfc1918_index_1(tree):
    """Eight MI300X with a NIC of AMD each in a routed network of 10.0.0.0/8: index 0 is link-local, index 1 the IPv4 address, both of RoCE v2."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'mi300x'):
        tree.roce(below_nic, bus + 4, f'rdma{n}', f'enp{bus + 4}s0', n, 'ionic', 400, numa, address=f'10.102.{9 + n}.101')
    tree.module('ionic', 'ionic_rdma', 'amdgpu')


def gb300_two_roce_per_gpu(tree):
    """Healthy: an instance of AWS with four GB300 and eight RoCE devices of ConnectX-8, two of them beside each GPU."""
    guest(tree, 'Amazon EC2', 'p6e-gb300r.36xlarge')
    for n, bus in enumerate((161, 171, 191, 201)):
        numa = n // 2
        root = tree.bridge(f'sys/devices/pci0000:{bus - 5:02x}', f'0000:{bus - 5:02x}:00.0', numa, ('0x10de', '0x22b2'))
        upstream = tree.bridge(root, f'0000:{bus - 4:02x}:00.0', numa, ('0x15b3', '0x197c'))
        ports = [tree.bridge(upstream, f'0000:{bus - 3:02x}:{port:02x}.0', numa, ('0x15b3', '0x197c')) for port in range(3)]
        tree.function(ports[0], f'0000:{bus - 1:02x}:00.0', '0x030200', '0x10de', '0x31c2', 'nvidia', numa)
        for which in 0, 1:
            name = bus + which
            port = tree.roce(ports[1 + which], name, f'rocep{name}s0', f'enp{name}s0', 2 * n + which, numa=numa)
            tree.file(f'{"/".join(port.split("/")[:-4])}/device', '0x1023')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def vxlan_gid_before_bond(tree):
    """A RoCE bond whose IPv4 address is also that of a VXLAN netdev above it: the GIDs of the latter come first."""
    below_gpu, below_nic = tree.switch(0, 2)
    tree.gpu(below_gpu, 0x13, 'h100')
    first, second = (tree.nic(below_nic, 0x14, 'mlx5', slot=f'00.{f}') for f in (0, 1))
    port = tree.rdma(first, 'mlx5_bond_0', 0, 200)
    members = [f'ens1f{f}np{f}' for f in (0, 1)]
    for nic, member in zip((first, second), members):
        tree.netdev(nic, member, 200)
        tree.link(f'{nic}/net/{member}/master', 'sys/devices/virtual/net/bond1')
        tree.file(f'{nic}/net/{member}/bonding_slave/state', 'active')
    for name, kind in (('bond1', 'bond'), ('b3.vxlan.30100', 'vxlan')):
        virtual_netdev(tree, name)
        tree.file(f'sys/devices/virtual/net/{name}/uevent', f'DEVTYPE={kind}\nINTERFACE={name}\nIFINDEX={tree.index}')
    tree.link('sys/devices/virtual/net/b3.vxlan.30100/lower_bond1', 'sys/devices/virtual/net/bond1')
    tree.link('sys/devices/virtual/net/bond1/upper_b3.vxlan.30100', 'sys/devices/virtual/net/b3.vxlan.30100')
    tree.files('sys/devices/virtual/net/bond1', speed=400000)
    tree.files('sys/devices/virtual/net/bond1/bonding', slaves=' '.join(members), mode='802.3ad 4', xmit_hash_policy='layer3+4 1', mii_status='up',
               miimon='100')
    ip = f'{MAPPED}:1e99:0aaf'
    tree.gids_of_both_versions(port, 'bond1', 'fe80:0000:0000:0000:0ac0:ebff:fe79:391a')
    tree.gids_of_both_versions(port, 'b3.vxlan.30100', ip, first=2)
    tree.gids_of_both_versions(port, 'bond1', ip, first=4)
    tree.module('nvidia', 'nvidia_peermem', 'bonding', 'mlx5_core', 'mlx5_ib', 'vxlan')


def macvlan_gid_table_full(tree):
    """A pod with a macvlan netdev on a NIC which 62 other pods share: all 128 entries of the GID table are those of the host and of the other
    pods, so that the address of this pod has none."""
    below_gpu, below_nic = tree.switch(0, 2)
    tree.gpu(below_gpu, 0x13, 'h100')
    nic = tree.nic(below_nic, 0x14, 'mlx5')
    port = tree.rdma(nic, 'mlx5_0', 0, 200)
    os.makedirs(os.path.join(tree.top, nic, 'net'))
    virtual_netdev(tree, 'net1')
    for index in range(128):
        number = index // 2
        tree.file(f'{port}/gids/{index}', f'{MAPPED}:0a98:00{number:02x}' if number else f'{LINK_LOCAL}:0001')
        for kind in 'types', 'ndevs':
            tree.refuse(f'sys/class/infiniband/mlx5_0/ports/1/gid_attrs/{kind}/{index}', 22)
    tree.module('nvidia', 'nvidia_peermem')
    pod(tree, 1)


def station_rail_200g(tree):
    """A DGX Station with a GB300 and a ConnectX-8 with two ports, each of which is cabled to the other station; the second link is at 200 Gb/s."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='DGX Station GB300')
    tree.function(grace(tree, 0, 9, '0x22b2'), '0009:06:00.0', '0x030200', '0x10de', '0x31c2', 'nvidia')
    above = grace(tree, 0, 0)
    for n, speed in enumerate((400, 200)):
        nic = tree.nic(above, 0x03, 'mlx5', slot=f'00.{n}')
        tree.file(f'{nic}/device', '0x1023')
        port = tree.rdma(nic, f'mlx5_{n}', n, speed)
        tree.netdev(nic, f'enp3s0f{n}np{n}', speed)
        tree.gids_of_both_versions(port, f'enp3s0f{n}np{n}', f'{LINK_LOCAL}:000{n}', f'{MAPPED}:0a0a:0{n}01')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def dranet_rdma_not_returned(tree):
    """A Kubernetes node with virtual functions of a ConnectX-6 after a pod has ended: both netdevs are on the host again, the RDMA device of
    the second function is not. RDMA devices belong to network namespaces (exclusive mode)."""
    below_gpu, below_nic = tree.switch(0, 2)
    tree.gpu(below_gpu, 0x13, 'a100')
    pf = tree.nic(below_nic, 0x14, 'mlx5')
    tree.files(pf, device='0x101b', sriov_numvfs=2, sriov_totalvfs=8)
    tree.gids(tree.rdma(pf, 'mlx5_0', 0, 200), 'ens1f0np0', '10.1.0.1')
    tree.netdev(pf, 'ens1f0np0', 200)
    for n in range(2):
        vf = tree.nic(below_nic, 0x14, 'mlx5-vf', slot=f'00.{2 + n}', link=('Unknown', '0'))
        tree.file(f'{vf}/device', '0x101c')
        tree.link(f'{vf}/physfn', pf)
        tree.link(f'{pf}/virtfn{n}', vf)
        tree.netdev(vf, f'ens1f0v{n}', 200)
        if n == 0:
            tree.gids(tree.rdma(vf, 'mlx5_2', 2, 200), 'ens1f0v0', '10.1.2.1')
    tree.file('sys/module/ib_core/parameters/netns_mode', 'N')
    tree.file('proc/1/comm', 'systemd')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def gb300_host_buffer_pfc(tree):
    """In one second: a port of 800 Gb/s whose NIC has 16 lanes of 32 GT/s to the CPU takes 440 Gb/s into host memory, and sends PFC pause."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB300 NVL')
    tree.function(grace(tree, 0, 9, '0x22b2'), '0009:06:00.0', '0x030200', '0x10de', '0x31c2', 'nvidia')
    nic = tree.nic(grace(tree, 0, 0), 0x03, 'mlx5')
    tree.file(f'{nic}/device', '0x1023')
    port = tree.rdma(nic, 'mlx5_0', 0, 800)
    tree.netdev(nic, 'ens1', 800)
    tree.gids(port, 'ens1', '10.1.0.1')
    tree.dcb('ens1', [3], DSCPS)
    tree.statistics('ens1', *prio_statistics(rx_prio3_bytes=55_000_000_000, rx_prio3_packets=13_200_000, rx_bytes_phy=55_000_000_000,
                                             rx_packets_phy=13_200_000, tx_prio3_pause=240_000, tx_prio3_pause_duration=450_000,
                                             tx_pause_ctrl_phy=240_000))
    units = dict.fromkeys(('port_xmit_data', 'port_rcv_data', 'port_rcv_packets'), 0)
    tree.counters(port, units, units | {'port_rcv_data': 13_700_000_000, 'port_rcv_packets': 13_200_000}, 'counters')
    zero = dict.fromkeys(('out_of_sequence', 'packet_seq_err', 'local_ack_timeout_err', 'out_of_buffer', 'np_cnp_sent', 'rp_cnp_handled',
                          'np_ecn_marked_roce_packets', 'rx_write_requests', 'rx_read_requests'), 0)
    tree.counters(port, zero, zero | {'rx_write_requests': 210_000})
    seconds(tree, 1)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.rstrip())


def send_rnr(tree, **moved):
    """A port of 25 Gb/s in ten seconds of a test with SEND requests over a link of 10 Gb/s; what moved of the RDMA counters."""
    port = modules(tree, 'a100', 'mlx5', 1, rate=25)[0]
    tree.dcb('ens1', [3], DSCPS)
    way = 'rx' if 'out_of_buffer' in moved else 'tx'
    tree.statistics('ens1', *prio_statistics(**{f'{way}_prio3_bytes': 11_000_000_000, f'{way}_prio3_packets': 10_000_000, f'{way}_bytes_phy': 11_000_000_000,
                                                f'{way}_packets_phy': 10_000_000}))
    units = dict.fromkeys(('port_xmit_data', 'port_rcv_data', 'port_xmit_packets', 'port_rcv_packets'), 0)
    data, packets = ('port_rcv_data', 'port_rcv_packets') if way == 'rx' else ('port_xmit_data', 'port_xmit_packets')
    tree.counters(port, units, units | {data: 2_700_000_000, packets: 10_000_000}, 'counters')
    zero = dict.fromkeys(('rx_write_requests', 'rx_read_requests', 'rx_atomic_requests', 'out_of_buffer', 'out_of_sequence', 'duplicate_request',
                          'rnr_nak_retry_err', 'packet_seq_err', 'implied_nak_seq_err', 'local_ack_timeout_err', 'req_cqe_error', 'req_cqe_flush_error',
                          'req_transport_retries_exceeded', 'req_rnr_retries_exceeded', 'roce_adp_retrans', 'rp_cnp_ignored', 'rp_cnp_handled',
                          'np_ecn_marked_roce_packets', 'np_cnp_sent'), 0)
    tree.counters(port, zero, zero | moved)
    seconds(tree, 10)
    tree.module('nvidia', 'nvidia_peermem')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.rstrip())


def send_rnr_receiver(tree):
    send_rnr(tree, out_of_buffer=1543)


def send_rnr_sender(tree):
    send_rnr(tree, rnr_nak_retry_err=1543, local_ack_timeout_err=15, req_cqe_error=36090, req_cqe_flush_error=36071, req_transport_retries_exceeded=19,
             roce_adp_retrans=148, rp_cnp_handled=144)


def thor2_cnp_priority_7(tree):
    """Two Thor 2 as they come: PFC of priority 3, DSCP 26 on priority 3, and 48 (CNPs) on priority 7. The site has CNPs on priority 6."""
    for n, _, bus, (_, below_nic) in gpu_switches(tree, 'mi300x', 2):
        tree.roce(below_nic, bus + 4, f'bnxt_re{n}', f'gpu{n}_eth', n, 'bnxt', 400, n)
        tree.dcb(f'gpu{n}_eth', [3], {26: 3, 48: 7})
    tree.module('amdgpu', 'bnxt_en', 'bnxt_re')
    tree.file('etc/fabric-agent/fabric-agent.toml', 'mode = "audit"\n[[port]]\nname = "thor2"\nmatch = { driver = "bnxt_en" }\ntrust = "dscp"\n'
              'pfc = [3]\ndscp_map = { 26 = 3, 48 = 6 }')


STRIX_GPU = ('0x030000', '0x1002', '0x1586', 'amdgpu')
GEN4 = ('16.0 GT/s PCIe', '16')
GEN4_X4 = ('16.0 GT/s PCIe', '4')


def strix(tree, bus, link=GEN4_X4):
    """A desktop with a Ryzen AI Max: the GPU of the APU, and the bridge of the slot of four lanes."""
    tree.file('proc/cpuinfo', 'vendor_id : AuthenticAMD\nmodel name : AMD RYZEN AI MAX+ 395 w/ Radeon 8060S\nflags : svm')
    inner = tree.bridge('sys/devices/pci0000:00', '0000:00:08.1', ids=('0x1022', '0x150b'), link=('16.0 GT/s PCIe', '16'))
    tree.function(inner, '0000:c4:00.0', *STRIX_GPU, link=('16.0 GT/s PCIe', '16'))
    tree.module('amdgpu')
    return tree.bridge('sys/devices/pci0000:00', '0000:00:03.2', ids=('0x1022', '0x150a'), link=link)


def strix_cx5_slot_gen3(tree):
    """A ConnectX-5 Ex (Gen4 x16) in the slot: it runs with 8 GT/s, of which both ends can do 16, and with the four lanes of the slot."""
    slot = strix(tree, 0xc1)
    nic = tree.nic(slot, 0xc1, 'mlx5', link=('16.0 GT/s PCIe', '16'))
    tree.files(nic, device='0x1019', current_link_speed='8.0 GT/s PCIe', current_link_width='4')
    tree.file(f'{slot}/current_link_speed', '8.0 GT/s PCIe')
    port = tree.rdma(nic, 'rocep193s0', 0, 100)
    tree.netdev(nic, 'enp193s0np0', 100)
    tree.gids(port, 'enp193s0np0', '192.168.100.1')
    tree.module('mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')


def strix_iwarp(tree):
    """An E810 whose driver runs iWARP: no GIDs of addresses, one entry made of the MAC address."""
    slot = strix(tree, 0xc1)
    nic = tree.function(slot, '0000:c1:00.0', '0x020000', '0x8086', '0x159b', 'ice', link=('16.0 GT/s PCIe', '8'))
    tree.file(f'{nic}/current_link_width', '4')
    port = tree.rdma(nic, 'iwp193s0', 0, 25, node_type='4: RNIC')
    tree.netdev(nic, 'enp193s0np0', 25)
    tree.file(f'{port}/gids/0', '58a2:e100:0002:0000:0000:0000:0000:0000')
    for index in 1, 2, 3:
        os.unlink(tree.path(f'{port}/gids/{index}'))
    tree.module('ice', 'irdma', 'ib_core', 'ib_uverbs')


def strix_two_25g(tree):
    """Healthy: an E810-XXV with two ports of 25 Gb/s, both cabled to the other machine; four lanes of Gen4 are enough for both."""
    slot = strix(tree, 0xc1)
    for n in range(2):
        nic = tree.function(slot, f'0000:c1:00.{n}', '0x020000', '0x8086', '0x159b', 'ice', link=('16.0 GT/s PCIe', '8'))
        tree.file(f'{nic}/current_link_width', '4')
        port = tree.rdma(nic, f'rocep193s0f{n}', n, 25)
        tree.file(f'{port}/lid', '0x1')
        tree.netdev(nic, f'enp193s0f{n}np{n}', 25)
        tree.gids(port, f'enp193s0f{n}np{n}', f'192.168.10{n}.1')
    tree.module('ice', 'irdma', 'ib_core', 'ib_uverbs')


def strix_usb4(tree):
    """Verbs over a USB4 cable: the module of the kernel has made a device, and the provider was built for an older libibverbs."""
    tree.file('proc/sys/kernel/osrelease', '7.0.0-29-generic')
    strix(tree, 0xc1)
    tree.netdev(tree.function('sys/devices/pci0000:00/0000:00:08.1', '0000:c3:00.0', '0x020000', '0x10ec', '0x8126', 'r8169',
                              link=('8.0 GT/s PCIe', '1')), 'eno1', 5, mtu=1500)
    nhi = tree.function('sys/devices/pci0000:00/0000:00:08.1', '0000:c6:00.5', '0x0c0340', '0x1022', '0x158d', 'thunderbolt', link=('16.0 GT/s PCIe', '16'))
    port = tree.rdma(nhi, 'usb4_rdma0', 0, 25, counters=False)
    tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
    tree.gids_of_both_versions(port, 'eno1', f'{LINK_LOCAL}:0002', f'{MAPPED}:c0a8:0a01')
    tree.module('thunderbolt', 'thunderbolt_ibverbs', 'ib_core', 'ib_uverbs')
    folder = 'usr/lib/x86_64-linux-gnu/libibverbs'
    for name in 'mlx5-rdmav59', 'irdma-rdmav59', 'rxe-rdmav59', 'siw-rdmav59', 'usb4_rdma-rdmav34':
        tree.file(f'{folder}/lib{name}.so')
    for name in 'mlx5', 'irdma', 'rxe', 'siw', 'usb4_rdma':
        tree.file(f'etc/libibverbs.d/{name}.driver', f'driver {name}')


def cx3_pro_infiniband(tree):
    """A ConnectX-3 Pro for InfiniBand (56 Gb/s, Gen3 x8) in four lanes; the only GID is the link-local one, as InfiniBand has it."""
    slot = strix(tree, 0xc1)
    tree.file(f'{slot}/current_link_speed', '8.0 GT/s PCIe')
    nic = tree.function(slot, '0000:c1:00.0', '0x028000', '0x15b3', '0x1007', 'mlx4_core', link=('8.0 GT/s PCIe', '8'))
    tree.file(f'{nic}/current_link_width', '4')
    port = infiniband(tree, nic, 'mlx4_0', 0, 100)
    tree.file(f'{port}/rate', '56 Gb/sec (4X FDR)')
    tree.file(f'{port}/gid_attrs/types/0', 'IB/RoCE v1')
    tree.netdev(nic, 'ibp193s0', 56, mtu=2044)
    tree.files(f'{nic}/net/ibp193s0', type=32, address='80:00:02:08:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:00')
    tree.module('mlx4_core', 'mlx4_ib', 'ib_ipoib', 'ib_core', 'ib_uverbs', 'ib_umad')


def cray_cxi(tree):
    """Healthy: a node of a Cray EX255a. Four APUs with a Slingshot NIC each, which has no verbs device but one of the class cxi."""
    tree.files('sys/class/dmi/id', sys_vendor='HPE', product_name='HPE Cray Supercomputing EX255a')
    for node in 2, 3:
        tree.file(f'sys/devices/system/node/node{node}/cpulist', f'{node * 8}-{node * 8 + 7}')
    for n in range(4):
        bus = 0x20 * (n + 1)
        root = tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:01.1', n, ('0x1022', '0x14ab'))
        tree.function(root, f'0000:{bus + 1:02x}:00.0', '0x120000', '0x1002', '0x74a0', 'amdgpu', n)
        other = tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:03.1', n, ('0x1022', '0x14ab'), ('16.0 GT/s PCIe', '16'))
        nic = tree.function(other, f'0000:{bus + 2:02x}:00.0', '0x020000', '0x17db', '0x0501', 'cxi_ss1', n, ('16.0 GT/s PCIe', '16'))
        tree.netdev(nic, f'hsn{n}', 200)
        tree.file(f'{nic}/cxi/cxi{n}/fru/part_number', 'P43012-001')
        tree.link(f'{nic}/cxi/cxi{n}/device', nic)
        tree.link(f'sys/class/cxi/cxi{n}', f'{nic}/cxi/cxi{n}')
        tree.file(f'dev/cxi{n}')
    tree.module('amdgpu', 'cxi_ss1', 'cxi_eth', 'cxi_user')


def erdma_h20(tree):
    """Healthy: an instance of Alibaba Cloud with eight H20 and two eRDMA devices; the netdev of each is that of another PCI function (virtio)."""
    guest(tree, 'Alibaba Cloud', 'Alibaba Cloud ECS')
    tree.file('proc/sys/kernel/osrelease', '6.14.0-37-generic')
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        (below_gpu,) = tree.switch(n, 1, numa)
        tree.gpu(below_gpu, bus + 3, 'h20', numa)
    for n in range(2):
        above = tree.root(0xa0 + 0x10 * n, n)
        nic = tree.function(above, f'0000:{0xa1 + 0x10 * n:02x}:00.0', '0x020000', '0x1ded', '0x107f', 'erdma', n, ('Unknown', '0'))
        port = tree.rdma(nic, f'erdma_{n}', n, 100, counters=False)
        virtio = tree.function('sys/devices/pci0000:00', f'0000:00:{5 + n:02x}.0', '0x020000', '0x1af4', '0x1000', 'virtio-pci', n, ('Unknown', '0'))
        tree.netdev(f'{virtio}/virtio{n}', f'eth{n + 1}', 100, mtu=1500)
        tree.files(f'{virtio}/virtio{n}/net/eth{n + 1}', speed=-1, mtu=8500)
        tree.gid(port, 0, f'{LINK_LOCAL}:000{n + 2}', f'eth{n + 1}')
        tree.gid(port, 1, f'{MAPPED}:0a35:065{n}', f'eth{n + 1}')
    virtio = tree.function('sys/devices/pci0000:00', '0000:00:04.0', '0x020000', '0x1af4', '0x1000', 'virtio-pci', 0, ('Unknown', '0'))
    tree.netdev(f'{virtio}/virtio8', 'eth0', 100, mtu=1500)
    tree.module('nvidia', 'nvidia_peermem', 'erdma', 'ib_core', 'ib_uverbs', 'virtio_net')


def gaudi3_no_netdevs(tree):
    """Eight cards of Gaudi 3 for PCIe, whose driver has made no network interface of theirs; the host has one NIC of 10 Gb/s."""
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        folder = tree.function(tree.root(bus, numa), f'0000:{bus + 1:02x}:00.0', '0x120000', '0x1da3', '0x1063', 'habanalabs', numa)
        tree.file(f'{folder}/accel/accel{n}/dev', f'261:{n}')
        tree.link(f'{folder}/accel/accel{n}/device', folder)
        tree.link(f'sys/class/accel/accel{n}', f'{folder}/accel/accel{n}')
    nic = tree.function(tree.root(0xc0), '0000:c1:00.0', '0x020000', '0x8086', '0x1563', 'ixgbe', link=('8.0 GT/s PCIe', '4'))
    tree.netdev(nic, 'eno1', 10, mtu=1500)
    tree.module('habanalabs', 'ixgbe')


def trn2_neuron(tree):
    """Healthy: a trn2.48xlarge. Sixteen Neuron devices; two of them and two EFA NICs below each of eight switches."""
    guest(tree, 'Amazon EC2', 'trn2.48xlarge')
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        ports = tree.switch(n, 4, numa, ('0x1d0f', '0x0200'))
        for which in 0, 1:
            folder = tree.function(ports[which], f'0000:{bus + 3 + which:02x}:00.0', '0x088000', '0x1d0f', '0x7364', 'neuron', numa)
            number = 2 * n + which
            tree.file(f'{folder}/neuron_device/neuron{number}/core_count', '8')
            tree.link(f'sys/class/neuron_device/neuron{number}', f'{folder}/neuron_device/neuron{number}')
            nic = tree.nic(ports[2 + which], bus + 5 + which, 'efa', numa)
            tree.files(nic, device='0xefa2', p2p='NEURON')
            port = tree.rdma(nic, f'rdmap{bus + 5 + which}s0', number, 200, layer='Unspecified')
            for index in range(4):
                os.unlink(tree.path(f'{port}/gids/{index}'))
            tree.gid(port, 0, f'{LINK_LOCAL}:{number:04x}', '')
    tree.module('neuron', 'efa', 'ib_core', 'ib_uverbs')


def workstation_acs(tree):
    """A workstation (Threadripper) with two RTX 5880 Ada below root ports of their own, which redirect requests (ACS). No RDMA NIC."""
    tree.file('proc/cpuinfo', 'vendor_id : AuthenticAMD\nmodel name : AMD Ryzen Threadripper PRO\nflags : svm')
    for bus, port in ((0x40, '01.1'), (0x60, '03.1')):
        root = tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:{port}', 0, ('0x1022', '0x1483'), ('16.0 GT/s PCIe', '16'), acs=0x1d)
        tree.function(root, f'0000:{bus + 1:02x}:00.0', '0x030000', '0x10de', '0x26b3', 'nvidia', 0, ('16.0 GT/s PCIe', '16'))
    root = tree.bridge('sys/devices/pci0000:20', '0000:20:01.3', 0, ('0x1022', '0x1483'), ('8.0 GT/s PCIe', '4'), acs=0x1d)
    tree.netdev(tree.function(root, '0000:21:00.0', '0x020000', '0x8086', '0x1563', 'ixgbe', link=('8.0 GT/s PCIe', '4')), 'eno1', 10, mtu=1500)
    tree.module('nvidia', 'nvidia_uvm', 'ixgbe')


def h100_four_of_eight_cabled(tree):
    """Eight InfiniBand NICs beside the GPUs, of which four are cabled; the others never had a LID. One Ethernet port."""
    for name, (n, numa, bus, (_, below_nic)) in zip((0, 1, 2, 7, 8, 9, 12, 13), gpu_switches(tree, 'h100')):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700')
        port = infiniband(tree, nic, f'mlx5_{name}', name)
        if name not in (1, 7, 9, 13):
            tree.files(port, state='1: DOWN', phys_state='2: Polling', lid='0xffff', sm_lid='0x0', rate='10 Gb/sec (4X SDR)')
    tree.roce(tree.root(0xa0), 0xa1, 'mlx5_3', 'ens108np0', 3, rate=100, address='10.9.0.5', mtu=1500)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def hi1822_hrn(tree):
    """A Kunpeng server with a NIC of Huawei (Hi1822), whose driver is not in Linux. Its port has no link."""
    tree.file('proc/sys/kernel/osrelease', '4.19.90-2003.4.0.0036.oe1.aarch64')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x48\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd01')
    above = tree.bridge('sys/devices/pci0000:80', '0000:80:00.0', ids=('0x19e5', '0xa120'), link=('16.0 GT/s PCIe', '16'))
    nic = tree.function(above, '0000:81:00.0', '0x020000', '0x19e5', '0x1822', 'hinic', link=('8.0 GT/s PCIe', '16'))
    port = tree.rdma(nic, 'hrn0_0', 0, 100, state=('1: DOWN', '3: Disabled'), counters=False)
    tree.netdev(nic, 'enp129s0', 100, carrier=False, mtu=1500)
    tree.files(f'{nic}/net/enp129s0', speed=-1, flags='0x1003')
    tree.gids_of_both_versions(port, 'enp129s0', 'fe80:0000:0000:0000:de21:e2ff:fe30:cfbb')
    tree.module('hinic', 'hiroce', 'ib_core', 'ib_uverbs')


def ainic_no_carrier(tree):
    """Eight NICs of AMD; the netdev of one is set up by the administrator and has no carrier."""
    ports = modules(tree, 'mi355x', 'ionic', names='rocep{n}s0', netdevs='enp{n}s0')
    tree.files(ports[5], state='1: DOWN', phys_state='3: Disabled')
    tree.files('sys/class/net/enp6s0', operstate='down', carrier=0, speed=-1, mtu=1500, flags='0x1003')
    tree.module('ionic', 'ionic_rdma', 'amdgpu', 'ib_core', 'ib_uverbs')


def both_ports_disabled(tree):
    """A storage server with a ConnectX-6 Dx: the first netdev is not set up, the second is, and has no link. Both RDMA ports say Disabled."""
    above = tree.root(0x10)
    for n in range(2):
        nic = tree.nic(above, 0x11, 'mlx5', slot=f'00.{n}', link=('16.0 GT/s PCIe', '16'))
        tree.file(f'{nic}/device', '0x101d')
        port = tree.rdma(nic, f'mlx5_{n}', n, 100, state=('1: DOWN', '3: Disabled'))
        name = f'ens1f{n}np{n}'
        tree.netdev(nic, name, 100, carrier=False)
        tree.files(f'{nic}/net/{name}', speed=-1, flags=('0x1002', '0x1003')[n])
        tree.gids_of_both_versions(port, name, f'fe80:0000:0000:0000:8ae9:a4ff:fe70:566{n}')
    tree.module('mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')


def aks_ndv4(tree):
    """An ND96asr_v4 in Kubernetes of Azure: the general image (Ubuntu 18.04), without the topology file and without nvidia_peermem loaded."""
    for _ in azure(tree, 'a100', '0x20b0', (1, 2, 3, 4, 0xb, 0xc, 0xd, 0xe), range(0x101, 0x109), [n // 2 for n in range(8)], 200, 'mlx5_ib{n}'):
        pass
    tree.file('proc/sys/kernel/osrelease', '5.4.0-1103-azure')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  510.47.03  Mon Jan 24 22:58:54 UTC 2022')
    tree.module('nvidia', 'nvidia_uvm', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_umad', 'ib_uverbs')
    tree.file('proc/modules', 'nvidia_uvm 1048576 0 - Live 0x0\nnvidia 39137280 1 nvidia_uvm, Live 0x0\nmlx5_ib 331776 0 - Live 0x0\n'
              'ib_umad 24576 0 - Live 0x0\nib_uverbs 131072 1 mlx5_ib, Live 0x0\nib_core 311296 3 mlx5_ib,ib_umad,ib_uverbs, Live 0x0\n'
              'mlx5_core 1126400 1 mlx5_ib, Live 0x0')


def aks_h100_dmabuf(tree):
    """Healthy: an ND96isr_H100_v5 in Kubernetes of Azure (Ubuntu 24.04): inbox RDMA, open driver of NVIDIA, DMA-BUF instead of nvidia_peermem."""
    for _ in azure(tree, 'h100', '0x2330', range(1, 9), range(0x101, 0x109), [n // 4 for n in range(8)], 400, 'mlx5_{n}'):
        pass
    tree.file('proc/sys/kernel/osrelease', '6.14.0-1017-azure')
    tree.file('boot/config-6.14.0-1017-azure', 'CONFIG_PCI_P2PDMA=y\nCONFIG_DMA_SHARED_BUFFER=y\nCONFIG_DMABUF_MOVE_NOTIFY=y\nCONFIG_INFINIBAND=m')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder)  Tue Sep 23 2025')
    tree.module('nvidia', 'nvidia_uvm', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_umad', 'ib_uverbs')


def counters_at_their_end(tree):
    """InfiniBand: the 8 and 16 bit counters of one port have reached their greatest values and stay there, in both samples."""
    ports = []
    for n, _, bus, (_, below_nic) in gpu_switches(tree, 'h100', 2):
        ports.append(infiniband(tree, tree.nic(below_nic, bus + 4, 'mlx5', n, kind='0x020700'), f'mlx5_{n}', n))
    quiet = dict.fromkeys(('excessive_buffer_overrun_errors', 'link_downed', 'link_error_recovery', 'local_link_integrity_errors', 'port_rcv_constraint_errors',
                           'port_rcv_errors', 'port_rcv_remote_physical_errors', 'port_rcv_switch_relay_errors', 'port_xmit_constraint_errors',
                           'port_xmit_discards', 'port_xmit_wait', 'symbol_error', 'VL15_dropped', 'port_rcv_data', 'port_xmit_data', 'port_rcv_packets',
                           'port_xmit_packets'), 0)
    full = quiet | {'excessive_buffer_overrun_errors': 15, 'link_downed': 255, 'port_rcv_switch_relay_errors': 2, 'port_xmit_discards': 65535,
                    'port_xmit_wait': 4294967295, 'port_rcv_data': 205128687774249, 'port_xmit_data': 205143497464492,
                    'port_rcv_packets': 240037171331, 'port_xmit_packets': 242071897216}
    traffic = {'port_rcv_data': 205128787774249, 'port_xmit_data': 205143597464492, 'port_rcv_packets': 240037271331, 'port_xmit_packets': 242071997216}
    tree.counters(ports[0], full, full | traffic, 'counters')
    tree.counters(ports[1], quiet, quiet | {'port_rcv_data': 100000000, 'port_xmit_data': 100000000}, 'counters')
    seconds(tree, 10)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def usnic_vic(tree):
    """Servers of Cisco with GPUs: usNIC over a VIC, whose verbs device is for Cisco's own libfabric provider; unreliable datagrams only."""
    tree.files('sys/class/dmi/id', sys_vendor='Cisco Systems Inc', product_name='UCSC-C480-M5ML8')
    for n in range(2):
        tree.gpu(tree.root(0x20 + 0x20 * n, n), 0x21 + 0x20 * n, 'v100', n, link=('8.0 GT/s PCIe', '16'))
        nic = tree.function(tree.root(0x30 + 0x20 * n, n), f'0000:{0x31 + 0x20 * n:02x}:00.0', '0x020000', '0x1137', '0x0043', 'enic', n, ('8.0 GT/s PCIe', '16'))
        port = tree.rdma(nic, f'usnic_{n}', n, 100, node_type='6: usNIC UDP', counters=False)
        tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
        tree.netdev(nic, f'enp{0x31 + 0x20 * n}s0', 40)
        tree.file(f'{port}/gids/0', f'{LINK_LOCAL}:000{n + 2}')
        for index in 1, 2, 3:
            os.unlink(tree.path(f'{port}/gids/{index}'))
    tree.module('enic', 'usnic_verbs', 'ib_core', 'ib_uverbs', 'nvidia')


def opa_renamed(tree):
    """Omni-Path beside two GPUs; udev has renamed hfi1_0 to opap129s0, and PSM2 looks for hfi1_0."""
    for n in range(2):
        tree.gpu(tree.root(0x20 + 0x20 * n, n), 0x21 + 0x20 * n, 'v100', n, link=('8.0 GT/s PCIe', '16'))
    nic = tree.function(tree.root(0x80), '0000:81:00.0', '0x020800', '0x8086', '0x24f0', 'hfi1', link=('8.0 GT/s PCIe', '16'))
    port = infiniband(tree, nic, 'opap129s0', 0, 100)
    tree.files(device_of(port), board_id='Intel Omni-Path Host Fabric Interface Adapter 100 Series', fw_ver='1.27.0')
    tree.netdev(nic, 'ibp129s0', 100, mtu=2044)
    tree.files(f'{nic}/net/ibp129s0', type=32, address='80:00:00:02:fe:80:00:00:00:00:00:00:00:11:75:01:01:67:00:01')
    tree.module('hfi1', 'rdmavt', 'ib_core', 'ib_uverbs', 'ib_ipoib', 'nvidia')


def gke_a4(tree):
    """Healthy: an a4-highgpu-8g of Google Cloud. Eight ConnectX-7 beside the GPUs, and two gVNIC."""
    guest(tree, 'Google', 'Google Compute Engine')
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'b200', ids=('0x104c', '0x8232')):
        nic = tree.nic(below_nic, bus + 4, 'mlx5-vf', numa)
        port = tree.rdma(nic, f'mlx5_{n}', n, 400)
        tree.netdev(nic, f'gpu{n}rdma0', 400, mtu=8896)
        tree.gids_of_both_versions(port, f'gpu{n}rdma0', f'{LINK_LOCAL}:{n:04x}', f'{MAPPED}:c0a8:{0x80 + n:02x}05')
    for n in range(2):
        nic = tree.function('sys/devices/pci0000:00', f'0000:00:0{4 + n}.0', '0x020000', '0x1ae0', '0x0042', 'gve', 0, ('Unknown', '0'))
        tree.netdev(nic, f'eth{n}', 200, mtu=8896)
    tree.module('nvidia', 'nvidia_uvm', 'nvidia_peermem', 'gve', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')


def ice_fw_lldp(tree):
    """Two ports of E810 with RoCE: the agent of the firmware does LLDP and DCBX (DCB_CAP_DCBX_LLD_MANAGED), and the site wants PFC of priority 3."""
    for n in range(2):
        tree.gpu(tree.root(0x20 + 0x20 * n, n), 0x21 + 0x20 * n, 'a100', n, link=('16.0 GT/s PCIe', '16'))
        nic = tree.function(tree.root(0x30 + 0x20 * n, n), f'0000:{0x31 + 0x20 * n:02x}:00.0', '0x020000', '0x8086', '0x1592', 'ice', n,
                            ('16.0 GT/s PCIe', '16'))
        port = tree.rdma(nic, f'rocep{0x31 + 0x20 * n}s0', n, 100)
        tree.file(f'{port}/lid', '0x1')
        tree.netdev(nic, f'ens{n + 1}', 100)
        tree.gids(port, f'ens{n + 1}', f'10.5.{n}.1')
        tree.dcb(f'ens{n + 1}', [], {}, dcbx=0x2 | 0x8)
    tree.module('ice', 'irdma', 'ib_core', 'nvidia', 'nvidia_peermem')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.replace('mlx5_core', 'ice').replace('"audit"', '"enforce"').rstrip())


def vf_mtu_above_pf(tree):
    """A node of Kubernetes with SR-IOV: the VF's netdev has MTU 4200, that of its PF 1500."""
    for n, _, bus, (_, below_nic) in gpu_switches(tree, 'h100', 2):
        pf = tree.nic(below_nic, bus + 4, 'mlx5', n)
        tree.files(pf, sriov_numvfs=1, sriov_totalvfs=8)
        port = tree.rdma(pf, f'mlx5_{n}', n, 400)
        tree.netdev(pf, f'ens{n + 1}f0np0', 400, mtu=1500)
        tree.gids_of_both_versions(port, f'ens{n + 1}f0np0', f'{LINK_LOCAL}:{n:04x}')
        vf = tree.nic(below_nic, bus + 4, 'mlx5-vf', n, slot='00.1', link=('Unknown', '0'))
        tree.link(f'{vf}/physfn', pf)
        tree.link(f'{pf}/virtfn0', vf)
        port = tree.rdma(vf, f'mlx5_{n + 2}', 20 + n, 400)
        tree.netdev(vf, f'ens{n + 1}f0v0', 400, mtu=4200)
        tree.gids_of_both_versions(port, f'ens{n + 1}f0v0', f'fe80:0000:0000:0000:5aa2:e1ff:fe01:{n:04x}', f'{MAPPED}:0a01:0{n}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def plan_two_fabrics(tree):
    """Four InfiniBand NICs beside the GPUs and one Ethernet NIC for storage; a policy of RoCE whose match is the driver, so that it names all."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h100', 4):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700')
        infiniband(tree, nic, f'mlx5_{n}', n)
        tree.netdev(nic, f'ibs{n + 1}', 400, mtu=4092)
        tree.files(f'{nic}/net/ibs{n + 1}', type=32, address=f'00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:0{n}')
    tree.roce(tree.root(0xa0), 0xa1, 'mlx5_4', 'ens9np0', 9, rate=200)
    tree.dcb('ens9np0', [], {})
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.rstrip())


def ainic_one_older(tree):
    """Eight NICs of AMD; one has firmware of another branch than the other seven."""
    for n, port in enumerate(modules(tree, 'mi355x', 'ionic')):
        tree.file(f'{device_of(port)}/fw_ver', '1.117.1-a-63' if n == 6 else '1.117.5-a-45')
    tree.module('ionic', 'ionic_rdma', 'amdgpu', 'ib_core', 'ib_uverbs')


def softroce_vgpu(tree):
    """A virtual machine of a Slurm cluster for tests: a vGPU, a virtio NIC, and Soft-RoCE on it."""
    guest(tree, 'QEMU', 'Standard PC (Q35 + ICH9, 2009)')
    tree.function('sys/devices/pci0000:00', '0000:00:05.0', '0x030200', '0x10de', '0x20f1', 'nvidia', 0, ('Unknown', '0'))
    virtio = tree.function('sys/devices/pci0000:00', '0000:00:03.0', '0x020000', '0x1af4', '0x1041', 'virtio-pci', 0, ('Unknown', '0'))
    tree.netdev(f'{virtio}/virtio1', 'ens3', 10, mtu=1500)
    tree.file(f'{virtio}/virtio1/net/ens3/speed', '-1')
    folder = 'sys/devices/virtual'
    port = tree.rdma(folder, 'rxe0', 1, 25)
    device = device_of(port)
    os.unlink(tree.path(f'{device}/device'))
    tree.files(device, parent='ens3', board_id='', fw_ver='', hca_type='')
    tree.file(f'{port}/rate', '2.5 Gb/sec (1X SDR)')
    tree.gids_of_both_versions(port, 'ens3', f'{LINK_LOCAL}:0002', f'{MAPPED}:0a00:0205')
    tree.module('nvidia', 'rdma_rxe', 'ib_core', 'ib_uverbs', 'virtio_net')


def ipoib_bond(tree):
    """Healthy: four A100; two InfiniBand NICs at the first socket with a bond of their IPoIB netdevs; two onboard Ethernet ports, one in use."""
    for n in range(4):
        numa, bus = n // 2, 0x10 * (n + 1)
        tree.gpu(tree.root(bus, numa), bus + 1, 'a100', numa, link=('16.0 GT/s PCIe', '16'))
    virtual_netdev(tree, 'ib-bond0', mtu=2044)
    for n in range(2):
        nic = tree.nic(tree.root(0x80 + 0x10 * n), 0x81 + 0x10 * n, 'mlx5', kind='0x020700', link=('16.0 GT/s PCIe', '16'))
        tree.file(f'{nic}/device', '0x101b')
        infiniband(tree, nic, f'mlx5_{n}', n, 200)
        tree.netdev(nic, f'ib{n}', 200, mtu=2044)
        tree.files(f'{nic}/net/ib{n}', type=32, address=f'00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:0{n}')
        tree.link(f'{nic}/net/ib{n}/master', 'sys/devices/virtual/net/ib-bond0')
        tree.file(f'{nic}/net/ib{n}/bonding_slave/state', 'backup' if n else 'active')
    tree.files('sys/devices/virtual/net/ib-bond0', type=32, address='00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:00')
    tree.files('sys/devices/virtual/net/ib-bond0/bonding', slaves='ib0 ib1', mode='active-backup 1', active_slave='ib0', mii_status='up', miimon='100')
    above = tree.root(0xb0)
    for f in range(2):
        nic = tree.nic(above, 0xb1, 'mlx5', slot=f'00.{f}', link=('8.0 GT/s PCIe', '8'))
        tree.file(f'{nic}/device', '0x1015')
        port = tree.rdma(nic, f'mlx5_{2 + f}', 2 + f, 25, state=('1: DOWN', '3: Disabled') if f else ('4: ACTIVE', '5: LinkUp'))
        tree.netdev(nic, f'eno{f + 1}np{f}', 25, carrier=not f, mtu=1500)
        if not f:
            tree.gids_of_both_versions(port, 'eno1np0', f'{LINK_LOCAL}:0002', f'{MAPPED}:0a02:0305')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib', 'bonding')


def ib_no_subnet_manager(tree):
    """Two ConnectX-6 at an unmanaged HDR switch (no subnet manager in it, none on a host): the links are up, the ports have no LID."""
    for n, _, bus, (_, below_nic) in gpu_switches(tree, 'a100', 2):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', n, kind='0x020700')
        tree.file(f'{nic}/device', '0x101b')
        port = infiniband(tree, nic, f'mlx5_{n}', n, 200)
        tree.files(port, state='2: INIT', lid='0xffff', sm_lid='0x0')
        tree.netdev(nic, f'ibs{n + 1}', 200, carrier=False, mtu=2044)
        tree.files(f'{nic}/net/ibs{n + 1}', type=32, address=f'00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:0{n}')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib')


def cx3_roce_v1(tree):
    """Two ports of a ConnectX-3 (one function, one RDMA device) whose GIDs are of RoCE v1 only, a VLAN on the first, and a ConnectX-5 with both versions."""
    tree.gpu(tree.root(0x10), 0x11, 'v100', link=('8.0 GT/s PCIe', '16'))
    nic = tree.function(tree.root(0x20), '0000:21:00.0', '0x028000', '0x15b3', '0x1003', 'mlx4_core', link=('8.0 GT/s PCIe', '8'))
    port = tree.rdma(nic, 'mlx4_0', 0, 100, counters=False)
    tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
    more_ports(tree, port, [2], {2})
    tree.file(f'{os.path.dirname(port)}/2/rate', '40 Gb/sec (4X QDR)')
    for n, (netdev, address) in enumerate((('eth2', '0c0c:0c0c'), ('eth3', '0c0c:0a0c'))):
        folder = f'{os.path.dirname(port)}/{n + 1}'
        tree.netdev(nic, netdev, 40, mtu=1500)
        tree.file(f'{nic}/net/{netdev}/dev_port', n)
        gids = [(f'fe80:0000:0000:0000:0202:c9ff:feb3:842{n + 1}', netdev), (f'{MAPPED}:{address}', netdev)]
        if not n:
            gids.append((f'{MAPPED}:0a0a:0a02', 'eth2.10'))
        for index, (gid, owner) in enumerate(gids):
            tree.gid(folder, index, gid, owner)
            tree.file(f'{folder}/gid_attrs/types/{index}', 'IB/RoCE v1')
    virtual_netdev(tree, 'eth2.10', mtu=1500)
    nic = tree.nic(tree.root(0x30), 0x31, 'mlx5', link=('8.0 GT/s PCIe', '16'))
    tree.file(f'{nic}/device', '0x1017')
    port = tree.rdma(nic, 'mlx5_0', 1, 100)
    tree.netdev(nic, 'eth4', 100, mtu=1500)
    tree.gids_of_both_versions(port, 'eth4', 'fe80:0000:0000:0000:268a:07ff:fe8f:9bbc', f'{MAPPED}:0c0c:0b0c')
    tree.module('nvidia', 'nvidia_peermem', 'mlx4_core', 'mlx4_ib', 'mlx4_en', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')


def azure_mi300x(tree):
    """Healthy: an ND MI300X v5. Eight virtual functions of ConnectX-7 for InfiniBand, each GPU and each NIC in a PCI domain of its own."""
    for _, port in azure(tree, 'mi300x', '0x74b5', (2, 3, 4, 5, 6, 7, 8, 9), range(0x101, 0x109), [n // 4 for n in range(8)], 400, 'mlx5_{n}'):
        number = int(port.split('/')[-3].removeprefix('mlx5_'))
        tree.file(f'{"/".join(port.split("/")[:-4])}/device', '0x101e')
        tree.files(device_of(port), fw_ver='28.40.1702', board_id='MSF0000000047',
                   node_guid=f'0015:5dff:fe34:016{0xb + number & 0xf:x}', sys_image_guid=f'3868:dd03:0{1 + number}bd:700{number}')
        tree.files(port, lid=f'0x{2054 + number:x}')
    tree.module('amdgpu', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')
    tree.file('proc/kallsyms', '0000000000000000 T ib_register_peer_memory_client\t[ib_core]')


def snc_nine_nics(tree):
    """Healthy: two sockets with two NUMA nodes each. Three GPUs at node 0, one at node 1, three at node 2, one at node 3, each with its NIC
    below a switch; a ninth NIC at node 1 has a root port of its own."""
    for node in 2, 3:
        tree.file(f'sys/devices/system/node/node{node}/cpulist', f'{node * 8}-{node * 8 + 7}')
    for node in range(4):
        tree.file(f'sys/devices/system/node/node{node}/distance', ' '.join(str(10 if other == node else 12 if other // 2 == node // 2 else 21) for other in range(4)))
        for cpu in range(node * 8, node * 8 + 8):
            tree.files(f'sys/devices/system/cpu/cpu{cpu}/topology', physical_package_id=node // 2, core_id=cpu)
    tree.file('proc/cpuinfo', 'vendor_id : GenuineIntel\nmodel name : INTEL(R) XEON(R) PLATINUM 8568Y+\nflags : fpu vmx')
    for n, (numa, name) in enumerate(zip((0, 0, 0, 1, 2, 2, 2, 3), (0, 1, 2, 4, 5, 6, 7, 8))):
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.gpu(below_gpu, 0x13 + 0x10 * n, 'h200', numa)
        nic = tree.nic(below_nic, 0x14 + 0x10 * n, 'mlx5', numa, kind='0x020700')
        infiniband(tree, nic, f'mlx5_{name}', name)
    tree.roce(tree.root(0xa0, 1), 0xa1, 'mlx5_3', 'ens9np0', 9, rate=100, numa=1)
    tree.file('sys/devices/pci0000:a0/0000:a0:01.0/0000:a1:00.0/device', '0x101d')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def numa_unknown(tree):
    """Healthy: a host of two sockets whose firmware does not say at which NUMA node a PCI device is: -1 for all."""
    modules(tree, 'h100', 'mlx5')
    for folder, _, names in os.walk(os.path.join(tree.top, 'sys/devices')):
        if 'numa_node' in names:
            tree.file(f'{os.path.relpath(folder, tree.top)}/numa_node', '-1')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def z890_two_root_ports(tree):
    """A workstation with an Arrow Lake processor: the GPU and the ConnectX-5 are below two root ports of the CPU. DMA-BUF, the IOMMU off."""
    tree.file('proc/sys/kernel/osrelease', '6.17.0-20-generic')
    tree.file('proc/cmdline', 'BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p2 ro intel_iommu=off')
    tree.file('proc/cpuinfo', 'vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 198\nmodel name\t: Intel(R) Core(TM) Ultra 9 285K\nflags\t\t: fpu vmx')
    tree.files('sys/class/dmi/id', sys_vendor='ASUS', product_name='Pro WS Z890-ACE SE')
    gen5_x8 = ('32.0 GT/s PCIe', '8')
    above = tree.bridge('sys/devices/pci0000:00', '0000:00:01.0', -1, ('0x8086', '0xae4d'), link=gen5_x8)
    gpu = tree.function(above, '0000:01:00.0', '0x030000', '0x10de', '0x2bb1', 'nvidia', -1, gen5_x8)
    tree.file(f'{gpu}/resource', '0x0000000080000000 0x0000000083ffffff 0x0000000000040200\n0x0000004000000000 0x0000005fffffffff 0x000000000014220c')
    above = tree.bridge('sys/devices/pci0000:00', '0000:00:01.1', -1, ('0x8086', '0xae4e'), link=('16.0 GT/s PCIe', '8'))
    for f in range(2):
        nic = tree.nic(above, 0x02, 'mlx5', -1, slot=f'00.{f}', link=('16.0 GT/s PCIe', '8'))
        tree.file(f'{nic}/device', '0x1019')
        port = tree.rdma(nic, f'mlx5_{f}', f, 100)
        tree.netdev(nic, f'enp2s0f{f}np{f}', 100)
        tree.gids_of_both_versions(port, f'enp2s0f{f}np{f}', f'{LINK_LOCAL}:000{f}', f'{MAPPED}:0a0{f}:0105')
    tree.module('nvidia', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.44.01  Release Build')


def ib_uverbs_missing(tree):
    """Two ConnectX-6 Dx with mlx5_ib; the module ib_uverbs is not loaded, so there is no class infiniband_verbs and no /dev/infiniband/uverbs*."""
    ports = modules(tree, 'a100', 'mlx5', 2, rate=100)
    for link in os.listdir(os.path.join(tree.top, 'sys/class/infiniband_verbs')):
        os.unlink(os.path.join(tree.top, 'sys/class/infiniband_verbs', link))
    os.rmdir(os.path.join(tree.top, 'sys/class/infiniband_verbs'))
    for port in ports:
        shutil.rmtree(os.path.join(tree.top, *port.split('/')[:-4], 'infiniband_verbs'))
        tree.file(f'{"/".join(port.split("/")[:-4])}/device', '0x101d')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_core')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 1 - Live 0x0000000000000000' for name in ('nvidia_peermem', 'nvidia', 'mlx5_ib', 'mlx5_core', 'ib_core')))
    tree.file('proc/1/comm', 'systemd')
    os.makedirs(os.path.join(tree.top, 'dev'), exist_ok=True)


def erdma_uverbs_0600(tree):
    """A pod in an instance of Alibaba Cloud with two GPUs and two eRDMA devices; only root may open the verbs device of the second."""
    guest(tree, 'Alibaba Cloud', 'Alibaba Cloud ECS')
    for n in range(2):
        (below_gpu,) = tree.switch(n, 1, n)
        tree.gpu(below_gpu, 0x13 + 0x10 * n, 'h20', n)
        above = tree.root(0xa0 + 0x10 * n, n)
        nic = tree.function(above, f'0000:{0xa1 + 0x10 * n:02x}:00.0', '0x020000', '0x1ded', '0x107f', 'erdma', n, ('Unknown', '0'))
        port = tree.rdma(nic, f'erdma_{n}', n, 100, counters=False)
        virtio = tree.function('sys/devices/pci0000:00', f'0000:00:{5 + n:02x}.0', '0x020000', '0x1af4', '0x1000', 'virtio-pci', n, ('Unknown', '0'))
        tree.netdev(f'{virtio}/virtio{n}', f'eth{n + 1}', 100, mtu=8500)
        tree.file(f'{virtio}/virtio{n}/net/eth{n + 1}/speed', -1)
        tree.gid(port, 0, f'{LINK_LOCAL}:000{n + 2}', f'eth{n + 1}')
        tree.gid(port, 1, f'{MAPPED}:0a35:065{n}', f'eth{n + 1}')
    tree.module('nvidia', 'nvidia_peermem', 'erdma', 'ib_core', 'ib_uverbs', 'virtio_net')
    pod(tree, 2)
    os.chmod(tree.path('dev/infiniband/uverbs0'), 0o666)
    os.chmod(tree.path('dev/infiniband/uverbs1'), 0o600)


def ionic_without_port_counters(tree):
    """Healthy: eight Pollara of AMD in one second of a job. The folder counters of the port is empty; bytes and packets are in hw_counters."""
    for n, port in enumerate(modules(tree, 'mi355x', 'ionic', names='rocep{n}s0')):
        for name in os.listdir(tree.path(f'{port}/counters/.')):
            os.unlink(tree.path(f'{port}/counters/{name}'))
        for name in os.listdir(tree.path(f'{port}/hw_counters/.')):
            os.unlink(tree.path(f'{port}/hw_counters/{name}'))
        zero = dict.fromkeys(('rx_rdma_ucast_bytes', 'tx_rdma_ucast_bytes', 'rx_rdma_mcast_bytes', 'tx_rdma_mcast_bytes', 'rx_rdma_ucast_pkts', 'tx_rdma_ucast_pkts',
                              'rx_rdma_cnp_pkts', 'tx_rdma_cnp_pkts', 'rx_rdma_ecn_pkts', 'tx_rdma_ack_timeout', 'req_rx_pkt_seq_err', 'resp_rx_outofseq',
                              'req_rx_rnr_retry_err', 'tx_rdma_retx_bytes', 'tx_rdma_retx_pkts', 'rx_rdma_mtu_discard_pkts'), 0)
        moved = {f'{way}_rdma_ucast_bytes': 30_000_000_000 + n for way in ('rx', 'tx')} | {f'{way}_rdma_ucast_pkts': 7_300_000 for way in ('rx', 'tx')}
        tree.counters(port, zero, zero | moved)
    seconds(tree, 1)
    tree.module('ionic', 'ionic_rdma', 'amdgpu', 'ib_core', 'ib_uverbs')


def p4d_flat(tree):
    """Healthy: a p4d.24xlarge as it shows itself: on each of four PCI buses two GPUs, an EFA device and an ENA, without a bridge."""
    guest(tree, 'Amazon EC2', 'p4d.24xlarge')
    unknown = ('Unknown', '0')
    vendor, device, kind, driver = GPUS['a100']
    for n, bus in enumerate((0x10, 0x20, 0x90, 0xa0)):
        top, numa = f'sys/devices/pci0000:{bus:02x}', n // 2
        ena = tree.function(top, f'0000:{bus:02x}:{n % 2:02x}.0', '0x020000', '0x1d0f', '0xec20', 'ena', numa, unknown)
        tree.netdev(ena, f'ens{32 + n}', 100)
        nic = tree.function(top, f'0000:{bus:02x}:1b.0', '0x020000', '0x1d0f', '0xefa0', 'efa', numa, unknown)
        tree.file(f'{nic}/p2p', 'NVIDIA peermem')
        port = tree.rdma(nic, f'rdmap{bus}s27', n, 100, layer='Unspecified')
        for index in range(4):
            os.unlink(tree.path(f'{port}/gids/{index}'))
        tree.gid(port, 0, f'{LINK_LOCAL}:{n:04x}', '')
        for place in (0x1c, 0x1d):
            tree.function(top, f'0000:{bus:02x}:{place:02x}.0', kind, vendor, device, driver, numa, unknown)
        for place in (0x1e, 0x1f):
            tree.function(top, f'0000:{bus:02x}:{place:02x}.0', '0x010802', '0x1d0f', '0xcd01', 'nvme', numa, unknown)
    for place in range(0x1a, 0x20):
        tree.function('sys/devices/pci0000:80', f'0000:80:{place:02x}.0', '0x068000', '0x10de', '0x1af1', 'nvidia-nvswitch', 1, unknown)
    tree.module('nvidia', 'efa', 'ena', 'ib_core', 'ib_uverbs')


def dgx2(tree):
    """Healthy: a DGX-2. Four groups of four GPUs: below one upstream port two switches, each with two GPUs and an InfiniBand NIC; two more
    NICs (Ethernet) at the second socket."""
    gen3 = ('8.0 GT/s PCIe', '16')
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='NVIDIA DGX-2')
    for group in range(4):
        numa, bus = group // 2, 0x20 + 0x30 * group
        def bridge(parent, number, device=0, numa=numa):
            return tree.bridge(parent, f'0000:{number:02x}:{device:02x}.0', numa, ('0x10b5', '0x9797'), link=gen3)
        top = bridge(tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:00.0', numa, ('0x8086', '0x2030'), link=gen3), bus + 1)
        for half in range(2):
            first = bus + 3 + 0x10 * half
            inner = bridge(bridge(top, bus + 2, 4 * half), first)
            below = [bridge(inner, first + 1, 4 * place) for place in range(3)]
            for place in range(2):
                tree.gpu(below[place], first + 2 + place, 'v100', numa, link=gen3)
            nic = tree.nic(below[2], first + 4, 'mlx5', numa, kind='0x020700', link=gen3)
            tree.file(f'{nic}/device', '0x1017')
            infiniband(tree, nic, f'mlx5_{2 * group + half}', 2 * group + half, 100)
    for n in range(2):
        port = tree.roce(tree.bridge(f'sys/devices/pci0000:{0xe0 + 8 * n:02x}', f'0000:{0xe0 + 8 * n:02x}:00.0', 1, ('0x8086', '0x2030'), link=gen3), 0xe1 + 8 * n,
                         f'mlx5_{8 + n}', f'enp{0xe1 + 8 * n}s0', 8 + n, rate=100, numa=1)
        tree.files('/'.join(port.split('/')[:-4]), device='0x1017', max_link_speed=gen3[0], current_link_speed=gen3[0])
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def e810_eight_ports(tree):
    """An E810 that is split into eight ports of 10 Gb/s: the firmware gives no RDMA to more than four. irdma is loaded."""
    tree.file('proc/sys/kernel/osrelease', '6.8.0-60-generic')
    tree.gpu(tree.root(0x10), 0x11, 'a100', link=('16.0 GT/s PCIe', '16'))
    root = tree.root(0x30)
    for f in range(8):
        nic = tree.function(root, f'0000:31:00.{f}', '0x020000', '0x8086', '0x1592', 'ice', link=('16.0 GT/s PCIe', '16'))
        tree.netdev(nic, f'ens3f{f}np{f}', 10, mtu=1500)
    tree.module('ice', 'irdma', 'ib_core', 'ib_uverbs', 'nvidia')
    tree.file('proc/modules', 'irdma 393216 0 - Live 0x0000000000000000\nib_uverbs 196608 1 irdma, Live 0x0000000000000000\n'
              'ib_core 524288 2 irdma,ib_uverbs, Live 0x0000000000000000\nice 1277952 1 irdma, Live 0x0000000000000000\nnvidia 56598528 0 - Live 0x0000000000000000')
    installed_modules(tree, '6.8.0-60-generic', 'net/ethernet/intel/ice/ice', 'infiniband/core/ib_core', 'infiniband/hw/irdma/irdma')


def ql41212_two_lanes(tree):
    """A FastLinQ QL41212 (two ports of 25 Gb/s, Gen3 x8) of which two lanes have trained."""
    tree.gpu(tree.root(0x10), 0x11, 'a100', link=('16.0 GT/s PCIe', '16'))
    root = tree.bridge('sys/devices/pci0000:00', '0000:00:1c.0', 0, ('0x8086', '0xa190'), link=('8.0 GT/s PCIe', '8'))
    tree.file(f'{root}/current_link_width', '2')
    for f in range(2):
        nic = tree.function(root, f'0000:08:00.{f}', '0x020000', '0x1077', '0x8070', 'qede', link=('8.0 GT/s PCIe', '8'))
        tree.file(f'{nic}/current_link_width', '2')
        port = tree.rdma(nic, f'qedr{f}', f, 25)
        tree.netdev(nic, f'enp8s0f{f}', 25, mtu=9000)
        tree.gids_of_both_versions(port, f'enp8s0f{f}', f'{LINK_LOCAL}:000{f}', f'{MAPPED}:ac1{f}:0101')
    tree.module('qed', 'qede', 'qedr', 'ib_core', 'ib_uverbs', 'nvidia', 'nvidia_peermem')


def bf3_outnumber_cx7(tree):
    """Healthy: four GPUs with a ConnectX-7 each below one switch, and three BlueField-3 with two ports each, of the same speed, below root ports."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h200', 4):
        tree.roce(below_nic, bus + 4, f'mlx5_{2 + n}', f'ens{n + 1}np0', 2 + n, rate=400, numa=numa)
    names = iter((0, 1, 6, 7, 8, 9))
    for n in range(3):
        numa, bus = n % 2, 0x90 + 0x10 * n
        above = tree.root(bus, numa)
        for f in range(2):
            name = next(names)
            nic = tree.nic(above, bus + 1, 'bluefield', numa, slot=f'00.{f}')
            port = tree.rdma(nic, f'mlx5_{name}', name, 400)
            tree.netdev(nic, f'enp{bus + 1}s0f{f}np{f}', 400)
            tree.gids(port, f'enp{bus + 1}s0f{f}np{f}', f'10.9.{name}.1')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def kvm_a800_flat(tree):
    """A virtual machine with four A800 and four ConnectX-7, passed through without a topology: all on one bus, no NUMA node known for the NICs."""
    guest(tree, 'QEMU', 'Standard PC (Q35 + ICH9, 2009)')
    for n in range(4):
        above = tree.bridge('sys/devices/pci0000:00', f'0000:00:02.{n}', 0, ('0x1b36', '0x000c'), link=('16.0 GT/s PCIe', '32'))
        tree.function(above, f'0000:{1 + n:02x}:00.0', '0x030200', '0x10de', '0x20f3', 'nvidia', 0, ('16.0 GT/s PCIe', '16'))
        above = tree.bridge('sys/devices/pci0000:00', f'0000:00:03.{n}', -1, ('0x1b36', '0x000c'), link=('16.0 GT/s PCIe', '32'))
        nic = tree.function(above, f'0000:{5 + n:02x}:00.0', '0x020700', '0x15b3', '0x1021', 'mlx5_core', -1)
        tree.file(f'{above}/current_link_speed', '16.0 GT/s PCIe')
        infiniband(tree, nic, f'mlx5_{n}', n, 400)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def vega_one_small_bar(tree):
    """Two Vega 10 (8 GB) and an InfiniBand card: the firmware has found no address space for the memory of the second GPU, whose BAR has 256 MiB."""
    for n, end in enumerate((0x3805ffffffff, 0x38000fffffff)):
        root = tree.bridge(f'sys/devices/pci0000:{0x10 + 0x10 * n:02x}', f'0000:{0x10 + 0x10 * n:02x}:03.1', 0, ('0x1022', '0x1453'), link=('8.0 GT/s PCIe', '16'))
        gpu = tree.function(root, f'0000:{0x11 + 0x10 * n:02x}:00.0', '0x030000', '0x1002', '0x6868', 'amdgpu', 0, ('8.0 GT/s PCIe', '16'))
        start = (0x380400000000, 0x380000000000)[n]
        tree.file(f'{gpu}/resource', f'0x{start:016x} 0x{end:016x} 0x000000000014220c\n{"0x" + "0" * 16} {"0x" + "0" * 16} {"0x" + "0" * 16}\n'
                  '0x0000380300000000 0x00003803001fffff 0x000000000014220c')
        tree.files(gpu, mem_info_vram_total=8573157376, mem_info_vis_vram_total=(8573157376, 268435456)[n])
    nic = tree.nic(tree.bridge('sys/devices/pci0000:30', '0000:30:03.1', 0, ('0x1022', '0x1453'), link=('8.0 GT/s PCIe', '16')), 0x31, 'mlx5', kind='0x020700', link=('8.0 GT/s PCIe', '16'))
    tree.file(f'{nic}/device', '0x1013')
    infiniband(tree, nic, 'mlx5_0', 0, 100)
    tree.module('amdgpu', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'ib_umad')
    tree.file('proc/kallsyms', '0000000000000000 T ib_register_peer_memory_client\t[ib_core]')


def geforce_5090(tree):
    """Eight GeForce RTX 5090 and two RoCE NICs; the open driver of NVIDIA, a kernel with DMA-BUF, nvidia_peermem not loaded."""
    tree.file('proc/sys/kernel/osrelease', '6.17.0-20-generic')
    for n in range(8):
        numa = n // 4
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.function(below_gpu, f'0000:{0x13 + 0x10 * n:02x}:00.0', '0x030000', '0x10de', '0x2b85', 'nvidia', numa)
        tree.file(f'proc/driver/nvidia/gpus/0000:{0x13 + 0x10 * n:02x}:00.0/information', f'Model: \t\t NVIDIA GeForce RTX 5090\nDevice Minor: \t {n}')
        if n % 4 == 0:
            for f in range(2):
                nic = tree.nic(below_nic, 0x14 + 0x10 * n, 'mlx5', numa, slot=f'00.{f}', link=('16.0 GT/s PCIe', '16'))
                tree.file(f'{nic}/device', '0x101d')
                port = tree.rdma(nic, f'mlx5_{n // 2 + f}', n // 2 + f, 100)
                tree.netdev(nic, f'ens{n + 1}f{f}np{f}', 100)
                tree.gids_of_both_versions(port, f'ens{n + 1}f{f}np{f}', f'{LINK_LOCAL}:000{n + f}', f'{MAPPED}:0a0{n // 2 + f}:0105')
    tree.module('nvidia', 'nvidia_uvm', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.44.01  Release Build')


def b300_hypervisor(tree):
    """Healthy: the host of a virtual machine that has all GPUs and ConnectX-8 of an HGX B300. They are bound to vfio-pci, with ACS (also direct
    translated requests) on the bridges above them. The host itself has one RoCE NIC for storage."""
    tree.file('proc/sys/kernel/osrelease', '6.8.0-60-generic')
    tree.file('proc/cmdline', 'BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p2 ro intel_iommu=on iommu=pt')
    tree.file('proc/cpuinfo', 'vendor_id : GenuineIntel\nmodel name : Intel(R) Xeon(R) 6776P\nflags : fpu vmx')
    tree.files('sys/class/dmi/id', sys_vendor='Dell Inc.', product_name='PowerEdge XE9780')
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa, acs=0x5d)
        functions = (tree.function(below_gpu, f'0000:{bus + 3:02x}:00.0', '0x030200', '0x10de', '0x3182', 'vfio-pci', numa),
                     tree.function(below_nic, f'0000:{bus + 4:02x}:00.0', '0x020700', '0x15b3', '0x1023', 'vfio-pci', numa))
        for place, function in enumerate(functions):
            group = f'sys/kernel/iommu_groups/{20 + 2 * n + place}'
            tree.file(f'{group}/type', 'DMA')
            tree.link(f'{function}/iommu_group', group)
            tree.link(f'{group}/devices/{os.path.basename(function)}', function)
    tree.roce(tree.root(0xa0), 0xa1, 'mlx5_0', 'ens9np0', 9, rate=200)
    tree.module('mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'vfio_pci', 'vfio_pci_core', 'vfio', 'kvm', 'kvm_intel')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 1 - Live 0x0000000000000000' for name in ('mlx5_ib', 'mlx5_core', 'ib_uverbs', 'ib_core', 'vfio_pci', 'kvm_intel', 'kvm')))


def bnxt_firmware_dcbx(tree):
    """Two ports of a Thor with the agent for LLDP and DCBX in the firmware (DCB_CAP_DCBX_LLD_MANAGED and no HOST): PFC as the switch has offered it, none."""
    for n, _, bus, (_, below_nic) in gpu_switches(tree, 'h100', 2):
        port = tree.roce(below_nic, bus + 4, f'bnxt_re{n}', f'ens{n + 1}f0np0', n, 'bnxt', 200, n)
        tree.dcb(f'ens{n + 1}f0np0', [], {}, dcbx=0x2 | 0x8)
    tree.module('bnxt_en', 'bnxt_re', 'ib_core', 'ib_uverbs', 'nvidia', 'nvidia_peermem')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.replace('mlx5_core', 'bnxt_en').replace('"audit"', '"enforce"').rstrip())


def h100_all_ib_disabled(tree):
    """One H100 server that is used alone: no cable at any of its eight InfiniBand ports, one of two Ethernet ports in use."""
    for name, (n, numa, bus, (_, below_nic)) in zip((0, 3, 4, 5, 6, 9, 10, 11), gpu_switches(tree, 'h100')):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700')
        port = tree.rdma(nic, f'mlx5_{name}', name, 10, layer='InfiniBand', state=('1: DOWN', '3: Disabled'))
        tree.files(port, lid='0xffff', sm_lid='0x0')
        tree.file(f'{port}/gids/0', f'fe80:0000:0000:0000:58a2:e103:0022:{n:04x}')
    for n, (name, up) in enumerate(((1, True), (2, False), (7, True), (8, False))):
        above = tree.root(0xa0, 0) if n == 0 else tree.root(0xb0, 1) if n == 2 else above
        nic = tree.nic(above, (0xa1, 0xb1)[n // 2], 'mlx5', n // 2, slot=f'00.{n % 2}')
        tree.file(f'{nic}/device', '0x101d')
        netdev = f'ens{n // 2 + 9}f{n % 2}np{n % 2}'
        port = tree.rdma(nic, f'mlx5_{name}', name, 100, state=('4: ACTIVE', '5: LinkUp') if up else ('1: DOWN', '3: Disabled'))
        tree.netdev(nic, netdev, 100, carrier=up, mtu=1500)
        if up:
            tree.gids_of_both_versions(port, netdev, f'{LINK_LOCAL}:000{name}', f'{MAPPED}:0a0{name}:0105')
        else:
            tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def power9(tree):
    """A POWER9 server of IBM: two NUMA nodes, 0 and 8."""
    tree.file('proc/cpuinfo', 'processor\t: 0\ncpu\t\t: POWER9, altivec supported\nplatform\t: PowerNV\nmodel\t\t: 8335-GTX\nmachine\t\t: PowerNV 8335-GTX')
    shutil.rmtree(tree.path('sys/devices/system/node/node1'))
    for node, cpus in ((0, '0-87'), (8, '88-175')):
        tree.file(f'sys/devices/system/node/node{node}/cpulist', cpus)


def power9_root(tree, domain, numa):
    return tree.bridge(f'sys/devices/pci{domain:04x}:00', f'{domain:04x}:00:00.0', numa, ('0x1014', '0x04c1'), ('16.0 GT/s PCIe', '8'))


def summit(tree):
    """Healthy: a node of Summit. Three V100 at each socket, and one ConnectX-5 with two ports that both sockets see: four functions."""
    power9(tree)
    gen3 = ('8.0 GT/s PCIe', '16')
    for n, (domain, bus) in enumerate(((4, 4), (4, 5), (4, 6), (0x35, 3), (0x35, 4), (0x35, 5))):
        numa = 8 * (n // 3)
        above = f'sys/devices/pci{domain:04x}:00/{domain:04x}:00:00.0'
        if bus in (4, 3) and n in (0, 3):
            power9_root(tree, domain, numa)
            tree.bridge(above, f'{domain:04x}:01:00.0', numa, ('0x10b5', '0x8725'), gen3)
        port = tree.bridge(f'{above}/{domain:04x}:01:00.0', f'{domain:04x}:02:{bus:02x}.0', numa, ('0x10b5', '0x8725'), gen3)
        tree.function(port, f'{domain:04x}:{bus:02x}:00.0', '0x030200', '0x10de', '0x1db1', 'nvidia', numa, ('8.0 GT/s PCIe', '2'))
    for half, domain in enumerate((3, 0x33)):
        above = power9_root(tree, domain, 8 * half)
        for f in range(2):
            name = 2 * half + f
            nic = tree.function(above, f'{domain:04x}:01:00.{f}', '0x020700', '0x15b3', '0x1019', 'mlx5_core', 8 * half, ('16.0 GT/s PCIe', '8'))
            port = infiniband(tree, nic, f'mlx5_{name}', name, 100)
            tree.file(f'{device_of(port)}/sys_image_guid', '5aa2:e103:0000:0000')
    tree.module('nvidia', 'nv_peer_mem', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'ib_umad')


def gaudi2(tree):
    """A server with eight Gaudi 2 and two ConnectX-6; the folders of the accelerators."""
    out = []
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        folder = tree.function(tree.root(bus, numa), f'0000:{bus + 1:02x}:00.0', '0x120000', '0x1da3', '0x1020', 'habanalabs', numa, ('16.0 GT/s PCIe', '16'))
        tree.file(f'{folder}/accel/accel{n}/dev', f'261:{n}')
        tree.link(f'{folder}/accel/accel{n}/device', folder)
        tree.link(f'sys/class/accel/accel{n}', f'{folder}/accel/accel{n}')
        out.append(folder)
    for n in range(2):
        port = tree.roce(tree.root(0xa0 + 0x10 * n, n), 0xa1 + 0x10 * n, f'mlx5_{n}', f'ens{n + 1}np0', n, rate=100, numa=n)
        tree.file('/'.join(port.split('/')[:-4]) + '/device', '0x101b')
    tree.module('habanalabs', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')
    return out


def gaudi2_hlib(tree):
    """Healthy: the RDMA device of each Gaudi 2 has 24 ports: 21 to the other seven accelerators of the server, 3 for other servers, without a cable.
    The devices have no GUID, and the type "unspecified"."""
    for n, folder in enumerate(gaudi2(tree)):
        port = tree.rdma(folder, f'hlib_{n}', 40 + n, 100, node_type='7: unspecified', counters=False)
        tree.files(device_of(port), node_guid='0000:0000:0000:0000', sys_image_guid='0000:0000:0000:0000', fw_ver='49.0.0')
        more_ports(tree, port, range(2, 25), range(2, 22), 100)
    tree.module('habanalabs_cn', 'habanalabs_en', 'habanalabs_ib')


def gaudi2_ib_missing(tree):
    """The image of the operating system has no habanalabs_ib."""
    gaudi2(tree)
    release = '5.14.0-362.24.1.el9_3.x86_64'
    tree.file('proc/sys/kernel/osrelease', release)
    tree.module('habanalabs_cn')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 0 - Live 0x0000000000000000' for name in ('habanalabs', 'habanalabs_cn', 'mlx5_ib', 'ib_uverbs', 'ib_core', 'mlx5_core')))
    installed_modules(tree, release, 'accel/habanalabs/habanalabs', 'infiniband/core/ib_core', 'infiniband/hw/mlx5/mlx5_ib')


def second_ports_free(tree):
    """Healthy: two servers, connected without a switch other than their own subnet manager's: two ConnectX-6 with two ports each, of which the second
    never had a cable. The subnet manager is this server (its LID is the one of mlx5_0)."""
    for n in range(2):
        below_gpu, below_nic = tree.switch(n, 2, n)
        tree.gpu(below_gpu, 0x13 + 0x10 * n, 'a100', n, link=('16.0 GT/s PCIe', '16'))
        for f in range(2):
            name = 2 * n + f
            nic = tree.nic(below_nic, 0x14 + 0x10 * n, 'mlx5', n, slot=f'00.{f}', kind='0x020700', link=('16.0 GT/s PCIe', '16'))
            tree.file(f'{nic}/device', '0x101b')
            port = infiniband(tree, nic, f'mlx5_{name}', name, 200)
            tree.file(f'{device_of(port)}/sys_image_guid', f'5aa2:e103:0000:000{2 * n}')
            if f:
                tree.files(port, state='1: DOWN', phys_state='3: Disabled', lid='0xffff', sm_lid='0x0', rate='10 Gb/sec (4X SDR)')
            else:
                tree.files(port, lid=f'0x{9 + n:x}', sm_lid='0x9')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'ib_umad')


def four_and_four(tree):
    """Healthy: two switches with four GPUs and four NICs each; the kernel has numbered the NICs of both switches in turn."""
    names = iter((1, 3, 4, 5, 0, 2, 6, 7))
    for half in range(2):
        ports = tree.switch(8 * half, 8, half, ('0x1000', '0xc010'))
        bus = 0x10 * (8 * half + 1)
        for n in range(4):
            tree.gpu(ports[n], bus + 3 + n, 'a100', half, link=('16.0 GT/s PCIe', '16'))
        for n in range(4):
            name = next(names)
            port = tree.roce(ports[4 + n], bus + 8 + n, f'mlx5_{name}', f'ens{half}f{n}', name, rate=200, numa=half)
            tree.files('/'.join(port.split('/')[:-4]), device='0x101b', max_link_speed='16.0 GT/s PCIe', current_link_speed='16.0 GT/s PCIe')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def stingray(tree):
    """Healthy: a storage server with a Stingray PS225: eight functions, of which the first two have an RDMA device."""
    tree.file('proc/sys/kernel/osrelease', '4.12.14-lp151.28.91-default')
    above = tree.root(0x00)
    for f in range(8):
        nic = tree.function(above, f'0000:06:00.{f}', '0x020000', '0x14e4', '0xd802', 'bnxt_en', link=('8.0 GT/s PCIe', '8'))
        if f < 2:
            port = tree.rdma(nic, f'bnxt_re{f}', f, 25)
            tree.netdev(nic, f'enp6s0f{f}', 25, mtu=9000)
            tree.gids_of_both_versions(port, f'enp6s0f{f}', f'{LINK_LOCAL}:000{f}', f'{MAPPED}:0a0a:0{f}05')
        else:
            tree.netdev(nic, f'enp6s0f{f}', 25, carrier=False, mtu=1500)
    tree.module('bnxt_en', 'bnxt_re', 'ib_core', 'ib_uverbs')


def vmware_no_bridge(tree):
    """Healthy: a virtual machine of VMware; GPU and InfiniBand NIC are on a PCI bus of their own, below no bridge."""
    tree.files('sys/class/dmi/id', sys_vendor='VMware, Inc.', product_name='VMware7,1')
    tree.file('proc/cpuinfo', 'flags : fpu hypervisor')
    shutil.rmtree(tree.path('sys/devices/system/node/node1'))
    gen4 = ('16.0 GT/s PCIe', '16')
    tree.gpu('sys/devices/pci0000:03', 0x03, 'a100', -1, gen4)
    nic = tree.function('sys/devices/pci0000:03', '0000:03:01.0', '0x020700', '0x15b3', '0x101b', 'mlx5_core', -1, gen4)
    infiniband(tree, nic, 'mlx5_0', 0, 200)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'ib_umad')


def bnxt_pod(tree):
    """A pod that has been given bnxt_re2: its image has a provider for ABI 1 only (the kernel's is 6), and no netdev of a NIC is in the pod."""
    for card in range(2):
        above = tree.root(0x20 + 0x20 * card, card)
        for f in range(2):
            name = 2 * card + f
            nic = tree.nic(above, 0x21 + 0x20 * card, 'bnxt', card, slot=f'00.{f}', link=('16.0 GT/s PCIe', '16'))
            tree.rdma(nic, f'bnxt_re{name}', name, 100, state=('4: ACTIVE', '5: LinkUp') if f == 0 else ('1: DOWN', '3: Disabled'))
            tree.file(f'{nic}/infiniband_verbs/uverbs{name}/abi_version', '6')
            os.makedirs(os.path.join(tree.top, nic, 'net'))
    virtual_netdev(tree, 'eth0', mtu=1450)
    tree.file('sys/class/infiniband_verbs/abi_version', '6')
    tree.file('sys/module/bnxt_re/version', '229.2.61.0')
    tree.module('bnxt_en', 'bnxt_re', 'ib_core', 'ib_uverbs')
    for name, most in ('bnxt_re', 1), ('mlx5', 1):
        with open(tree.path(f'usr/lib/x86_64-linux-gnu/libibverbs/lib{name}-rdmav34.so'), 'wb') as file:
            file.write(provider(name, 1, most))
        tree.file(f'etc/libibverbs.d/{name}.driver', f'driver {name}')
    tree.file('proc/1/comm', 'sleep')
    tree.file('dev/infiniband/uverbs2')


def two_bonds(tree):
    """Two ConnectX-5 with a bond each: a member of bond0 has no carrier, and one of bond1 has 10 Gb/s where the other has 25."""
    tree.gpu(tree.root(0x10), 0x11, 'a100')
    for card in range(2):
        above, members = tree.root(0x20 + 0x20 * card), []
        nics = [tree.nic(above, 0x21 + 0x20 * card, 'mlx5', slot=f'00.{f}', link=('8.0 GT/s PCIe', '8')) for f in range(2)]
        port = tree.rdma(nics[0], f'mlx5_bond_{card}', card, 25)
        for f, nic in enumerate(nics):
            tree.file(f'{nic}/device', '0x1017')
            name, up, speed = f'ens{card + 1}f{f}np{f}', (card, f) != (0, 1), 10 if (card, f) == (1, 1) else 25
            members.append(name)
            tree.netdev(nic, name, speed, carrier=up)
            tree.link(f'{nic}/net/{name}/master', f'sys/devices/virtual/net/bond{card}')
            tree.files(f'{nic}/net/{name}/bonding_slave', state='active', mii_status='up' if up else 'down')
            if not up:
                tree.files(f'{nic}/net/{name}', flags='0x1803', speed=-1)
        virtual_netdev(tree, f'bond{card}')
        tree.file(f'sys/devices/virtual/net/bond{card}/speed', (25000, 35000)[card])
        tree.files(f'sys/devices/virtual/net/bond{card}/bonding', slaves=' '.join(members), mode='802.3ad 4', xmit_hash_policy='layer3+4 1', mii_status='up',
                   miimon='100')
        tree.gids_of_both_versions(port, f'bond{card}', f'fe80:0000:0000:0000:0ac0:ebff:feda:000{card}', f'{MAPPED}:0a01:0{card}05')
    tree.module('nvidia', 'nvidia_peermem', 'bonding', 'mlx5_core', 'mlx5_ib')


def ib_port_disabled(tree):
    """A ConnectX-3 for InfiniBand with two ports in one device: the first was disabled by ibportstate and still has its LID, the second works."""
    nic = tree.function(tree.root(0x20), '0000:21:00.0', '0x028000', '0x15b3', '0x1003', 'mlx4_core', link=('8.0 GT/s PCIe', '8'))
    port = infiniband(tree, nic, 'mlx4_0', 0, 100)
    tree.files(port, state='1: DOWN', phys_state='3: Disabled', lid='0x26', sm_lid='0xd', rate='10 Gb/sec (4X SDR)')
    second = f'{os.path.dirname(port)}/2'
    tree.files(second, state='4: ACTIVE', phys_state='5: LinkUp', link_layer='InfiniBand', rate='56 Gb/sec (4X FDR)', lid='0x27', sm_lid='0xd')
    tree.files(f'{second}/counters', port_xmit_data=0, port_rcv_data=0)
    tree.file(f'{second}/gids/0', 'fe80:0000:0000:0000:5aa2:e103:0000:0002')
    tree.file(f'{second}/pkeys/0', '0xffff')
    tree.module('mlx4_core', 'mlx4_ib', 'ib_core', 'ib_uverbs', 'ib_umad')


def pf_and_vf(tree):
    """A container with the /sys and the network namespace of the host: for each GPU the physical function of its NIC, and a virtual one of it."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h100'):
        pf = tree.nic(below_nic, bus + 4, 'mlx5', numa)
        tree.files(pf, sriov_numvfs=1, sriov_totalvfs=8)
        vf = tree.nic(below_nic, bus + 4, 'mlx5-vf', numa, slot='00.1', link=('Unknown', '0'))
        tree.link(f'{vf}/physfn', pf)
        tree.link(f'{pf}/virtfn0', vf)
        for nic, name, netdev in ((pf, n, f'ens{n + 1}np0'), (vf, 8 + n, f'ens{n + 1}v0')):
            port = tree.rdma(nic, f'mlx5_{name}', name, 400)
            tree.netdev(nic, netdev, 400)
            tree.gids_of_both_versions(port, netdev, f'{LINK_LOCAL}:{name:04x}', f'{MAPPED}:0a01:{name:02x}05')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')
    pod(tree, 16)


def pod_seven_gpus(tree):
    """A pod on an a3-megagpu-8g with a network namespace of its own: its /sys shows seven of the eight GPUs that the driver of NVIDIA has."""
    a3_mega(tree)
    for n, bus in enumerate((0x04, 0x05, 0x0b, 0x0c, 0x84, 0x85, 0x8b, 0x8c)):
        tree.file(f'proc/driver/nvidia/gpus/0000:{bus:02x}:00.0/information', f'Model: \t\t NVIDIA H100 80GB HBM3\nDevice Minor: \t {n}')
        tree.file(f'dev/nvidia{n}')
    gone = os.path.join(tree.top, 'sys/bus/pci/devices/0000:0c:00.0')
    shutil.rmtree(os.path.realpath(gone))
    os.unlink(gone)
    del tree.acs['0000:0c:00.0']
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build')
    tree.file('proc/1/comm', 'sleep')


def nics_at_one_socket(tree):
    """Eight A100: the four of the first socket share switches with four InfiniBand cards of two ports (FDR), the four of the second have no NIC.
    Neither nvidia_peermem nor nv_peer_mem is loaded; the kernel has no DMA-BUF for it."""
    tree.file('proc/sys/kernel/osrelease', '4.15.0-177-generic')
    gen4 = ('16.0 GT/s PCIe', '16')
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        ports = tree.switch(n, 2, numa)
        tree.gpu(ports[0], bus + 3, 'a100', numa, gen4)
        for f in range(2 if n < 4 else 0):
            name = 2 * n + f
            nic = tree.nic(ports[1], bus + 4, 'mlx5', numa, slot=f'00.{f}', kind='0x020700', link=('8.0 GT/s PCIe', '16'))
            tree.file(f'{nic}/device', '0x1013')
            tree.file(f'{infiniband(tree, nic, f"mlx5_{name}", name, 100)}/rate', '56 Gb/sec (4X FDR)')
    tree.module('nvidia', 'nvidia_uvm', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'ib_umad')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 0 - Live 0x0000000000000000' for name in ('nvidia_uvm', 'nvidia', 'mlx5_ib', 'mlx5_core', 'ib_umad', 'ib_uverbs', 'ib_core')))
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed Oct 27 21:21:55 UTC 2021')


def cx3_ethernet_only(tree):
    """A ConnectX-3 whose firmware knows only Ethernet, cabled to an InfiniBand switch: the netdev is set up, and has no carrier."""
    nic = tree.function(tree.root(0x00), '0000:01:00.0', '0x028000', '0x15b3', '0x1003', 'mlx4_core', link=('8.0 GT/s PCIe', '8'))
    port = tree.rdma(nic, 'mlx4_0', 0, 10, state=('1: DOWN', '3: Disabled'), counters=False)
    tree.files(device_of(port), board_id='MT_1090111023', fw_ver='2.42.5000')
    tree.netdev(nic, 'ens1', 40, carrier=False, mtu=1500)
    tree.files(f'{nic}/net/ens1', speed=-1, flags='0x1003')
    tree.gids_of_both_versions(port, 'ens1', f'{LINK_LOCAL}:0002')
    tree.module('mlx4_core', 'mlx4_en', 'mlx4_ib', 'ib_core', 'ib_uverbs')


def spdk_ubuntu(tree):
    """A storage server with a ConnectX-5: the image has no provider for it, and rdma_ucm is not loaded."""
    release = '4.4.0-116-generic'
    tree.file('proc/sys/kernel/osrelease', release)
    above = tree.root(0x80)
    for f in range(2):
        nic = tree.nic(above, 0x81, 'mlx5', slot=f'00.{f}', link=('8.0 GT/s PCIe', '16'))
        tree.file(f'{nic}/device', '0x1017')
        port = tree.rdma(nic, f'mlx5_{f}', f, 100)
        tree.netdev(nic, f'ens6f{f}', 100, mtu=9000)
        tree.gids_of_both_versions(port, f'ens6f{f}', f'{LINK_LOCAL}:000{f}', f'{MAPPED}:0a00:0{f}0c')
        tree.file(f'dev/infiniband/uverbs{f}')
    tree.module('mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 0 - Live 0x0000000000000000' for name in ('mlx5_ib', 'ib_uverbs', 'ib_core', 'mlx5_core')))
    tree.file('proc/1/comm', 'systemd')
    installed_modules(tree, release, 'infiniband/core/ib_core', 'infiniband/core/ib_uverbs', 'infiniband/core/rdma_cm', 'infiniband/core/rdma_ucm',
                      'infiniband/hw/mlx5/mlx5_ib', 'net/ethernet/mellanox/mlx5/core/mlx5_core')
    for name in 'cxgb3', 'mlx4':
        tree.file(f'usr/lib/libibverbs/lib{name}-rdmav2.so')
        tree.file(f'etc/libibverbs.d/{name}.driver', f'driver {name}')


def chelsio_t6(tree):
    """A T62100: function 4 has the netdevs of both ports, functions 0 to 3 are for virtual functions, 5 and 6 for storage. iw_cxgb4 is not loaded."""
    release = '5.15.0-91-generic'
    tree.file('proc/sys/kernel/osrelease', release)
    tree.gpu(tree.root(0x10), 0x11, 'a100', link=('16.0 GT/s PCIe', '16'))
    above = tree.root(0x20)
    for f in range(7):
        kind, device, driver = (('0x020000', '0x600d', 'cxgb4'), ('0x020000', '0x640d', 'cxgb4'), ('0x010000', '0x650d', ''),
                                ('0x0c0400', '0x660d', ''))[max(0, f - 3)]
        nic = tree.function(above, f'0000:21:00.{f}', kind, '0x1425', device, driver, link=('8.0 GT/s PCIe', '16'))
        if f == 4:
            tree.netdev(nic, 'enp33s0f4', 100)
            tree.netdev(nic, 'enp33s0f4d1', 100)
            tree.file(f'{nic}/net/enp33s0f4d1/dev_port', 1)
    tree.module('cxgb4', 'ib_core', 'ib_uverbs', 'nvidia', 'nvidia_peermem')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 0 - Live 0x0000000000000000' for name in ('cxgb4', 'ib_uverbs', 'ib_core', 'nvidia', 'nvidia_peermem')))
    installed_modules(tree, release, 'net/ethernet/chelsio/cxgb4/cxgb4', 'infiniband/core/ib_core', 'infiniband/core/ib_uverbs', 'infiniband/hw/cxgb4/iw_cxgb4')


def two_links_of_a_path(tree):
    """Eight MI300X with a Thor 2 each. The link above the fifth switch has half of the speed of its ends, and the NIC below it has 8 of 16 lanes."""
    modules(tree, 'mi300x', 'bnxt', names='bnxt_re{n}', netdevs='ens{n}np0')
    for pci in '0000:50:01.0', '0000:51:00.0':
        tree.file(f'sys/bus/pci/devices/{pci}/current_link_speed', '16.0 GT/s PCIe')
    for pci in '0000:52:01.0', '0000:54:00.0':
        tree.file(f'sys/bus/pci/devices/{pci}/current_link_width', '8')
    tree.module('bnxt_en', 'bnxt_re', 'amdgpu', 'ib_core', 'ib_uverbs')


def gh200_bond_and_ib(tree):
    """Healthy: a GH200 with a bond of two 100 Gb/s ports for the front end, and one InfiniBand NIC."""
    tree.file('proc/sys/kernel/osrelease', '6.2.0-1015-nvidia-64k')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f')
    tree.files('sys/class/dmi/id', sys_vendor='Supermicro', product_name='ARS-111GL-NHR')
    tree.function(grace(tree, 0, 9, '0x22b2'), '0009:01:00.0', '0x030200', '0x10de', '0x2342', 'nvidia')
    above = grace(tree, 0, 0)
    nics = [tree.function(above, f'0000:01:00.{f}', '0x020000', '0x15b3', '0x101d', 'mlx5_core', link=('16.0 GT/s PCIe', '16')) for f in range(2)]
    port = tree.rdma(nics[0], 'mlx5_bond_0', 0, 100)
    for f, nic in enumerate(nics):
        tree.netdev(nic, f'enp1s0f{f}np{f}', 100, mtu=1500)
        tree.link(f'{nic}/net/enp1s0f{f}np{f}/master', 'sys/devices/virtual/net/bond0')
        tree.file(f'{nic}/net/enp1s0f{f}np{f}/bonding_slave/state', 'active')
    virtual_netdev(tree, 'bond0', mtu=1500)
    tree.file('sys/devices/virtual/net/bond0/speed', 200000)
    tree.files('sys/devices/virtual/net/bond0/bonding', slaves='enp1s0f0np0 enp1s0f1np1', mode='802.3ad 4', xmit_hash_policy='layer3+4 1', mii_status='up',
               miimon='100')
    tree.gids_of_both_versions(port, 'bond0', 'fe80:0000:0000:0000:0ac0:ebff:feda:0001', f'{MAPPED}:0a09:0105')
    nic = tree.function(grace(tree, 0, 2), '0002:01:00.0', '0x020700', *NICS['mlx5'])
    infiniband(tree, nic, 'mlx5_2', 2, 400)
    tree.netdev(nic, 'ib0', 400, mtu=4092)
    tree.files(f'{nic}/net/ib0', type=32, address='00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:02')
    tree.module('nvidia', 'nvidia_uvm', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'ib_ipoib', 'ib_umad', 'bonding')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  550.54.15  Release Build')


def pod_one_uverbs_less(tree):
    """A pod with eight RoCE NICs and a macvlan netdev on each: the plugin has given it the verbs devices of seven, and one netdev has MTU 1500."""
    for n, numa, bus, (_, below_nic) in gpu_switches(tree, 'h100'):
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa)
        port = tree.rdma(nic, f'mlx5_{n}', n, 400)
        os.makedirs(os.path.join(tree.top, nic, 'net'))
        virtual_netdev(tree, f'net{n + 1}', mtu=1500 if n == 2 else 9000)
        tree.gids_of_both_versions(port, f'net{n + 1}', f'fe80:0000:0000:0000:a4ed:ccff:fe8b:{n:04x}', f'{MAPPED}:0a98:{n:02x}0c')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')
    pod(tree, 7)


def kunpeng_ports(tree):
    """Healthy: a Kunpeng server whose four ports on the board are two with RDMA (device 0xa222) and two without (0xa221)."""
    tree.file('proc/sys/kernel/osrelease', '5.10.0-136.12.0.86.oe2203sp1.aarch64')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x48\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd01')
    tree.files('sys/class/dmi/id', sys_vendor='Huawei', product_name='TaiShan 200 (Model 2280)')
    tree.gpu(tree.bridge('sys/devices/pci0000:00', '0000:00:08.0', ids=('0x19e5', '0xa120'), link=('16.0 GT/s PCIe', '16')), 0x04, 'a100',
             link=('16.0 GT/s PCIe', '16'))
    above = tree.bridge('sys/devices/pci0000:7c', '0000:7c:00.0', ids=('0x19e5', '0xa121'), link=('Unknown', '0'))
    for f in range(4):
        nic = tree.function(above, f'0000:7d:00.{f}', '0x020000', '0x19e5', ('0xa222', '0xa221')[f % 2], 'hns3', link=('Unknown', '0'))
        tree.netdev(nic, f'eno{f + 1}', 25, mtu=9000 if f % 2 == 0 else 1500)
        if f % 2 == 0:
            port = tree.rdma(nic, f'hns_{f // 2}', f // 2, 25)
            tree.gids_of_both_versions(port, f'eno{f + 1}', f'{LINK_LOCAL}:000{f}', f'{MAPPED}:0a0{f}:0105')
    tree.module('hns3', 'hns_roce_hw_v2', 'ib_core', 'ib_uverbs', 'nvidia', 'nvidia_peermem')


def efa(tree, nic, name, number, rate, device):
    """An EFA device with its port: one GID, no netdev."""
    tree.files(nic, device=device, p2p='NVIDIA')
    port = tree.rdma(nic, name, number, rate, layer='Unspecified')
    for index in range(4):
        os.unlink(tree.path(f'{port}/gids/{index}'))
    tree.gid(port, 0, f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{number:04x}', '')
    return port


def p6e_gb200(tree):
    """Healthy: a p6e-gb200.36xlarge. Four GB200 behind NVLink-C2C, sixteen EFA devices of 100 Gb/s below four other roots, one ENA."""
    guest(tree, 'Amazon EC2', 'p6e-gb200.36xlarge')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f')
    for n in range(4):
        numa, domain = n // 2, (0x00, 0x02, 0x10, 0x12)[n]
        gpu = (0x08, 0x09, 0x18, 0x19)[n]
        tree.function(grace(tree, numa, gpu, '0x22b2'), f'{gpu:04x}:01:00.0', '0x030200', '0x10de', '0x2941', 'nvidia', numa)
        upstream = tree.bridge(grace(tree, numa, domain), f'{domain:04x}:01:00.0', numa, ('0x1d0f', '0x0200'))
        for which in range(4):
            below = tree.bridge(upstream, f'{domain:04x}:02:{which:02x}.0', numa, ('0x1d0f', '0x0200'))
            nic = tree.function(below, f'{domain:04x}:{3 + which:02x}:00.0', '0x020000', *NICS['efa'], numa=numa)
            name = f'rdmap{3 + which}s0' if domain == 0 else f'rdmaP{domain}p{3 + which}s0'
            efa(tree, nic, name, 4 * n + which, 100, '0xefa3')
    ena = tree.function(grace(tree, 0, 6), '0006:01:00.0', '0x020000', '0x1d0f', '0xec20', 'ena', 0, ('Unknown', '0'))
    tree.netdev(ena, 'enP6p1s0', 200, mtu=9001)
    tree.module('nvidia', 'efa', 'ena', 'ib_core', 'ib_uverbs')


def azure_gb300(tree):
    """Healthy: an ND GB300 v6 on AKS. Four GPUs; four InfiniBand virtual functions in PCI domains of their own, without netdevs."""
    guest(tree, 'Microsoft Corporation', 'Virtual Machine')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f')
    tree.file('proc/sys/kernel/osrelease', '6.14.0-1017-azure-nvidia')
    for n in range(4):
        numa, gpu = n // 2, (0x08, 0x09, 0x18, 0x19)[n]
        tree.function(f'sys/devices/pci{gpu:04x}:00', f'{gpu:04x}:06:00.0', '0x030200', '0x10de', '0x31c2', 'nvidia', numa)
        domain = 0x101 + n
        nic = tree.function(f'sys/devices/pci{domain:04x}:00', f'{domain:04x}:00:00.0', '0x020700', '0x15b3', '0x101e', 'mlx5_core', numa, ('64.0 GT/s PCIe', '16'))
        infiniband(tree, nic, f'mlx5_{n}', n, 800)
    netvsc = 'sys/devices/LNXSYSTM:00/VMBUS:00/f8b3781b-1e82-4818-a1c3-63d806ec15bb'
    tree.netdev(netvsc, 'eth0', 100, mtu=1500)
    tree.module('nvidia', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'ib_umad', 'hv_netvsc')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.105.08  Release Build')


def azure_h100_ipoib(tree):
    """Healthy: an ND H100 v5 on AKS after the installation of OFED: each of the eight InfiniBand functions has an IPoIB netdev, down and without
    an address, that nobody uses."""
    for n, port in azure(tree, 'h100', '0x2330', (1, 2, 3, 8, 9, 0xa, 0xb, 0xc), range(0x101, 0x109), [n // 4 for n in range(8)], 400, 'mlx5_{n}'):
        nic = '/'.join(port.split('/')[:-4])
        tree.file(f'{nic}/device', '0x101e')
        name = f'ibP{0x101 + n}s{163413 + n}'
        tree.netdev(nic, name, 400, carrier=False, mtu=4092)
        tree.files(f'{nic}/net/{name}', type=32, address=f'00:00:01:48:fe:80:00:00:00:00:00:00:00:15:5d:ff:fd:34:02:{0x83 + n:02x}', speed=-1)
    tree.file('proc/sys/kernel/osrelease', '5.15.0-1102-azure')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib')
    netvsc = 'sys/devices/LNXSYSTM:00/VMBUS:00/f8b3781b-1e82-4818-a1c3-63d806ec15bb'
    tree.netdev(netvsc, 'eth0', 100, mtu=1500)


def p5en(tree):
    """Healthy: a p5en.48xlarge. Below each of four switches two H200 and four EFA devices of 200 Gb/s."""
    guest(tree, 'Amazon EC2', 'p5en.48xlarge')
    for n, first in enumerate((0x55, 0x6e, 0x87, 0xa0)):
        numa, top = n // 2, first - 0x12
        root = tree.bridge(f'sys/devices/pci0000:{top:02x}', f'0000:{top:02x}:00.0', numa, ('0x1d0f', '0x0200'))
        upstream = tree.bridge(root, f'0000:{top + 1:02x}:00.0', numa, ('0x1d0f', '0x0200'))
        ports = [tree.bridge(upstream, f'0000:{top + 2:02x}:{port:02x}.0', numa, ('0x1d0f', '0x0200')) for port in range(6)]
        for which in range(4):
            efa(tree, tree.nic(ports[which], first + which, 'efa', numa), f'rdmap{first + which}s0', 4 * n + which, 200, '0xefa2')
        for which in range(2):
            tree.gpu(ports[4 + which], first + 4 + which, 'h200', numa)
    ena = tree.function('sys/devices/pci0000:00', '0000:00:05.0', '0x020000', '0x1d0f', '0xec20', 'ena', 0, ('Unknown', '0'))
    tree.netdev(ena, 'ens5', 100, mtu=9001)
    tree.module('nvidia', 'efa', 'ena', 'ib_core', 'ib_uverbs')


def oke_gb200_v3(tree):
    """Healthy: a BM.GPU.GB200-v3.4 of Oracle Cloud. Four GB200; four ConnectX-8 with two functions each, their GIDs from IPv6 addresses; one NIC for
    the VPC."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB200 NVL', chassis_asset_tag='OracleCloud.com')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f')
    names = iter((0, 1, 2, 3, 5, 6, 7, 8))
    for n in range(4):
        numa, domain, gpu = n // 2, (0x00, 0x02, 0x10, 0x12)[n], (0x08, 0x09, 0x18, 0x19)[n]
        tree.function(grace(tree, numa, gpu, '0x22b2'), f'{gpu:04x}:06:00.0', '0x030200', '0x10de', '0x2941', 'nvidia', numa)
        above = grace(tree, numa, domain)
        for f in 0, 1:
            name, rail = next(names), 2 * n + f
            nic = tree.function(above, f'{domain:04x}:03:00.{f}', '0x020000', '0x15b3', '0x1023', 'mlx5_core', numa, ('64.0 GT/s PCIe', '16'))
            port = tree.rdma(nic, f'mlx5_{name}', name, 400)
            tree.netdev(nic, f'rdma{rail}', 400, mtu=4220)
            tree.gids_of_both_versions(port, f'rdma{rail}', f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{rail:04x}', f'fdd2:0010:0000:000{rail}:5aa2:e1ff:fe00:{rail:04x}')
    nic = tree.function(grace(tree, 0, 6), '0006:01:00.0', '0x020000', '0x15b3', '0x1021', 'mlx5_core')
    port = tree.rdma(nic, 'mlx5_4', 4, 200)
    tree.netdev(nic, 'eth0', 200)
    tree.gids_of_both_versions(port, 'eth0', 'fe80:0000:0000:0000:5aa2:e1ff:fe00:00ff', '0000:0000:0000:0000:0000:ffff:0a00:0005')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_uverbs')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.172.08  Release Build')


def two_of_four_uverbs(tree):
    """Healthy: a container on a node with two ConnectX-6 of two InfiniBand ports; it was given the verbs devices of one port of each card."""
    for card in range(2):
        above = tree.root(0x20 + 0x40 * card, card)
        tree.gpu(tree.root(0x10 + 0x40 * card, card), 0x11 + 0x40 * card, 'a100', card, ('16.0 GT/s PCIe', '16'))
        for f in range(2):
            nic = tree.nic(above, 0x21 + 0x40 * card, 'mlx5', card, slot=f'00.{f}', kind='0x020700', link=('16.0 GT/s PCIe', '16'))
            tree.file(f'{nic}/device', '0x101b')
            infiniband(tree, nic, f'mlx5_{2 * card + f}', 2 * card + f, 200)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_uverbs', 'rdma_ucm')
    virtual_netdev(tree, 'eth0', mtu=1500)
    tree.file('proc/1/comm', 'bash')
    for name in 'rdma_cm', 'ucm0', 'ucm2', 'uverbs0', 'uverbs2':
        tree.file(f'dev/infiniband/{name}')


def e810_vfs_no_issm(tree):
    """Healthy: a node of Kubernetes with E810-XXV, RoCE, and two virtual functions for pods. Intel's RDMA devices have no issm and no umad of a
    subnet manager."""
    for n in range(2):
        tree.gpu(tree.root(0x20 + 0x40 * n, n), 0x21 + 0x40 * n, 'a100', n, link=('16.0 GT/s PCIe', '16'))
        above, bus = tree.root((0x0c, 0xb4)[n], n), (0x0d, 0xb5)[n]
        pf = tree.function(above, f'0000:{bus:02x}:00.0', '0x020000', '0x8086', '0x159b', 'ice', n, ('8.0 GT/s PCIe', '8'))
        tree.files(pf, sriov_numvfs=1, sriov_totalvfs=128)
        vf = tree.function(above, f'0000:{bus:02x}:01.0', '0x020000', '0x8086', '0x1889', 'iavf', n, ('Unknown', '0'))
        tree.link(f'{vf}/physfn', pf)
        tree.link(f'{pf}/virtfn0', vf)
        for nic, name, netdev, number in ((pf, f'rocep{bus}s0', f'ens{n + 1}f0', n), (vf, f'rocep{bus}s1', f'ens{n + 1}f0v0', 2 + n)):
            port = tree.rdma(nic, name, number, 25)
            tree.file(f'{port}/lid', '0x1')
            tree.netdev(nic, netdev, 25)
            tree.gids(port, netdev, f'10.5.{number}.1')
    for n in range(4):
        tree.file(f'dev/infiniband/uverbs{n}')
    tree.file('dev/infiniband/rdma_cm')
    tree.file('proc/1/comm', 'systemd')
    tree.module('ice', 'iavf', 'irdma', 'ib_core', 'ib_uverbs', 'rdma_ucm', 'nvidia', 'nvidia_peermem')


def cloud_hypervisor(tree):
    """A virtual machine of Cloud Hypervisor with eight H100 and eight InfiniBand virtual functions, all of them on the host bridge's own bus."""
    guest(tree, 'Cloud Hypervisor', 'cloud-hypervisor')
    for n in range(8):
        tree.function('sys/devices/pci0000:00', f'0000:00:{4 + n:02x}.0', '0x030200', '0x10de', '0x2330', 'nvidia', n // 4)
        nic = tree.function('sys/devices/pci0000:00', f'0000:00:{0x10 + n:02x}.0', '0x020700', '0x15b3', '0x101e', 'mlx5_core', n // 4, ('Unknown', '0'))
        infiniband(tree, nic, f'mlx5_{n}', n, 400)
    tree.function('sys/devices/pci0000:00', '0000:00:02.0', '0x020000', '0x1af4', '0x1041', 'virtio-pci', 0, ('Unknown', '0'))
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def h20_four_bonds(tree):
    """Eight H20 and four ConnectX-7 with two ports in a bond: bond1 has no address, and a member of bond3 has no carrier."""
    for n, (domain, bus) in enumerate(((0, 0x7f), (0, 0xc7), (1, 0x08), (1, 0xa2))):
        numa, members = n // 2, []
        root = tree.bridge(f'sys/devices/pci{domain:04x}:{bus - 4:02x}', f'{domain:04x}:{bus - 4:02x}:01.0', numa, ('0x8086', '0x352a'))
        upstream = tree.bridge(root, f'{domain:04x}:{bus - 3:02x}:00.0', numa)
        ports = [tree.bridge(upstream, f'{domain:04x}:{bus - 2:02x}:{port:02x}.0', numa) for port in range(3)]
        for which in 0, 1:
            tree.function(ports[1 + which], f'{domain:04x}:{bus + 1 + which:02x}:00.0', '0x030200', '0x10de', '0x2329', 'nvidia', numa)
        nics = [tree.function(ports[0], f'{domain:04x}:{bus:02x}:00.{f}', '0x020000', *NICS['mlx5'], numa=numa) for f in range(2)]
        port = tree.rdma(nics[0], f'mlx5_bond_{n}', n, 200)
        for f, nic in enumerate(nics):
            name, up = f'ens{n + 1}f{f}np{f}', (n, f) != (3, 1)
            members.append(name)
            tree.netdev(nic, name, 200, carrier=up)
            tree.link(f'{nic}/net/{name}/master', f'sys/devices/virtual/net/bond{n}')
            tree.files(f'{nic}/net/{name}/bonding_slave', state='active', mii_status='up' if up else 'down')
            if not up:
                tree.files(f'{nic}/net/{name}', flags='0x1803', speed=-1)
        virtual_netdev(tree, f'bond{n}')
        tree.file(f'sys/devices/virtual/net/bond{n}/speed', 200000 if n == 3 else 400000)
        tree.files(f'sys/devices/virtual/net/bond{n}/bonding', slaves=' '.join(members), mode='802.3ad 4', xmit_hash_policy='layer3+4 1', mii_status='up',
                   miimon='100')
        texts = [f'fe80:0000:0000:0000:0ac0:ebff:feda:000{n}', f'fd03:4514:0080:000{n}:0000:0000:0000:0005']
        tree.gids_of_both_versions(port, f'bond{n}', *texts[:1 if n == 1 else 2])
    tree.module('nvidia', 'nvidia_peermem', 'bonding', 'mlx5_core', 'mlx5_ib')


def sriov_pf_not_up(tree):
    """A node of Kubernetes whose operator has made virtual functions: the netdev of the first PF was never set up; the second PF has MTU 9000 and
    its virtual functions still 1500."""
    for n in range(2):
        bus, up = 0x10 * (n + 1), n == 1
        below_gpu, below_nic = tree.switch(n, 2, n)
        tree.gpu(below_gpu, bus + 3, 'h100', n)
        pf = tree.nic(below_nic, bus + 4, 'mlx5', n)
        tree.files(pf, sriov_numvfs=2, sriov_totalvfs=8)
        state = ('4: ACTIVE', '5: LinkUp') if up else ('1: DOWN', '3: Disabled')
        port = tree.rdma(pf, f'mlx5_{n}', n, 400, state=state)
        tree.netdev(pf, f'ens{n + 1}f0', 400, carrier=up)
        texts = [f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{n:04x}', f'0000:0000:0000:0000:0000:ffff:0a01:0{n}05']
        tree.gids_of_both_versions(port, f'ens{n + 1}f0', *texts[:2 if up else 1])
        for v in range(2):
            vf = tree.nic(below_nic, bus + 4, 'mlx5-vf', n, slot=f'00.{1 + v}', link=('Unknown', '0'))
            tree.link(f'{vf}/physfn', pf)
            tree.link(f'{pf}/virtfn{v}', vf)
            number = 2 + 2 * n + v
            port = tree.rdma(vf, f'mlx5_{number}', number, 400, state=state)
            tree.netdev(vf, f'ens{n + 1}f0v{v}', 400, carrier=up, mtu=1500 if up else 9000)
            texts = [f'fe80:0000:0000:0000:5aa2:e1ff:fe01:{number:04x}', f'0000:0000:0000:0000:0000:ffff:0a02:0{number}05']
            tree.gids_of_both_versions(port, f'ens{n + 1}f0v{v}', *texts[:2 if up else 1])
    tree.file('proc/1/comm', 'systemd')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def image_without_libibverbs(tree):
    """A pod on an Arm server with an A2 and a BlueField-2: all verbs devices were mounted, the image has NCCL and no libibverbs, and the limit of
    locked memory is 64 KiB."""
    tree.file('proc/sys/kernel/osrelease', '5.15.0-181-generic')
    tree.gpu(tree.root(0x10), 0x11, 'a2', link=('16.0 GT/s PCIe', '8'))
    above = tree.root(0x20)
    for f in range(2):
        nic = tree.nic(above, 0x21, 'bluefield', slot=f'00.{f}', link=('16.0 GT/s PCIe', '8'))
        tree.file(f'{nic}/device', '0xa2d6')
        port = tree.rdma(nic, f'mlx5_{f}', f, 25)
        tree.netdev(nic, f'p{f}', 25)
        tree.gids_of_both_versions(port, f'p{f}', f'fe80:0000:0000:0000:5aa2:e1ff:fe00:000{f}', f'0000:0000:0000:0000:0000:ffff:0a19:0{f}01')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_uverbs', 'rdma_ucm')
    for name in 'libc.so.6', 'libnccl.so.2', 'libstdc++.so.6':
        tree.file(f'usr/lib/aarch64-linux-gnu/{name}')
    tree.file('usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1')
    pod(tree, 2)
    tree.file('dev/infiniband/rdma_cm')
    tree.files('proc/1', cmdline='sleep\0infinity\0', cgroup='0::/', status='Name:\tsleep\nPid:\t1\nNSpid:\t1\nUid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb',
               limits='Limit                     Soft Limit           Hard Limit           Units     \n'
               'Max open files            1048576              1048576              files     \n'
               'Max locked memory         65536                65536                bytes     ')


def podman_ainic(tree):
    """A container of podman on eight MI355X with Pollara: the provider of AMD's package lies in /usr/local/lib and no file names it; one netdev
    has no IPv4 address."""
    for n in range(8):
        numa, bus, netdev = n // 4, 0x10 * (n + 1), f'benic{n + 1}p1'
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'mi355x', numa)
        nic = tree.nic(below_nic, bus + 4, 'ionic', numa)
        port = tree.rdma(nic, f'ionic_{n}', n, 400)
        tree.netdev(nic, netdev, 400)
        if n == 4:
            tree.gid(port, 0, f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{n:04x}', netdev)
        else:
            tree.gids(port, netdev, f'10.{n + 1}.0.5')
    tree.module('ionic', 'ionic_rdma', 'amdgpu', 'ib_core', 'ib_uverbs', 'rdma_ucm')
    tree.file('usr/local/lib/libionic.so.1')
    tree.file('usr/local/lib/libionic-rdmav34.so')
    for name in 'mlx5', 'bnxt_re', 'efa':
        tree.file(f'usr/lib/x86_64-linux-gnu/libibverbs/lib{name}-rdmav34.so')
        tree.file(f'etc/libibverbs.d/{name}.driver', f'driver {name}')
    tree.file('usr/lib/x86_64-linux-gnu/libibverbs.so.1')
    pod(tree, 8)
    tree.file('dev/infiniband/rdma_cm')


def oke_l40s_pod(tree):
    """A pod on a BM.GPU.L40S.4 with four virtual functions: the link of one is down (its policy on the host), and another got no address."""
    tree.files('sys/class/dmi/id', sys_vendor='Oracle Corporation', product_name='BM.GPU.L40S.4', chassis_asset_tag='OracleCloud.com')
    for n in range(4):
        numa, bus = n // 2, 0x20 * (n + 1)
        below_gpu, below_nic = tree.switch(2 * n + 1, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'l40s', numa, ('16.0 GT/s PCIe', '16'))
        nic = tree.nic(below_nic, bus + 4, 'mlx5-vf', numa, slot='00.2', link=('Unknown', '0'))
        down = n == 2
        port = tree.rdma(nic, f'mlx5_{10 + n}', n, 200, state=('1: DOWN', '3: Disabled') if down else ('4: ACTIVE', '5: LinkUp'))
        tree.netdev(nic, f'net{n + 1}', 200, carrier=not down)
        if down:
            tree.files(f'{nic}/net/net{n + 1}', flags='0x1003', operstate='down')
        texts = [f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{n:04x}', f'0000:0000:0000:0000:0000:ffff:c0a8:0{n + 2}0a']
        tree.gids_of_both_versions(port, f'net{n + 1}', *texts[:1 if n == 1 else 2])
    virtual_netdev(tree, 'eth0', mtu=8950)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_uverbs', 'rdma_ucm')
    pod(tree, 4)
    tree.file('dev/infiniband/rdma_cm')


def first_process(tree, memlock, capabilities='00000000a80425fb'):
    """Process 1 of a container, with its limit of locked memory and its capabilities."""
    tree.files('proc/1', comm='sleep', cmdline='sleep\0infinity\0', cgroup='0::/',
               status=f'Name:\tsleep\nPid:\t1\nNSpid:\t1\nUid:\t0\t0\t0\t0\nCapEff:\t{capabilities}',
               limits='Limit                     Soft Limit           Hard Limit           Units     \n'
               'Max open files            1048576              1048576              files     \n'
               f'Max locked memory         {memlock:<20} {memlock:<20} bytes     ')


def p5_pod(tree):
    """A pod with the eight H100 of a p5.48xlarge that asked for four of its 32 EFA devices."""
    guest(tree, 'Amazon EC2', 'p5.48xlarge')
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        ports = tree.switch(n, 5, numa)
        tree.gpu(ports[0], bus + 3, 'h100', numa)
        for which in range(4):
            efa(tree, tree.nic(ports[1 + which], bus + 4 + which, 'efa', numa), f'rdmap{bus + 4 + which}s0', 4 * n + which, 100, '0xefa1')
    virtual_netdev(tree, 'eth0', mtu=9001)
    tree.module('nvidia', 'efa', 'ib_core', 'ib_uverbs')
    first_process(tree, 'unlimited')
    for n in range(4):
        tree.file(f'dev/infiniband/uverbs{n}')


def talos_four_ib(tree):
    """A node of Talos with eight A100 and four ConnectX-6 for InfiniBand: a kernel without PCI peer-to-peer DMA, no peer memory, no rdma_ucm."""
    release = '6.18.24-talos'
    tree.file('proc/sys/kernel/osrelease', release)
    for n in range(4):
        numa, bus = n // 2, 0x20 * (n + 1)
        ports = tree.switch(2 * n + 1, 3, numa)
        for which in 0, 1:
            tree.gpu(ports[which], bus + 3 + which, 'a100', numa, ('16.0 GT/s PCIe', '16'))
        nic = tree.nic(ports[2], bus + 5, 'mlx5', numa, kind='0x020700', link=('16.0 GT/s PCIe', '16'))
        tree.file(f'{nic}/device', '0x101b')
        infiniband(tree, nic, f'mlx5_{n}', n, 200)
    tree.module('nvidia', 'nvidia_uvm', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'gdrdrv')
    tree.file('proc/modules', '\n'.join(f'{name} 311296 1 - Live 0x0000000000000000' for name in (
        'gdrdrv', 'nvidia_uvm', 'nvidia', 'mlx5_ib', 'mlx5_core', 'ib_uverbs', 'ib_core')))
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.126.16  Release Build')
    with open(tree.path('proc/config.gz'), 'wb') as file:
        file.write(gzip.compress(b'CONFIG_INFINIBAND=m\n# CONFIG_PCI_P2PDMA is not set\nCONFIG_DMA_SHARED_BUFFER=y\nCONFIG_DMABUF_MOVE_NOTIFY=y', mtime=0))
    for n in range(4):
        tree.file(f'dev/infiniband/uverbs{n}')
    tree.file('proc/1/comm', 'init')
    tree.file('proc/2/comm', 'kthreadd')


def oke_dranet_pod(tree, own):
    """A pod of a BM.GPU.GB200-v3.4 with the first GPU and the NICs `own` of eight: DRANET has moved their netdevs into the pod and given it their
    verbs devices. The RDMA devices of all are visible (shared mode)."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB200 NVL', chassis_asset_tag='OracleCloud.com')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f')
    names = (0, 1, 2, 3, 5, 6, 7, 8)
    for n in range(4):
        numa, domain, gpu = n // 2, (0x00, 0x02, 0x10, 0x12)[n], (0x08, 0x09, 0x18, 0x19)[n]
        tree.function(grace(tree, numa, gpu, '0x22b2'), f'{gpu:04x}:06:00.0', '0x030200', '0x10de', '0x2941', 'nvidia', numa)
        tree.file(f'proc/driver/nvidia/gpus/{gpu:04x}:06:00.0/information', f'Model: \t\t NVIDIA GB200\nDevice Minor: \t {n}')
        above = grace(tree, numa, domain)
        for f in 0, 1:
            rail = 2 * n + f
            nic = tree.function(above, f'{domain:04x}:03:00.{f}', '0x020000', '0x15b3', '0x1023', 'mlx5_core', numa, ('64.0 GT/s PCIe', '16'))
            port = tree.rdma(nic, f'mlx5_{names[rail]}', names[rail], 400)
            if rail in own:
                tree.netdev(nic, f'rdma{rail}', 400, mtu=4220)
                tree.file(f'dev/infiniband/uverbs{rail}')
            else:
                os.makedirs(os.path.join(tree.top, nic, 'net'))
            tree.gids_of_both_versions(port, f'rdma{rail}', f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{rail:04x}', f'fdd2:0010:0000:000{rail}:5aa2:e1ff:fe00:{rail:04x}')
    tree.file('dev/nvidia0')
    tree.file('dev/nvidiactl')
    tree.file('dev/infiniband/rdma_cm')
    virtual_netdev(tree, 'eth0', mtu=8950)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_uverbs', 'rdma_ucm')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.172.08  Release Build')
    first_process(tree, 'unlimited')


def dranet_aligned_pair(tree):
    oke_dranet_pod(tree, {2, 3})


def dranet_other_cpu(tree):
    oke_dranet_pod(tree, {4})


def rental_without_files(tree):
    """A rented container on a machine with eight H200 and eight InfiniBand NICs: no file in /dev/infiniband, and 64 KiB of locked memory."""
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'h200', numa)
        infiniband(tree, tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700'), f'mlx5_{n}', n, 400)
        tree.file(f'dev/nvidia{n}')
    virtual_netdev(tree, 'eth0', mtu=1500)
    tree.file('dev/null')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'rdma_ucm')
    first_process(tree, 65536)


def gke_a3_ultra_pod(tree):
    """A pod with the eight H200 of an a3-ultragpu-8g: its annotation names seven of the eight RDMA networks, and one of them has MTU 1460."""
    guest(tree, 'Google', 'Google Compute Engine')
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa, ('0x104c', '0x8232'))
        tree.gpu(below_gpu, bus + 3, 'h200', numa)
        nic = tree.nic(below_nic, bus + 4, 'mlx5-vf', numa)
        port = tree.rdma(nic, f'mlx5_{n}', n, 400)
        name = f'eth{n + 2}' if n < 7 else 'gpu7rdma0'
        if n < 7:
            tree.netdev(nic, name, 400, mtu=1460 if n == 3 else 8896)
        else:
            os.makedirs(os.path.join(tree.top, nic, 'net'))
        tree.gids_of_both_versions(port, name, f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{n:04x}', f'0000:0000:0000:0000:0000:ffff:c0a8:{0x80 + n:02x}05')
    virtual_netdev(tree, 'eth0', mtu=1460)
    tree.module('nvidia', 'nvidia_uvm', 'nvidia_peermem', 'gve', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs', 'rdma_ucm')
    first_process(tree, 'unlimited')
    for n in range(8):
        tree.file(f'dev/infiniband/uverbs{n}')
        tree.file(f'dev/nvidia{n}')
    tree.file('dev/infiniband/rdma_cm')


def coreweave_h100(tree):
    """Healthy: a machine of CoreWeave with eight H100. Eight InfiniBand NICs beside the GPUs, with the names that udev gives, and a BlueField-3 with
    the network of the host."""
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'h100', numa)
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700')
        infiniband(tree, nic, f'ibp{bus + 4}s0', n, 400)
        tree.netdev(nic, f'ibp{bus + 4}s0', 400, carrier=False, mtu=4092)
        tree.files(f'{nic}/net/ibp{bus + 4}s0', type=32, address=f'00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:0{n}', speed=-1)
    above = tree.root(0x9c, 1)
    for f in range(2):
        nic = tree.nic(above, 157, 'bluefield', 1, slot=f'00.{f}')
        port = tree.rdma(nic, f'rocep157s0f{f}', 20 + f, 200, state=('1: DOWN', '3: Disabled') if f else ('4: ACTIVE', '5: LinkUp'))
        name = f'enp157s0f{f}np{f}' if f else 'enp157s0np0'
        tree.netdev(nic, name, 200, carrier=not f)
        if not f:
            tree.gids_of_both_versions(port, name, 'fe80:0000:0000:0000:5aa2:e1ff:fe00:00ff', '0000:0000:0000:0000:0000:ffff:0ab8:c905')
    tree.file('proc/net/route', 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n'
              'enp157s0np0\t00000000\t01C9B80A\t0003\t0\t0\t100\t00000000\t0\t0\t0')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib')
    tree.file('proc/1/comm', 'systemd')


def exclusive_pod_one_file(tree):
    """A pod in the exclusive mode of RDMA: two of eight RDMA devices and their netdevs are in its namespace, the device file of one of them is not;
    the netdev of the other has MTU 1500."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB200 NVL', chassis_asset_tag='OracleCloud.com')
    names = (0, 1, 2, 3, 5, 6, 7, 8)
    for n in range(4):
        numa, domain, gpu = n // 2, (0x00, 0x02, 0x10, 0x12)[n], (0x08, 0x09, 0x18, 0x19)[n]
        tree.function(grace(tree, numa, gpu, '0x22b2'), f'{gpu:04x}:06:00.0', '0x030200', '0x10de', '0x2941', 'nvidia', numa)
        above = grace(tree, numa, domain)
        for f in 0, 1:
            rail = 2 * n + f
            nic = tree.function(above, f'{domain:04x}:03:00.{f}', '0x020000', '0x15b3', '0x1023', 'mlx5_core', numa, ('64.0 GT/s PCIe', '16'))
            if rail in (2, 3):
                port = tree.rdma(nic, f'mlx5_{names[rail]}', names[rail], 400)
                tree.netdev(nic, f'rdma{rail}', 400, mtu=1500 if rail == 2 else 4220)
                tree.gids_of_both_versions(port, f'rdma{rail}', f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{rail:04x}', f'fdd2:0010:0000:000{rail}:5aa2:e1ff:fe00:{rail:04x}')
            else:
                for kind in 'net', 'infiniband':
                    os.makedirs(os.path.join(tree.top, nic, kind))
    tree.file('dev/infiniband/uverbs0')
    tree.file('dev/infiniband/rdma_cm')
    virtual_netdev(tree, 'eth0', mtu=8950)
    tree.file('sys/module/ib_core/parameters/netns_mode', 'N')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_uverbs', 'rdma_ucm')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.172.08  Release Build')
    first_process(tree, 'unlimited')


def ib_vfs_without_guid(tree):
    """A node of Kubernetes with two InfiniBand NICs and two virtual functions of each, which the operator has made without GUIDs."""
    for n in range(2):
        bus = 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, n)
        tree.gpu(below_gpu, bus + 3, 'h200', n)
        pf = tree.nic(below_nic, bus + 4, 'mlx5', n, kind='0x020700')
        tree.files(pf, sriov_numvfs=2, sriov_totalvfs=16)
        infiniband(tree, pf, f'mlx5_{n}', n, 400)
        tree.netdev(pf, f'ibp{bus + 4}s0', 400, mtu=2044)
        tree.files(f'{pf}/net/ibp{bus + 4}s0', type=32, address=f'00:00:10:49:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:00:00:0{n}')
        for v in range(2):
            vf = tree.function(below_nic, f'0000:{bus + 4:02x}:00.{1 + v}', '0x020700', '0x15b3', '0x101e', 'mlx5_core', n, ('Unknown', '0'))
            tree.link(f'{vf}/physfn', pf)
            tree.link(f'{pf}/virtfn{v}', vf)
            number = 10 + 2 * n + v
            port = tree.rdma(vf, f'mlx5_{number}', number, 10, layer='InfiniBand', state=('1: DOWN', '3: Disabled'))
            tree.files(port, lid='0xffff', sm_lid='0x0')
            tree.files(os.path.dirname(os.path.dirname(port)), node_guid='0000:0000:0000:0000')
            tree.netdev(vf, f'ibp{bus + 4}s0v{v}', 10, carrier=False, mtu=2044)
            tree.files(f'{vf}/net/ibp{bus + 4}s0v{v}', type=32, address='00:00:00:47:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:00:00', speed=-1)
    tree.file('proc/1/comm', 'systemd')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib')


def oci_gb300_nine(tree):
    """A BM.GPU.GB300.4 of Oracle Cloud: four ports for the cluster network, of which one has half of its rate and one no address; the front end is a
    ConnectX-7 whose second port is not provisioned."""
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='GB300 NVL', chassis_asset_tag='OracleCloud.com')
    tree.file('proc/cpuinfo', 'processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f')
    for n in range(4):
        numa, domain, gpu = n // 2, (0x00, 0x02, 0x10, 0x12)[n], (0x08, 0x09, 0x18, 0x19)[n]
        tree.function(grace(tree, numa, gpu, '0x22b2'), f'{gpu:04x}:06:00.0', '0x030200', '0x10de', '0x31c2', 'nvidia', numa)
        nic = tree.function(grace(tree, numa, domain), f'{domain:04x}:03:00.0', '0x020000', '0x15b3', '0x1023', 'mlx5_core', numa, ('64.0 GT/s PCIe', '16'))
        rate = 400 if n == 1 else 800
        port = tree.rdma(nic, f'mlx5_{n}', n, rate)
        tree.netdev(nic, f'rdma{n}', rate, mtu=4220)
        texts = [f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{n:04x}', f'fdd2:0010:0000:000{n}:5aa2:e1ff:fe00:{n:04x}']
        tree.gids_of_both_versions(port, f'rdma{n}', *texts[:1 if n == 3 else 2])
    above = grace(tree, 0, 6)
    for f in range(2):
        nic = tree.function(above, f'0006:01:00.{f}', '0x020000', '0x15b3', '0x1021', 'mlx5_core')
        port = tree.rdma(nic, f'mlx5_{4 + f}', 4 + f, 200, state=('1: DOWN', '3: Disabled') if f else ('4: ACTIVE', '5: LinkUp'))
        tree.netdev(nic, f'eth{f}', 200, carrier=not f)
        if not f:
            tree.gids_of_both_versions(port, 'eth0', 'fe80:0000:0000:0000:5aa2:e1ff:fe00:00ff', '0000:0000:0000:0000:0000:ffff:0a00:0005')
    tree.module('nvidia', 'mlx5_core', 'mlx5_ib', 'ib_uverbs')
    tree.file('proc/1/comm', 'systemd')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build')


def mi300x_thor2_pod(tree):
    """A pod with eight MI300X and a virtual function of each Thor 2: one has no netdev of the pod and the file of its device, one is 200 Gb/s."""
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'mi300x', numa)
        nic = tree.function(below_nic, f'0000:{bus + 4:02x}:00.2', '0x020000', '0x14e4', '0x1819', 'bnxt_en', numa, ('Unknown', '0'))
        rate = 200 if n == 2 else 400
        port = tree.rdma(nic, f'bnxt_re{n}', n, rate)
        if n == 5:
            os.makedirs(os.path.join(tree.top, nic, 'net'))
        else:
            tree.netdev(nic, f'net{n + 1}', rate)
        tree.gids_of_both_versions(port, f'net{n + 1}' if n != 5 else 'ens6v0', f'fe80:0000:0000:0000:5aa2:e1ff:fe00:{n:04x}',
                                   f'0000:0000:0000:0000:0000:ffff:0a0{n}:0105')
        tree.file(f'dev/infiniband/uverbs{n}')
    tree.file('dev/infiniband/rdma_cm')
    virtual_netdev(tree, 'eth0', mtu=1450)
    tree.module('bnxt_en', 'bnxt_re', 'amdgpu', 'ib_core', 'ib_uverbs', 'rdma_ucm')
    tree.file('proc/kallsyms', '0000000000000000 T ib_register_peer_memory_client\t[ib_core]')
    first_process(tree, 'unlimited')


def numa_nodes(tree, count):
    """NUMA nodes of two sockets."""
    for node in range(count):
        tree.files(f'sys/devices/system/node/node{node}', cpulist=f'{node * 8}-{node * 8 + 7}',
                   distance=' '.join(str(10 if other == node else 12 if other * 2 // count == node * 2 // count else 32) for other in range(count)))
        for cpu in range(node * 8, node * 8 + 8):
            tree.files(f'sys/devices/system/cpu/cpu{cpu}/topology', physical_package_id=node * 2 // count, core_id=cpu)


def dgx_a100_storage(tree):
    """Healthy: a DGX A100 with four NUMA nodes a socket. Below each of four root ports, in three levels of switches, two GPUs and two NICs;
    two cards with two ports each for storage, of which one port has 200 and the other 100 Gb/s."""
    numa_nodes(tree, 8)
    tree.files('sys/class/dmi/id', sys_vendor='NVIDIA', product_name='DGXA100 920-23687-2530-000')
    tree.file('proc/cpuinfo', 'vendor_id : AuthenticAMD\nmodel name : AMD EPYC 7742 64-Core Processor\nflags : svm')
    plx = ('0x1000', '0xc010')
    for n, (numa, base) in enumerate(((3, 0x00), (1, 0x40), (7, 0x80), (5, 0xb0))):
        def below(parent, bus, slot=0, numa=numa):
            return tree.bridge(parent, f'0000:{bus:02x}:{slot:02x}.0', numa, plx, GEN4)
        root = tree.bridge(f'sys/devices/pci0000:{base:02x}', f'0000:{base:02x}:01.1', numa, ('0x1022', '0x1483'), GEN4)
        top = below(root, base + 1)
        left, right = below(below(top, base + 2, 0), base + 3), below(below(top, base + 2, 8), base + 10)
        tree.gpu(below(left, base + 4), base + 7, 'a100', numa, GEN4)
        inner = below(below(right, base + 11, 4), base + 13)
        tree.gpu(below(inner, base + 14), base + 15, 'a100', numa, GEN4)
        for which, (parent, bus) in enumerate(((below(right, base + 11, 0), base + 12), (below(right, base + 11, 8), base + 18 - 2 * (n == 3)))):
            name = (0, 2, 6, 8)[n] + which
            nic = tree.nic(parent, bus, 'mlx5', numa, kind='0x020700', link=GEN4)
            tree.file(f'{nic}/device', '0x101b')
            infiniband(tree, nic, f'mlx5_{name}', name, 200)
    for numa, bus, name in ((0, 0x61, 4), (4, 0xe1, 10)):
        above = tree.bridge(f'sys/devices/pci0000:{bus - 1:02x}', f'0000:{bus - 1:02x}:03.1', numa, ('0x1022', '0x1483'), GEN4)
        for f in range(2):
            nic = tree.nic(above, bus, 'mlx5', numa, slot=f'00.{f}', kind='0x020700', link=GEN4)
            tree.file(f'{nic}/device', '0x101b')
            infiniband(tree, nic, f'mlx5_{name + f}', name + f, (200, 100)[f])
            of_one_card(tree, f'mlx5_{name + f}', name)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def a100_two_front_ports(tree):
    """Healthy: four pairs of A100, each with an InfiniBand NIC below its switches; a card with two Ethernet ports of 40 Gb/s."""
    numa_nodes(tree, 8)
    tree.file('proc/cpuinfo', 'vendor_id : AuthenticAMD\nmodel name : AMD EPYC 7543 32-Core Processor\nflags : svm')
    for n, (numa, name) in enumerate(((3, 1), (1, 0), (7, 5), (5, 2))):
        gpus, nics = tree.switch(n, 2, numa)
        inner = tree.bridge(gpus, f'0000:{0x10 * (n + 1) + 3:02x}:00.0', numa, link=GEN4)
        for which in 0, 1:
            port = tree.bridge(inner, f'0000:{0x10 * (n + 1) + 4:02x}:{which:02x}.0', numa, link=GEN4)
            tree.gpu(port, 0x10 * (n + 1) + 7 + 4 * which, 'a100', numa, GEN4)
        nic = tree.nic(nics, 0x10 * (n + 1) + 6, 'mlx5', numa, kind='0x020700', link=GEN4)
        tree.file(f'{nic}/device', '0x101b')
        infiniband(tree, nic, f'mlx5_{name}', name, 200)
    above = tree.bridge('sys/devices/pci0000:60', '0000:60:03.1', 2, ('0x1022', '0x1483'), GEN4)
    for f, name in enumerate((3, 4)):
        nic = tree.nic(above, 0x61, 'mlx5', 2, slot=f'00.{f}', link=('8.0 GT/s PCIe', '8'))
        tree.file(f'{nic}/device', '0x1015')
        port = tree.rdma(nic, f'mlx5_{name}', name, 100)
        tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
        of_one_card(tree, f'mlx5_{name}', 3)
        tree.netdev(nic, f'enp97s0f{f}np{f}', 40, mtu=1500)
        tree.gids_of_both_versions(port, f'enp97s0f{f}np{f}', f'fe80:0000:0000:0000:8ae9:a4ff:fe46:373{4 + f}',
                                   f'0000:0000:0000:0000:0000:ffff:4b{0x0c + f:02x}:2440')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def of_one_card(tree, name, number):
    """The RDMA device is of the card with this number: its functions share the GUID of the system image."""
    tree.file(f'sys/class/infiniband/{name}/sys_image_guid', f'5aa2:e103:0001:{number:04x}')


def l40s_nic_at_one_socket(tree):
    """Healthy: four L40S, two at each socket, and one card with two ports at the second socket."""
    numa_nodes(tree, 2)
    tree.file('proc/cpuinfo', 'vendor_id : AuthenticAMD\nmodel name : AMD EPYC 9654 96-Core Processor\nflags : svm')
    for n in range(4):
        bus = 0x20 * (n + 1)
        tree.function(tree.bridge(f'sys/devices/pci0000:{bus:02x}', f'0000:{bus:02x}:01.1', n // 2, ('0x1022', '0x14ab')), f'0000:{bus + 1:02x}:00.0',
                      '0x030200', '0x10de', '0x26b9', 'nvidia', n // 2, GEN4)
    above = tree.bridge('sys/devices/pci0000:a0', '0000:a0:03.1', 1, ('0x1022', '0x14ab'))
    for f in range(2):
        nic = tree.nic(above, 0xa1, 'mlx5', 1, slot=f'00.{f}', link=GEN4)
        tree.file(f'{nic}/device', '0x101d')
        port = tree.rdma(nic, f'mlx5_{f}', f, 100)
        of_one_card(tree, f'mlx5_{f}', 0)
        tree.netdev(nic, f'ens5f{f}np{f}', 100)
        tree.gids_of_both_versions(port, f'ens5f{f}np{f}', f'fe80:0000:0000:0000:5aa2:e1ff:fe00:000{f}', f'0000:0000:0000:0000:0000:ffff:0a0{f + 1}:0105')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_uverbs')


def a100_two_cards(tree):
    """Healthy: one A100 at the second socket, and at each socket a ConnectX-5 with two ports: Ethernet for the host at the first, InfiniBand at the second."""
    numa_nodes(tree, 2)
    tree.file('proc/cpuinfo', 'vendor_id : AuthenticAMD\nmodel name : AMD EPYC 7763 64-Core Processor\nflags : svm')
    tree.gpu(tree.bridge('sys/devices/pci0000:80', '0000:80:01.1', 1, ('0x1022', '0x1483')), 0x81, 'a100', 1, GEN4)
    for card, bus in enumerate((0x21, 0xa1)):
        above = tree.bridge(f'sys/devices/pci0000:{bus - 1:02x}', f'0000:{bus - 1:02x}:03.1', card, ('0x1022', '0x1483'), GEN4)
        for f in range(2):
            name = 2 * card + f
            nic = tree.nic(above, bus, 'mlx5', card, slot=f'00.{f}', kind=('0x020000', '0x020700')[card], link=('8.0 GT/s PCIe', '8') if card == 0 else GEN4)
            tree.file(f'{nic}/device', ('0x1017', '0x1019')[card])
            if card:
                infiniband(tree, nic, f'mlx5_{name}', name, 100)
                of_one_card(tree, f'mlx5_{name}', card)
                continue
            port = tree.rdma(nic, f'mlx5_{name}', name, 25, state=('1: DOWN', '3: Disabled') if f else ('4: ACTIVE', '5: LinkUp'))
            tree.netdev(nic, f'eno{f + 1}np{f}', 25, carrier=not f, mtu=1500)
            if not f:
                tree.gids_of_both_versions(port, 'eno1np0', 'fe80:0000:0000:0000:5aa2:e1ff:fe00:0001', '0000:0000:0000:0000:0000:ffff:0a02:0305')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def h100_ipv6_beside_ipv4(tree):
    """Healthy: eight ConnectX-7 with an IPv4 address, a static IPv6 address and one of the router's prefix each."""
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'h100', numa)
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa)
        port = tree.rdma(nic, f'mlx5_{n}', n, 400)
        for index in range(4, 10):
            tree.file(f'{port}/gids/{index}', NO_GID)
        tree.netdev(nic, f'gpu{n}_eth', 400)
        mac = f'a288:c2ff:fe3b:50{n:02x}'
        tree.gids_of_both_versions(port, f'gpu{n}_eth', f'fe80:0000:0000:0000:{mac}', f'0000:0000:0000:0000:0000:ffff:0ac8:{n:02x}0a',
                                   f'fc00:0200:0000:000{n}:0000:0000:0000:000a', f'fc00:0200:0000:000{n}:{mac}')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def cnp_of_any_priority(tree):
    """Healthy: eight ConnectX-7 whose driver has the switches of DCQCN. The reaction point is on for priority 3, the notification point for
    priority 0, which turns it on for the port: marked packets arrive, and notifications leave."""
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'mi300x', numa)
        port = tree.roce(below_nic, bus + 4, f'mlx5_{n}', f'ens{n + 1}np0', n, numa=numa)
        for side, on in ('rp', 3), ('np', 0):
            tree.files(f'{os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(port))))}/net/ens{n + 1}np0/ecn/roce_{side}/enable',
                       **{str(priority): int(priority == on) for priority in range(8)})
        tree.dcb(f'ens{n + 1}np0', [3], DSCPS)
        tree.no_global_pause(f'ens{n + 1}np0')
        tree.statistics(f'ens{n + 1}np0', *prio_statistics(rx_prio3_bytes=40_000_000_000, rx_prio3_packets=9_800_000, tx_prio3_bytes=40_000_000_000,
                                                           tx_prio3_packets=9_800_000, rx_bytes_phy=40_000_000_000, tx_bytes_phy=40_000_000_000))
        units = dict.fromkeys(('port_xmit_data', 'port_rcv_data'), 0)
        tree.counters(port, units, dict.fromkeys(units, 9_900_000_000), 'counters')
        zero = dict.fromkeys(('np_ecn_marked_roce_packets', 'np_cnp_sent', 'rp_cnp_handled', 'rp_cnp_ignored', 'packet_seq_err', 'out_of_sequence',
                              'rx_write_requests'), 0)
        tree.counters(port, zero, zero | {'np_ecn_marked_roce_packets': 4000, 'np_cnp_sent': 3900, 'rp_cnp_handled': 3800, 'rx_write_requests': 600_000})
    seconds(tree, 1)
    tree.module('amdgpu', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')
    tree.file('proc/kallsyms', '0000000000000000 T ib_register_peer_memory_client\t[ib_core]')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY + 'ecn_rp = [3]\necn_np = [3]')


def eight_nics_one_subnet(tree):
    """Eight H100 with a ConnectX-7 each, all eight in one IPv4 subnet; ARP as the kernel has it by default."""
    addresses = {}
    for n, port in enumerate(modules(tree, 'h100', 'mlx5', netdevs='ens{n}np0')):
        netdev = f'ens{n + 1}np0'
        addresses[netdev] = f'10.10.1.{n + 1}'
        tree.gids(port, netdev, addresses[netdev])
    for name in 'all', 'default', *addresses:
        tree.files(f'proc/sys/net/ipv4/conf/{name}', arp_ignore=0, arp_announce=0, arp_filter=0, rp_filter=2)
    tree.addressing(addresses)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def ib_partition_and_lost_port(tree):
    """Eight InfiniBand NICs in a partition of the site, whose key is the second of each port. One has lost its link, and still has its LID."""
    for n, name in enumerate((0, 3, 4, 5, 6, 9, 10, 11)):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa)
        tree.gpu(below_gpu, bus + 3, 'h100', numa)
        port = infiniband(tree, tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700'), f'mlx5_{name}', name)
        tree.files(f'{port}/pkeys', **{'0': '0x7fff', '1': '0x8001'})
        tree.files(port, lid=f'0x{0x35a + name:x}', sm_lid='0x14e')
        if name == 10:
            tree.files(port, state='1: DOWN', phys_state='2: Polling', rate='10 Gb/sec (4X SDR)')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def h200_translated_and_acs(tree):
    """Eight H200 on an Intel host that was started without iommu=pt: every function is in a translated domain. ACS is on in the switches."""
    tree.file('proc/sys/kernel/osrelease', '6.8.0-79-generic')
    tree.file('proc/cmdline', 'BOOT_IMAGE=vmlinuz initrd=initrd.img ip=dhcp boot=live console=ttyS0')
    tree.file('proc/cpuinfo', 'vendor_id : GenuineIntel\nmodel name : INTEL(R) XEON(R) PLATINUM 8592+\nflags : fpu vmx')
    tree.file('sys/class/iommu/dmar0/intel-iommu/cap', 'd2008c40660462')
    for n in range(8):
        numa, bus = n // 4, 0x10 * (n + 1)
        below_gpu, below_nic = tree.switch(n, 2, numa, acs=0x1d)
        gpu = tree.gpu(below_gpu, bus + 3, 'h200', numa)
        nic = tree.nic(below_nic, bus + 4, 'mlx5', numa, kind='0x020700')
        infiniband(tree, nic, f'mlx5_{n}', n)
        for which, (folder, pci) in enumerate(((gpu, f'0000:{bus + 3:02x}:00.0'), (nic, f'0000:{bus + 4:02x}:00.0'))):
            group = f'sys/kernel/iommu_groups/{40 + 2 * n + which}'
            tree.file(f'{group}/type', 'DMA-FQ')
            tree.link(f'{folder}/iommu_group', group)
            tree.link(f'{group}/devices/{pci}', folder)
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib', 'ib_umad', 'ib_uverbs')


def storm_and_slow_receiver(tree):
    """In one second, two NICs of 40 Gb/s: the first receives nothing, and pauses its switch port all the time; the second receives 30 Gb/s
    and pauses now and then."""
    for n in range(2):
        port = tree.roce(tree.bridge(f'sys/devices/pci0000:{0x20 * (n + 1):02x}', f'0000:{0x20 * (n + 1):02x}:01.0', n, ('0x8086', '0x6f08'),
                                     ('8.0 GT/s PCIe', '8')), 0x20 * (n + 1) + 1, f'mlx5_{n}', f'ens{n + 1}', n, rate=100, numa=n)
        nic = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(port))))
        tree.files(nic, device='0x1015', max_link_speed='8.0 GT/s PCIe', current_link_speed='8.0 GT/s PCIe', max_link_width=8, current_link_width=8)
        tree.file(f'{port}/rate', '40 Gb/sec (4X QDR)')
        tree.file(f'{nic}/net/ens{n + 1}/speed', '40000')
        tree.dcb(f'ens{n + 1}', [3], DSCPS)
        tree.no_global_pause(f'ens{n + 1}')
        pausing = {'tx_prio3_pause': 2_100, 'tx_pause_ctrl_phy': 2_100, 'tx_prio3_pause_duration': 1_000_000}
        slow = {'rx_prio3_bytes': 3_750_000_000, 'rx_prio3_packets': 3_400_000, 'rx_bytes_phy': 3_750_000_000, 'rx_packets_phy': 3_400_000,
                'tx_prio3_pause': 3_000, 'tx_pause_ctrl_phy': 3_000, 'tx_prio3_pause_duration': 62_000}
        tree.statistics(f'ens{n + 1}', *prio_statistics(**(slow if n else pausing)))
        units = dict.fromkeys(('port_xmit_data', 'port_rcv_data', 'port_rcv_packets'), 0)
        tree.counters(port, units, units | ({'port_rcv_data': 930_000_000, 'port_rcv_packets': 3_400_000} if n else {}), 'counters')
        zero = dict.fromkeys(('out_of_sequence', 'packet_seq_err', 'local_ack_timeout_err', 'out_of_buffer', 'np_cnp_sent', 'rp_cnp_handled',
                              'np_ecn_marked_roce_packets', 'rx_write_requests'), 0)
        tree.counters(port, zero, zero | ({'rx_write_requests': 57_000} if n else {'local_ack_timeout_err': 40}))
    seconds(tree, 1)
    tree.module('mlx5_core', 'mlx5_ib')
    tree.file('etc/fabric-agent/fabric-agent.toml', POLICY.rstrip())


def kernel_without_ofed(tree):
    """A node of CloudLab that was started with a kernel of its own. The vendor's drivers for the ConnectX-3 are installed for another kernel."""
    release = '6.1.55-fastswap'
    tree.file('proc/sys/kernel/osrelease', release)
    tree.files('sys/class/dmi/id', sys_vendor='Dell', product_name='C6220')
    above = tree.bridge('sys/devices/pci0000:00', '0000:00:03.0', ids=('0x8086', '0x0e08'), link=('8.0 GT/s PCIe', '8'))
    tree.function(above, '0000:03:00.0', '0x028000', '0x15b3', '0x1003', link=('8.0 GT/s PCIe', '8'))
    above = tree.bridge('sys/devices/pci0000:00', '0000:00:01.0', ids=('0x8086', '0x0e02'), link=('5.0 GT/s PCIe', '4'))
    tree.netdev(tree.function(above, '0000:02:00.0', '0x020000', '0x8086', '0x1521', 'igb', link=('5.0 GT/s PCIe', '4')), 'eno1', 1, mtu=1500)
    tree.module('igb')
    tree.file('proc/modules', 'igb 327680 0 - Live 0x0000000000000000')
    installed_modules(tree, release, 'net/ethernet/intel/igb/igb')
    other = '4.15.0-213-generic'
    names = 'mlx4_core', 'mlx4_en', 'mlx4_ib', 'ib_core', 'ib_uverbs', 'ib_umad'
    for name in names:
        tree.file(f'lib/modules/{other}/updates/dkms/{name}.ko')
    tree.file(f'lib/modules/{other}/modules.dep', '\n'.join(f'updates/dkms/{name}.ko:' for name in names))


def low_light_and_wrong_cable(tree):
    """Four ConnectX-6 of 200 Gb/s. One gets no light on its third lane, and no link; another has a cable that its firmware does not accept."""
    ports = modules(tree, 'a100', 'mlx5', 4, rate=200)
    for n in range(4):
        nic = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(ports[n]))))
        tree.file(f'{nic}/device', '0x101b')
        if n in (0, 3):
            tree.files(ports[n], state='1: DOWN', phys_state='2: Polling' if n == 0 else '3: Disabled')
            tree.files(f'{nic}/net/ens{n + 1}', operstate='down', carrier=0, speed=-1, flags='0x1003')
        tree.link_state(f'ens{n + 1}')
    tree.link_down('ens1', 0, 1)
    tree.link_down('ens4', 5, 1)
    tree.optics('ens1', (0.81, 0.79, 0.004, 0.83), lost=(2,))
    for netdev in 'ens2', 'ens3':
        tree.optics(netdev, (0.8, 0.8, 0.8, 0.8))
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def rtx_pro_links(tree):
    """Eight RTX PRO 6000 behind Switchtec switches, two at each, and two ports of a ConnectX-7. Six GPUs are idle: their links run at 2.5 or
    5 GT/s, which changes all the time. One has run at 5 GT/s for hours, under load; one runs at full speed."""
    numa_nodes(tree, 1)
    tree.file('proc/cpuinfo', 'vendor_id : AuthenticAMD\nmodel name : AMD EPYC 9575F 64-Core Processor\nflags : svm')
    tree.files('sys/class/dmi/id', sys_vendor='ASRockRack', product_name='GENOAD24QM32-2L2T')
    for n in range(8):
        bus = 0x10 * (n // 2 + 1)
        if n % 2 == 0:
            ports = tree.switch(n // 2, 2, 0, ('0x11f8', '0x5000'))
        speed = ('2.5', '5.0', '2.5', '2.5', '5.0', '2.5', '5.0', '32.0')[n]
        gpu = tree.function(ports[n % 2], f'0000:{bus + 3 + n % 2:02x}:00.0', '0x030000', '0x10de', '0x2bb1', 'nvidia', 0)
        for end in gpu, ports[n % 2]:
            tree.file(f'{end}/current_link_speed', f'{speed} GT/s PCIe')
    above = tree.bridge('sys/devices/pci0000:c0', '0000:c0:01.1', 0, ('0x1022', '0x14ab'))
    for f in range(2):
        nic = tree.nic(above, 0xc1, 'mlx5', 0, slot=f'00.{f}')
        port = tree.rdma(nic, f'mlx5_{f}', f, 200)
        of_one_card(tree, f'mlx5_{f}', 0)
        tree.netdev(nic, f'enp193s0f{f}np{f}', 200)
        tree.gids_of_both_versions(port, f'enp193s0f{f}np{f}', f'fe80:0000:0000:0000:5aa2:e1ff:fe00:000{f}', f'0000:0000:0000:0000:0000:ffff:0a0{f + 1}:0105')
    tree.module('nvidia', 'nvidia_uvm', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')
    tree.file('proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.58.03  Release Build')


def mixed_card_models(tree):
    """Healthy: eight ConnectX-7 beside MI300X, and a ConnectX-6 Dx with two ports for the front end: each model has a firmware of its own."""
    for n, port in enumerate(modules(tree, 'mi300x', 'mlx5', names='mlx5_{n}', netdevs='gpu{n}rdma')):
        tree.files(os.path.dirname(os.path.dirname(port)), fw_ver='28.43.2026', board_id='MT_0000000838')
    above = tree.root(0xa0)
    for f in range(2):
        nic = tree.nic(above, 0xa1, 'mlx5', slot=f'00.{f}', link=GEN4)
        tree.file(f'{nic}/device', '0x101d')
        port = tree.rdma(nic, f'mlx5_{8 + f}', 8 + f, 100)
        of_one_card(tree, f'mlx5_{8 + f}', 8)
        tree.files(os.path.dirname(os.path.dirname(port)), fw_ver='22.39.2048', board_id='MT_0000000359')
        tree.netdev(nic, f'enp161s0f{f}np{f}', 100, mtu=1500)
        tree.gids_of_both_versions(port, f'enp161s0f{f}np{f}', f'fe80:0000:0000:0000:5aa2:e1ff:fe00:00a{f}', f'0000:0000:0000:0000:0000:ffff:0a0{f + 1}:0105')
    tree.module('amdgpu', 'mlx5_core', 'mlx5_ib', 'ib_core', 'ib_uverbs')
    tree.file('proc/kallsyms', '0000000000000000 T ib_register_peer_memory_client\t[ib_core]')


def h100_front_end_only(tree):
    """Healthy: eight H100 that are used alone, with one Ethernet NIC at the first socket."""
    for n in range(8):
        numa = n // 4
        tree.gpu(tree.switch(n, 2, numa)[0], 0x10 * (n + 1) + 3, 'h100', numa)
    tree.roce(tree.root(0xa0), 0xa1, 'mlx5_0', 'enp161s0np0', 0, rate=100)
    tree.file('sys/devices/pci0000:a0/0000:a0:01.0/0000:a1:00.0/device', '0x101d')
    tree.module('nvidia', 'nvidia_peermem', 'mlx5_core', 'mlx5_ib')


def cx5_flash_recovery(tree):
    """A PC with a ConnectX-5 of an Innova-2 card whose flash has no firmware: lspci shows one function, "Flash Recovery"."""
    tree.file('proc/cpuinfo', 'vendor_id : GenuineIntel\nmodel name : Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz\nflags : fpu vmx')
    above = tree.bridge('sys/devices/pci0000:00', '0000:00:01.0', ids=('0x8086', '0x1901'), link=('8.0 GT/s PCIe', '16'))
    tree.function(above, '0000:03:00.0', '0x058000', '0x15b3', '0x020d', link=('8.0 GT/s PCIe', '8'))
    above = tree.bridge('sys/devices/pci0000:00', '0000:00:1c.0', ids=('0x8086', '0xa114'), link=('5.0 GT/s PCIe', '1'))
    tree.netdev(tree.function(above, '0000:05:00.0', '0x020000', '0x8086', '0x1533', 'igb', link=('2.5 GT/s PCIe', '1')), 'enp5s0', 1, mtu=1500)
    tree.module('igb')


def write(name, folder):
    tree = Tree(folder)
    globals()[name.replace('-', '_')](tree)
    tree.close()
