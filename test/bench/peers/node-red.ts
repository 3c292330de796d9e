/** Node-RED with a flow of three nodes for each kind of sender. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { SeededService } from '../seeds/seeded-service.ts';
import { PROOFS, REQUESTS_MAX, secretsOf, type Found, type Proof } from './receiver.ts';

const VERSION = '4.1.8'; // the last line for Node 20

export async function nodeRed(bench: Bench, seeded: SeededService): Promise<Found> {
  const installed = join(process.env['BENCH_NODE_RED'] ?? '', 'node_modules/node-red');
  const program = join(installed, 'red.js');
  if (process.env['BENCH_NODE_RED'] === undefined || !existsSync(program))
    return (
      'Node-RED SKIPPED: BENCH_NODE_RED names no folder that it is installed in ' +
      `(npm install --prefix FOLDER node-red@${VERSION})`
    );
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { version: string };
  const secrets = secretsOf(seeded);
  const home = bench.folder('node-red-home');
  writeFileSync(
    join(home, 'settings.js'),
    "module.exports = { functionGlobalContext: { crypto: require('node:crypto') }, httpAdminRoot: false, " +
      "logging: { console: { level: 'off' } }, uiHost: '127.0.0.1' };",
  );
  writeFileSync(join(home, 'flows.json'), JSON.stringify(flowsOf(secrets)));
  const server = await bench.program(
    process.execPath,
    (port) => [program, '-u', home, '-s', join(home, 'settings.js'), '-p', String(port), join(home, 'flows.json')],
    refusesStrangers,
    { cwd: home },
  );
  return {
    name: 'Node-RED',
    server,
    databases: [],
    targets: {
      token: [{ path: '/token', secret: secrets.token }],
      github: [{ path: '/github', secret: secrets.github }],
    },
    requestsMax: REQUESTS_MAX,
    goesOn: false,
    durable: 'nothing',
    duplicates: 'no',
    signatures: 'yes',
    does: `${version}: http in, a function that compares the token or the HMAC, http response; keeps nothing`,
  };
}

/** Its flows are there; before, it knows no such path. */
async function refusesStrangers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/token`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  }).then(
    ({ status }) => status === 401,
    () => false,
  );
}

function flowsOf(secrets: Readonly<Record<Proof, string>>): object[] {
  const isValid: Readonly<Record<Proof, string>> = {
    token: `msg.req.headers.authorization === ${JSON.stringify(`Bearer ${secrets.token}`)}`,
    github:
      `msg.req.headers['x-hub-signature-256'] === 'sha256=' + global.get('crypto').createHmac('sha256', ` +
      `${JSON.stringify(secrets.github)}).update(msg.payload).digest('hex')`,
  };
  return [
    { id: 'flow', type: 'tab', label: 'webhooks' },
    ...PROOFS.flatMap((proof) => [
      {
        id: `${proof}-in`,
        type: 'http in',
        z: 'flow',
        url: `/${proof}`,
        method: 'post',
        skipBodyParsing: proof === 'github',
        wires: [[`${proof}-check`]],
      },
      {
        id: `${proof}-check`,
        type: 'function',
        z: 'flow',
        func: `msg.statusCode = ${isValid[proof]} ? 202 : 401; msg.payload = {}; return msg;`,
        outputs: 1,
        wires: [[`${proof}-out`]],
      },
      { id: `${proof}-out`, type: 'http response', z: 'flow', wires: [] },
    ]),
  ];
}
