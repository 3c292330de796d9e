/** What `doctor` says of the programs that verify signed commits: never more than a warning. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../config/config.ts';
import { BUILT_IN_AGENT } from '../execution/agent/agents.ts';
import type { DoctorTarget } from './doctor.ts';
import { signatures } from './programs-check.ts';

let bin: string;
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'bin-'));
});
afterEach(() => rmSync(bin, { recursive: true, force: true }));

const patient = (): DoctorTarget => ({
  config: readConfig({ PATH: bin }),
  faulty: new Set(),
  builtInAgent: BUILT_IN_AGENT,
  sandbox: Promise.reject(new Error('not looked at')),
  nowMs: Date.now,
});

it.each<{ programs: Record<string, string>; found: unknown[]; why: string }>([
  {
    programs: { git: 'git version 2.39.5', gpg: '', 'ssh-keygen': '' },
    found: [{ level: 'ok' }],
    why: 'everything is there',
  },
  {
    programs: { git: 'git version 2.39.5', 'ssh-keygen': '' },
    found: [
      { level: 'warning', message: expect.stringMatching(/^gpg .+OpenPGP/), wayOut: expect.stringContaining('gnupg') },
    ],
    why: 'no GnuPG',
  },
  {
    programs: { git: 'git version 2.39.5', gpg: '' },
    found: [
      {
        level: 'warning',
        message: expect.stringMatching(/^ssh-keygen .+SSH/),
        wayOut: expect.stringContaining('openssh-client'),
      },
    ],
    why: 'no OpenSSH',
  },
  {
    programs: { git: 'git version 2.30.2', gpg: '', 'ssh-keygen': '' },
    found: [{ level: 'warning', message: expect.stringMatching(/^git 2\.30 cannot verify/) }],
    why: 'a git that knows no SSH signatures',
  },
  { programs: {}, found: [{ level: 'warning' }, { level: 'warning' }], why: 'git itself is told of elsewhere' },
])('$why', async ({ programs, found }) => {
  for (const [name, says] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${says}\n`, { mode: 0o755 });
  const { sandbox, ...rest } = patient();
  sandbox.catch(() => undefined);
  expect(await signatures({ ...rest, sandbox })).toMatchObject(found);
});
