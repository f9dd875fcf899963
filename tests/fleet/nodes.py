# SPDX-License-Identifier: Apache-2.0
"""Simulated nodes: pages with the series of tests/golden/exporter_metrics_nic.txt for each of the node's NICs, whose counters
grow with time. Faults (faults.py) change the values of their nodes."""
import asyncio
import math
import time

from stack import REPO

RATE = 50e9  # bytes per second of a link
# Counters that grow with the traffic, as a share of its bytes.
GROWS = {
    'fabric_port_bytes_total': 1, 'fabric_port_packets_total': 1 / 4096, 'fabric_rdma_bytes_total': 1,
    'fabric_rdma_packets_total': 1 / 4096, 'fabric_rdma_requests_received_total': 1e-6, 'fabric_rdma_cnp_sent_total': 4e-9,
    'fabric_rdma_cnp_handled_total': 4e-9, 'fabric_rdma_cnp_ignored_total': 1e-12, 'fabric_rdma_ecn_marked_packets_total': 6e-9,
    'fabric_rdma_out_of_sequence_packets_total': 4e-11, 'fabric_rdma_ack_timeouts_total': 1e-12,
    'fabric_rdma_rnr_naks_received_total': 5e-12, 'fabric_rdma_out_of_buffer_total': 3e-12,
    'fabric_pfc_pause_frames_total': 2e-8, 'fabric_pfc_paused_seconds_total': 8e-13,
    'fabric_priority_ecn_marked_packets_total': 6e-9, 'fabric_phy_fec_corrected_words_total': 2e-7,
    'fabric_phy_fec_corrections_total': 2e-7,
    'fabric_burst_pause_ratio_count': 1e-10, 'fabric_burst_pause_ratio_sum': 1e-12, 'fabric_burst_pause_ratio_bucket': 1e-10}
PRIORITY = {'0': 0.02, '3': 0.97, '6': 0.01}
# Values and labels that differ between nodes or change with a fault.
VARIES = {
    'fabric_port_up', 'fabric_port_state', 'fabric_port_physical_state', 'fabric_port_carrier', 'fabric_port_carrier_downs_total',
    'fabric_settings_hash', 'fabric_agent_up', 'fabric_pcie_errors_total', 'fabric_events_total', 'fabric_phy_symbol_errors_total',
    'fabric_phy_fec_uncorrectable_words_total', 'fabric_module_temperature_celsius', 'fabric_module_rx_power_lowest_watts',
    'fabric_rdma_icrc_errors_total', 'fabric_phy_discarded_packets_total', 'fabric_setting_in_sync', 'fabric_device_healthy'}
LINES = {'fabric_port_info', 'fabric_neighbor_info', 'fabric_module_info', 'fabric_diagnosis'}  # may go, or get other labels


class Template:
    """The page of a node as one format string. A slot is a value, or a whole line."""

    def __init__(self, rails):
        self.slots, self.first, text = {}, [], []
        self.grows = []  # (slot, rail, direction, share)
        with open(f'{REPO}/tests/golden/exporter_metrics_nic.txt', encoding='ascii') as golden:
            for line in golden.read().splitlines():
                for rail in range(rails if 'mlx5_0' in line else 1):
                    text.append(self.line(line.replace('mlx5_0', f'mlx5_{rail}').replace('rail="0"', f'rail="{rail}"'), rail))
        self.text = '\n'.join(text) + '\n'
        self.series = sum(1 for line in text if not line.startswith('#'))

    def line(self, line, rail):
        name = line.replace('{', ' ').split(' ')[0]
        series, value = line.rsplit(' ', 1)
        if line.startswith('#') or not (name in GROWS or name in VARIES or name in LINES or value == '-'):
            return line.replace('%', '%%')
        if name in GROWS:
            share = GROWS[name] / (8 if name == 'fabric_pfc_paused_seconds_total' and 'direction="tx"' in series else 1)
            if name == 'fabric_priority_ecn_marked_packets_total':
                share *= PRIORITY[series.split('priority="')[1][0]]
            self.grows.append((len(self.first), rail, 'direction="tx"' in series, share))
        key = (name, rail) if name in LINES else series
        self.slots[key] = len(self.first)
        self.first.append(line if name in LINES else '0' if value == '-' else value)
        return '%s' if name in LINES else series.replace('%', '%%') + ' %s'


