/**
 * The escape suite: thirty ways out, tried in the real sandboxes of this machine, where the service is root and where
 * it is an ordinary user. contract §10.2.
 */
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from '../../../../test/support/processes/child-program.ts';
import { ESCAPE_CASES } from '../../../../test/support/escape-cases.ts';

/** Nobody's on this machine: an ordinary user without a name. */
const ORDINARY_UID = 60_311;
const MINUTE_MS = 60_000;

interface Played {
  name: string;
  output: string;
  end: { kind: string };
}

const isRoot = process.getuid?.() === 0;
const users = isRoot ? ['root', 'an ordinary user'] : ['an ordinary user'];
if (!isRoot) console.warn('SKIPPED: escapes from a service that is root: these tests are not');

it('are thirty, each with a name of its own', () => {
  expect(new Set(ESCAPE_CASES.map(({ name }) => name)).size).toBe(30);
});

describe.each(users.flatMap((user) => ['bubblewrap', 'pid-namespace'].map((kind) => ({ user, kind }))))(
  'escapes from the sandbox "$kind" of a service that is $user',
  ({ user, kind }) => {
    const played = new Map<string, Played>();
    let sandbox: string | undefined;
    let base: string;
    beforeAll(async () => {
      base = await mkdtemp(join(tmpdir(), 'millwright-escapes-'));
      const uid = isRoot && user !== 'root' ? ORDINARY_UID : undefined;
      if (uid !== undefined) await chown(base, uid, uid);
      await chmod(base, 0o700);
      const program = startProgram('test/support/escape-program.ts', [base, kind], uid);
      if ((await program.ended) !== 0) throw new Error(`the program of the escapes failed: ${program.errors()}`);
      const [first = '{}', ...lines] = program.lines;
      sandbox = (JSON.parse(first) as { sandbox?: string }).sandbox;
      for (const line of lines) {
        const one = JSON.parse(line) as Played;
        played.set(one.name, one);
      }
    }, 3 * MINUTE_MS);
    afterAll(() => rm(base, { recursive: true, force: true }));

    it.each(ESCAPE_CASES)('cannot $name', ({ name, refused }) => {
      if (sandbox === undefined) return console.warn(`SKIPPED: "${kind}" does not work here for ${user}`);
      const { output = '', end } = played.get(name) ?? {};
      expect([name, end]).toEqual([name, expect.objectContaining({ kind: 'exited' })]);
      expect(output).not.toContain('ESCAPED');
      expect(output).not.toContain('canary');
      expect(output).toMatch(refused);
    });

    it('tries all of them', () => {
      expect(played.size).toBe(sandbox === undefined ? 0 : 30);
    });
  },
);
