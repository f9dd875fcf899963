# SPDX-License-Identifier: Apache-2.0
"""Faults of a simulated fleet and the notifications that each must cause: one for each, or none."""
import time


class Fault:
    """`act` is called with the view of each of its nodes, the seconds since the fault began, and whether it is over."""

    def __init__(self, name, at, lasts, nodes, act, devices=(), expect='', switches=(), wide=()):
        self.name, self.at, self.lasts, self.nodes, self.act, self.expect = name, at, lasts, nodes, act, expect
        self.devices, self.switches, self.wide = [f'mlx5_{rail}' for rail in devices], switches, wide
        self.names = {node.name for node in nodes}
        for node in nodes:
            node.faults.append((act, at, at + lasts))

    def owns(self, labels):
        """Is the alert about this fault or a consequence of it?"""
        if labels['alertname'] in self.wide:
            return True
        if 'instance' in labels and labels['instance'] not in self.names:
            return False
        if 'device' in labels:
            return labels['device'] in self.devices
        if 'rail' in labels:
            return f'mlx5_{labels["rail"]}' in self.devices
        if 'switch' in labels:
            return labels['switch'] in self.switches
        return 'instance' in labels and not self.devices


def while_lasting(act):
    return lambda view, since, over: None if over else act(view, since)


def quiet(_view, _since, _over):
    pass


def leaf_dies(rail):
    """Every link to it is down; connections break, also of other rails of the same jobs."""
    def act(view, since, over):
        view.event('link_flap', rail)
        view.event('retries_exceeded', rail, 9)
        view.event('retries_exceeded', (rail + 1) % view.node.fleet.rails, 2)
        if over:
            return
        view.down(rail)
        view.culprit(rail, 'peer', 'no-partner')
        view.finding('loss', rail, 2)
        if since < 120:
            view.finding('loss', (rail + 1) % view.node.fleet.rails, 2)
    return act


def cable_breaks(node, rail):
    """The others of its leaf lose connections to this port, and report loss for two minutes."""
    def act(view, since, over):
        view.event('retries_exceeded', rail, 9 if view.node is node else 1)
        if view.node is node:
            view.event('link_flap', rail)
            view.set('fabric_port_carrier_downs_total', rail, 2)
            if not over:
                view.down(rail)
                view.finding('link-errors', rail, 2)
                view.culprit(rail, 'peer', 'no-partner')
        elif since < 120:
            view.finding('loss', rail, 2)
    return act


def link_flaps(rail):
    def act(view, since, _over):
        if since < 5:
            view.down(rail)
        view.event('link_flap', rail)
        view.set('fabric_port_carrier_downs_total', rail, 2)
        view.set('fabric_phy_symbol_errors_total', rail, 40)
    return act


def rail_loses(rail):
    """The spines of one rail drop packets."""
    def act(view, since, over):
        view.set('fabric_phy_discarded_packets_total', rail, 50 * since, 'direction="rx"')
        view.event('lossless_discards', rail)
        if not over:
            view.finding('loss', rail, 2)
            view.finding('discards', rail, 1)
            view.culprit(rail, 'network', 'loss-in-network')
    return act


def connection_breaks(rail):
    def act(view, since, _over):
        view.event('retries_exceeded', rail)
        if since < 60:
            view.finding('loss', rail, 2)
    return act


def pcie_fatal(rail):
    def act(view, since, _over):
        view.set('fabric_pcie_errors_total', rail, 1, 'severity="fatal"')
        if since < 600:
            view.finding('aer', '0000:14:00.0', 2)
    return act


def pause_storm(rail):
    def act(view, since, over):
        view.event('pause_storms', rail)
        view.set('fabric_pfc_paused_seconds_total', rail, since, 'direction="tx",priority="3"')
        if not over:
            view.finding('pause-storm', rail, 2)
            view.culprit(rail, 'host', 'slow-host')
    return act


def batch_ages(fleet, batch):
    """One in three modules of a batch has a weak laser."""
    def act(view, since, over):
        for rail in range(fleet.rails):
            if view.node.batch(rail) == batch and view.node.index // 5 % 3 == 0:
                view.set('fabric_module_rx_power_lowest_watts', rail, 0.00008)
                view.set('fabric_phy_fec_uncorrectable_words_total', rail, 3 * since)
                if not over:
                    view.finding('pre-fec-ber', rail, 1)
    return act


def firmware(rails):
    def act(view, _since):
        for rail in range(rails):
            view.line('fabric_port_info', rail, f',driver="mlx5_core",firmware="28.35.2000",netdev="ens{rail}",pci="0000:14:00.0",'
                      'numa="0",link_layer="Ethernet",board="MT_0000000838",hca_type="MT4129"')
    return while_lasting(act)


def drift(view, since):
    """Another tool wrote a setting, which fabric-agentd repaired. Another setting waits until the port is idle."""
    view.more.append('fabric_setting_repairs_total{device="mlx5_0",port="1",setting="pfc"} %d\n' % (since > 30))
    view.set('fabric_setting_in_sync', 0, 0, 'setting="mtu"')
    if since < 20:
        view.set('fabric_setting_in_sync', 0, 0, 'setting="pfc"')