class Node:
    def __init__(self, fleet, index):
        self.fleet, self.index, self.name = fleet, index, f'gpu{index + 1:04d}'
        self.faults, self.born, self.skew, self.gone, self.slow = [], fleet.began - 86400, 0, False, 0
        self.unit = index // fleet.leaf_size
        self.base = list(fleet.template.first)
        for rail in range(fleet.rails):
            port = f'device="mlx5_{rail}",port="1"'
            batch = f'{(index * fleet.rails + rail) % 40:02d}'
            self.line('fabric_neighbor_info', rail, f'{{{port},switch="{self.leaf(rail)}",switch_port="Ethernet{index % fleet.leaf_size}"}}')
            self.line('fabric_module_info', rail, f'{{{port},form_factor="OSFP",vendor="ACME",part_number="OSFP-400",'
                      f'serial_number="AC24{batch}{index:04d}{rail}",medium="multi-mode fiber",technology="850 nm VCSEL"}}')
            self.set('fabric_module_temperature_celsius', rail, 45 + (index * 7 + rail * 3) % 9)
            self.set('fabric_module_rx_power_lowest_watts', rail, 0.001)

    def leaf(self, rail):
        return f'leaf{self.unit + 1}-{rail}'

    def batch(self, rail):
        return (self.index * self.fleet.rails + rail) % 40

    def slot(self, series, rail=None, labels=''):
        if rail is not None:
            port = '' if series in ('fabric_pcie_errors_total', 'fabric_device_healthy') else ',port="1"'
            labels = labels.split(',') if labels else []
            before = [each for each in labels if each.startswith('event=')]
            after = [each for each in labels if not each.startswith('event=')]
            series += '{' + ','.join([*before, f'device="mlx5_{rail}"{port}', *after]) + '}'
        return self.fleet.template.slots[series]

    def set(self, series, rail, value, labels=''):
        self.base[self.slot(series, rail, labels)] = value

    def line(self, name, rail, labels):
        self.base[self.fleet.template.slots[name, rail]] = f'{name}{labels} 1' if labels else ''

    def traffic(self, since):
        """Bytes of a port, at 20 to 60 % of its rate."""
        return RATE * (0.4 * since + 40 * math.sin(since / 200 + self.index))

    def page(self, now):
        """None: does not answer. `now` is the time of the fleet."""
        view = View(self)
        for fault, begins, ends in self.faults:
            if now >= begins:
                view.begins = begins
                fault(view, now - begins, now >= ends)
        if self.gone or view.gone:
            return None
        real = time.time()
        values, since = view.values, real - self.born
        traffic = self.traffic(since)
        sent_so_far = [traffic - lost * (traffic - self.traffic(began)) for lost, began in view.lost]
        for slot, rail, sent, share in self.fleet.template.grows:
            values[slot] = share * sent_so_far[rail] * (0.98 if sent else 1)
        values[self.slot('process_start_time_seconds')] = self.born + self.skew
        values[self.slot('process_cpu_seconds_total')] = since / 500
        return self.fleet.template.text % tuple(values) + ''.join(view.more)


class View:
    """What one page shows; faults change it."""

    def __init__(self, node):
        self.node, self.values, self.more, self.gone = node, list(node.base), [], False
        self.lost = [(0, 0)] * node.fleet.rails  # share of the traffic that is missing, since when

    def set(self, series, rail, value, labels=''):
        self.values[self.node.slot(series, rail, labels)] = value

    def line(self, name, rail, labels):
        self.values[self.node.fleet.template.slots[name, rail]] = f'{name}{{device="mlx5_{rail}",port="1"{labels}}} 1' if labels else ''

    def finding(self, check, subject, status):
        subject = f'mlx5_{subject}/1' if isinstance(subject, int) else subject
        self.more.append(f'fabric_check_status{{check="{check}",subject="{subject}"}} {status}\n')

    def event(self, event, rail, count=1):
        self.set('fabric_events_total', rail, count, f'event="{event}"')

    def culprit(self, rail, culprit, rule):
        self.line('fabric_diagnosis', rail, f',culprit="{culprit}",rule="{rule}"')

    def set_agent(self, up):
        self.values[self.node.slot('fabric_agent_up')] = up
        if not up:
            self.finding('agent', 'host', 1)

    def lose(self, rail, share):
        fleet = self.node.fleet
        self.lost[rail] = share, max(0, fleet.started + self.begins / fleet.speed - self.node.born)

    def down(self, rail):
        self.lose(rail, 1)
        for state, value in ('up', 0), ('state', 1), ('physical_state', 2), ('carrier', 0):
            self.set(f'fabric_port_{state}', rail, value)
        self.line('fabric_neighbor_info', rail, '')
        self.finding('port-state', rail, 2)


class Fleet:
    """`number` nodes; `speed` is how much faster than the real one its time goes."""

    def __init__(self, number, rails, speed):
        self.began, self.rails, self.speed = time.time(), rails, speed
        self.leaf_size = max(4, min(32, number // 2))
        self.template = Template(rails)
        self.nodes = {f'/{node.name}': node for node in (Node(self, index) for index in range(number))}
        self.list = list(self.nodes.values())
        self.started = None  # when all nodes were healthy

    def now(self):
        return (time.time() - self.started) * self.speed if self.started else -1e9

    async def page(self, path):
        node = self.nodes[path]
        if node.slow:
            await asyncio.sleep(node.slow / self.speed)
        return node.page(self.now())

    def targets(self, web, nodes):
        return [{'targets': [f'127.0.0.1:{web}'], 'labels': {'__metrics_path__': f'/{node.name}', 'instance': node.name, 'site': 'dc1'}}
                for node in nodes]
