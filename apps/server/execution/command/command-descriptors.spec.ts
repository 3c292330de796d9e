/** What a command inherits of a service that was itself started with open descriptors: nothing. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxHere } from '../../../../test/support/agents/sandboxed-command.ts';
import { ownDescriptors } from './command-preparation.ts';
import { nodeArguments, REPOSITORY } from '../../../../test/support/processes/node-arguments.ts';

/**
 * Numbers that the service is started with: beside each other, far apart, and beyond what node looks after by itself.
 */
const INHERITED = [5, 16, 20, 21, 250];

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-descriptors-'));
  await writeFile(join(base, 'precious'), 'precious');
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** The output of a service that holds a file open under these numbers and starts one command. */
async function output(kind: string, script: string): Promise<string> {
  const precious = openSync(join(base, 'precious'), 'r');
  const stdio: ('ignore' | 'pipe' | number)[] = [
    'ignore',
    'pipe',
    'pipe',
    ...Array.from({ length: 250 }, () => 'ignore' as const),
  ];
  for (const number of INHERITED) stdio[number] = precious;
  const args = [...nodeArguments('test/support/processes/command-program.ts'), kind, join(base, 'data'), script];
  const service = spawn(process.execPath, args, { cwd: REPOSITORY, stdio, env: { PATH: process.env['PATH'] } });
  closeSync(precious);
  let text = '';
  for (const stream of [service.stdout, service.stderr])
    stream?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  await new Promise((resolve) => service.on('close', resolve));
  return text;
}

for (const kind of ['bubblewrap', 'pid-namespace', 'bare'] as const) {
  const works = (await sandboxHere(kind)) !== undefined;
  if (!works)
    console.warn(`SKIPPED: descriptors of commands in the sandbox "${kind}": it does not work on this machine`);

  (works ? describe : describe.skip)(`a command in the sandbox "${kind}"`, () => {
    it('has no descriptor that leads anywhere but to its own pipes', async () => {
      const said = await output(
        kind,
        'for n in $(seq 3 260); do [ -e /proc/$$/fd/$n ] && echo "$n $(readlink /proc/$$/fd/$n)"; done; cat ' +
          '/proc/$$/fd/20; echo done',
      );
      expect(said).toContain('done');
      expect(said).not.toContain('precious');
      expect(said.split('\n').filter((line) => /^\d+ /.test(line) && !line.endsWith(' /dev/null'))).toEqual([]);
    });
  });
}

it('asks for nothing more where nothing was inherited', () => {
  const { stdio, started } = ownDescriptors(4);
  expect(stdio.slice(0, 4)).toEqual(['pipe', 'pipe', 'pipe', 'pipe']);
  started();
});
