# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus and Alertmanager with the files of etc/prometheus, and a web server for nodes and notifications."""
import asyncio
import copy
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.parse

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = 'fabric-agent.rules.yml', 'fabric-fleet.rules.yml'
UNITS = {'s': 1, 'm': 60, 'h': 3600, 'd': 86400}


def programs(folder, names=('prometheus', 'prometheus-alertmanager')):
    found = []
    for name in names:
        path = f'{folder}/{name}' if os.access(f'{folder}/{name}', os.X_OK) else shutil.which(name)
        if not path:
            sys.exit(f'tests/fleet: no {name}; run packaging/install-build-deps --tests')
        found.append(path)
    return found


def in_its_place(alertmanager):
    """Debian's Alertmanager reads its templates from /usr/share, where an unpacked package has none."""
    templates = os.path.join(os.path.dirname(alertmanager), '../share/prometheus/alertmanager')
    if os.path.isdir('/usr/share/prometheus/alertmanager'):
        return [alertmanager]
    return ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /usr/share && mkdir /usr/share/prometheus && '
            'cp -r "$0" /usr/share/prometheus/alertmanager && exec "$@"', templates, alertmanager]


def faster(text, speed, patience=1):
    """Divides all durations in a file of rules or of Alertmanager; waits of ten minutes and more also by `patience`."""
    def scale(match):
        seconds = int(match[2]) * UNITS[match[3]]
        if match[1] == 'for: ' and seconds >= 600:
            seconds /= patience
        return f'{match[1]}{max(1, round(seconds * 1000 / speed))}ms{match[4]}'
    text = re.sub(r'(\b(?:for|keep_firing_for|interval|group_wait|group_interval|repeat_interval): )(\d+)([smhd])()', scale, text)
    text = re.sub(r'(\[|offset )(\d+)([smhd])(\]|\b)', scale, text)
    return re.sub(r'(:)(\d+)([smhd])(\])', scale, text)  # the step of a subquery


async def free_ports(number):
    ports = []
    for _ in range(number):
        probe = await asyncio.start_server(lambda r, w: None, '127.0.0.1', 0)
        ports.append(probe.sockets[0].getsockname()[1])
        probe.close()
    return ports


class Stack:
    """The two programs below a folder. `jobs` are Prometheus' scrape_configs."""

    def __init__(self, work, tools=None):
        self.work = work
        self.prometheus, self.alertmanager = programs(tools or f'{REPO}/build/tools/usr/bin')
        self.started = []

    async def start(self, web, jobs, speed=1, patience=1, interval=15, rules=RULES):
        for name in *rules, 'alertmanager.yml':
            with open(f'{REPO}/etc/prometheus/{name}') as source, open(f'{self.work}/{name}', 'w') as out:
                out.write(faster(source.read(), speed, patience).replace('localhost:9095', f'127.0.0.1:{web}'))
        self.port, self.alerts = await free_ports(2)
        scrape = {'scrape_interval': f'{round(interval * 1000 / speed)}ms', 'scrape_timeout': f'{round(interval * 1000 / speed)}ms',
                  'evaluation_interval': f'{round(interval * 1000 / speed)}ms'}
        own = {'job_name': 'prometheus', 'scrape_interval': '5s', 'static_configs': [{'targets': [f'127.0.0.1:{self.port}']}]}
        with open(f'{self.work}/prometheus.yml', 'w') as out:
            json.dump({'global': scrape, 'rule_files': [f'{self.work}/{name}' for name in rules], 'scrape_configs': [*jobs, own],
                       'alerting': {'alertmanagers': [{'static_configs': [{'targets': [f'127.0.0.1:{self.alerts}']}]}]}}, out)
        self.run([*in_its_place(self.alertmanager), f'--config.file={self.work}/alertmanager.yml',
                  f'--storage.path={self.work}/am', f'--web.listen-address=127.0.0.1:{self.alerts}', '--cluster.listen-address='])
        self.run([self.prometheus, f'--config.file={self.work}/prometheus.yml', f'--storage.tsdb.path={self.work}/tsdb',
                  f'--web.listen-address=127.0.0.1:{self.port}', f'--rules.alert.resend-delay={max(1, round(60 / speed))}s'])

    def run(self, command):
        with open(f'{self.work}/log', 'a') as log:
            self.started.append(subprocess.Popen(command, stdout=log, stderr=log))

    def log(self):
        with open(f'{self.work}/log') as log:
            return log.read()[-4000:]

    def stop(self):
        for process in self.started:
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            process.wait()

    def at(self, port):
        """To ask another server than the first."""
        other = copy.copy(self)
        other.port = port
        return other

    async def ask(self, query, path='query', **more):
        """The result of a query; [] while Prometheus starts."""
        try:
            reader, writer = await asyncio.open_connection('127.0.0.1', self.port)
        except OSError:
            return []
        writer.write(f'GET /api/v1/{path}?{urllib.parse.urlencode(dict(query=query, **more))} HTTP/1.0\r\n\r\n'.encode())
        body = (await reader.read()).split(b'\r\n\r\n', 1)[-1]
        writer.close()
        if not body.startswith(b'{'):  # Service Unavailable
            return []
        answer = json.loads(body)
        if answer['status'] != 'success':
            raise ValueError(f"{query}: {answer['error']}")
        return answer['data']['result'] if path.startswith('query') else answer['data']

    async def value(self, query):
        """The first series of an instant query."""
        result = await self.ask(query)
        return float(result[0]['value'][1]) if result else 0


async def serve(get, note, host='127.0.0.1'):
    """A web server: get(path) is a page, or None to hang up; note(receiver, group) takes what Alertmanager sends."""
    async def connection(reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b'\r\n\r\n')).decode()
                method, path = head.split(' ')[:2]
                length = re.search(r'(?i)content-length: *(\d+)', head)
                body = await reader.readexactly(int(length[1])) if length else b''
                if method == 'POST':
                    note(path[1:], json.loads(body))
                    text = ''
                else:
                    text = await get(path)
                if text is None:
                    break
                answer = text.encode()
                writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n' % len(answer))
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        writer.close()
    server = await asyncio.start_server(connection, host, 0, backlog=4096)
    return server.sockets[0].getsockname()[1]