def reborn(node, skew=0):
    node.born, node.skew = time.time(), skew


def boots(away, skew=0):
    """The node is away for some seconds; then its links train for a minute, and its counters are new."""
    def act(view, since, _over):
        if since < away:
            view.gone = True
            view.node.rebooting = True
            return
        if getattr(view.node, 'rebooting', False):
            view.node.rebooting = False
            reborn(view.node, skew)
            view.values[view.node.slot('process_start_time_seconds')] = view.node.born + skew
        if since < away + 60:
            for rail in range(view.node.fleet.rails):
                view.down(rail)
            view.set_agent(0)
    return act


def catalogue(fleet):
    """The schedule, in seconds. Rails keep the faults apart: a notification belongs to the fault of its device. The rail
    fails first of those that need a node known for five minutes: after a link went down, its alert waits longer."""
    nodes, size, rails = fleet.list, fleet.leaf_size, fleet.rails

    def some(share, offset, least=1):
        """Every so many nodes, beginning at `offset`."""
        step = max(1, int(len(nodes) / max(least, len(nodes) * share)))
        return nodes[offset % len(nodes)::step]

    def one(offset):
        return nodes[(offset * len(nodes) // 17) % len(nodes)]
    batch = [node for node in nodes if any(node.batch(rail) == 12 for rail in range(rails))]
    broken, second, far = one(1), one(2), [node for node in nodes if node.unit == 1]
    unit = [node for node in nodes if node.unit == broken.unit]
    other = [node for node in nodes if node.unit == second.unit]
    few = max(1, len(nodes) // 500)
    added, removed, gone = (nodes[-3 * few:-2 * few], nodes[-2 * few:-few], nodes[-few:])
    return [
        Fault('firmware of 2 %', 0, 1e9, some(0.02, 7), firmware(rails), range(rails), 'ticket FabricFirmwareOutlier', wide=['FabricFirmwareOutlier']),
        Fault('optic batch', 10, 1e9, batch, batch_ages(fleet, 12), [4], 'ticket FabricOpticBatch', wide=['FabricOpticBatch']),
        Fault('settings of one node', 0, 1e9, [one(4)], while_lasting(lambda view, _: view.set('fabric_settings_hash', 4, 1)), [4], 'ticket FabricSettingsOutlier'),
        Fault('slow NIC', 0, 1e9, [one(5)], while_lasting(lambda view, _: view.lose(5, 0.6)), [5], 'ticket FabricSlowNic'),
        Fault('agent ends', 10, 1e9, [one(6)], while_lasting(lambda view, _: view.set_agent(0)), (), 'ticket FabricAgentDown'),
        Fault('setting drifts', 10, 1e9, [one(7)], while_lasting(drift), [0]),
        Fault('nodes do not answer', 20, 1e9, gone, while_lasting(lambda view, _: setattr(view, 'gone', True)), (), 'ticket FabricExporterDown'),
        Fault('targets removed', 40, 1e9, removed, quiet),
        Fault('nodes added later', 60, 1e9, added, quiet),
        Fault('answers 5 s late', -1e9, 2e9, some(0.01, 8), quiet),
        Fault('counters reset', 30, 1, some(0.05, 9), lambda view, since, _: reborn(view.node, view.node.skew) if since < 15 else None),
        Fault('clock 1 h ahead, boots', 30, 90, [one(8)], boots(90, 3600), range(rails)),
        Fault('clock 1 h behind, boots', 30, 90, [one(9)], boots(90, -3600), range(rails)),
        Fault('connection breaks', 20, 1, [one(10)], connection_breaks(1), [1], 'page FabricConnectionBroken'),
        Fault('second connection breaks', 195, 1, [one(14)], connection_breaks(4), [4], 'page FabricConnectionBroken'),
        Fault('PFC storm', 100, 300, [one(11)], pause_storm(3), [3], 'page FabricPauseStorm'),
        Fault('fatal PCIe error', 130, 1, [one(12)], pcie_fatal(7), [7], 'page FabricPcieFatal'),
        Fault('rail loses packets', 330, 400, some(0.4, 0), rail_loses(2), [2], 'page FabricRailDegraded',
              switches=[f'leaf{unit + 1}-2' for unit in range(len(nodes) // size + 1)], wide=['FabricSiteDegraded']),
        Fault('link flaps for 5 s', 430, 5, [one(13)], link_flaps(7), [7], 'ticket FabricLinkFlap'),
        Fault('cable', 460, 500, unit, cable_breaks(broken, 6), [6], 'page FabricPortDown'),
        Fault('second cable', 560, 500, other, cable_breaks(second, 5), [5], 'page FabricPortDown'),
        Fault('leaf dies', 620, 400, far, leaf_dies(0), [0, 1], 'page FabricLeafDown', switches=['leaf2-0']),
        Fault('all boot at once', 900, 90, nodes, boots(90), range(rails), wide=['FabricSiteUnreachable', 'FabricNothingScraped', 'FabricSiteDegraded']),
    ]


LAST = 1240  # nothing is waiting to be sent
