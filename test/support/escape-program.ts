/**
 * Plays the escapes in the real sandbox, as the user that starts it: one JSON line for each case. Arguments: the data
 * folder, the kind of the sandbox.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { INSTALLATION_FOLDER } from '../../apps/server/execution/sandbox/installation-files.ts';
import type { SandboxKind } from '../../apps/server/execution/sandbox/sandboxes.ts';
import { ESCAPE_CASES, type EscapeTarget } from './escape-cases.ts';
import { sandboxHere, startSandboxed } from './agents/sandboxed-command.ts';

const [dataDir = '', kind = 'bubblewrap'] = process.argv.slice(2);

const listening = (where: object): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.end()).listen(where, () => resolve(server));
  });

/** A socket without a file where this Node.js can make one; else a name that nobody has. */
async function abstractSocket(): Promise<string> {
  const name = `millwright-${process.pid}`;
  await listening({ path: `\0${name}` }).catch(() => undefined);
  return name;
}

mkdirSync(join(dataDir, 'runs', 'other'), { recursive: true });
for (const file of ['secret', 'runs/other/secret']) writeFileSync(join(dataDir, file), 'canary');
process.env['CANARY_OF_THE_SERVICE'] = 'canary';
const server = await listening({ port: 0, host: '127.0.0.1' });
const target: EscapeTarget = {
  dataDir,
  installation: INSTALLATION_FOLDER,
  pid: process.pid,
  port: (server.address() as { port: number }).port,
  abstractSocket: await abstractSocket(),
};
const sandbox = await sandboxHere(kind as SandboxKind);
process.stdout.write(`${JSON.stringify({ sandbox: sandbox?.description, uid: process.getuid?.() })}\n`);
if (sandbox === undefined) process.exit(0);
for (const { name, tries } of ESCAPE_CASES) {
  const command = await startSandboxed(sandbox, dataDir, { script: tries(target) });
  const end = await command.finished;
  process.stdout.write(`${JSON.stringify({ name, end, output: command.text('stdout') + command.text('stderr') })}\n`);
}
process.exit(0);
