# SPDX-License-Identifier: Apache-2.0
"""As much of the API's server as `kubectl label node` and `kubectl rollout status` need: one node, and any DaemonSet, which is up
to date. usage: kubernetes_api.py PORT LABELS (a JSON file that gets the node's labels)"""
import http.server
import json
import sys

PORT, LABELS = int(sys.argv[1]), sys.argv[2]
NODE = {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'gpu-0001', 'labels': {}, 'resourceVersion': '1'}}


def resource(name, kind, namespaced):
    return {'name': name, 'singularName': kind.lower(), 'kind': kind, 'namespaced': namespaced, 'verbs': ['get', 'list', 'patch', 'watch']}


def resources(version, one):
    return {'kind': 'APIResourceList', 'apiVersion': 'v1', 'groupVersion': version, 'resources': [one]}


def daemonset(name):
    status = {'observedGeneration': 2, 'desiredNumberScheduled': 3, 'updatedNumberScheduled': 3, 'numberAvailable': 3, 'numberReady': 3,
              'currentNumberScheduled': 3, 'numberMisscheduled': 0}
    return {'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'status': status,
            'metadata': {'name': name, 'namespace': 'fabric-agent', 'generation': 2, 'resourceVersion': '5'},
            'spec': {'updateStrategy': {'type': 'RollingUpdate'}, 'selector': {'matchLabels': {'a': 'b'}},
                     'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': []}}}}


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, value, status=200):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        path, _, query = self.path.partition('?')
        daemonsets = '/apis/apps/v1/namespaces/fabric-agent/daemonsets'
        if path == '/api':
            self.answer({'kind': 'APIVersions', 'versions': ['v1']})
        elif path == '/api/v1':
            self.answer(resources('v1', resource('nodes', 'Node', False)))
        elif path == '/apis':
            version = {'groupVersion': 'apps/v1', 'version': 'v1'}
            self.answer({'kind': 'APIGroupList', 'apiVersion': 'v1',
                         'groups': [{'name': 'apps', 'versions': [version], 'preferredVersion': version}]})
        elif path == '/apis/apps/v1':
            self.answer(resources('apps/v1', resource('daemonsets', 'DaemonSet', True)))
        elif path == '/api/v1/nodes/gpu-0001':
            self.answer(NODE)
        elif path == daemonsets:
            name = query.split('fieldSelector=metadata.name%3D')[-1].split('&')[0]
            self.answer({'apiVersion': 'apps/v1', 'kind': 'DaemonSetList', 'metadata': {'resourceVersion': '5'}, 'items': [daemonset(name)]})
        elif path.startswith(daemonsets + '/'):
            self.answer(daemonset(path.rpartition('/')[2]))
        else:
            self.answer({'kind': 'Status', 'apiVersion': 'v1', 'status': 'Failure', 'reason': 'NotFound', 'code': 404}, 404)

    def do_PATCH(self):
        patch = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        NODE['metadata']['labels'].update(patch['metadata']['labels'])
        with open(LABELS, 'w', encoding='utf-8') as file:
            json.dump(NODE['metadata']['labels'], file)
        self.answer(NODE)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(('127.0.0.1', PORT), Handler).serve_forever()
