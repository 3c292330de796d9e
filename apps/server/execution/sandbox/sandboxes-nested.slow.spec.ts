/**
 * Programs that build a sandbox of their own, or trace others, inside a run: what they say, and what makes them work.
 */
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxHere, startSandboxed } from '../../../../test/support/agents/sandboxed-command.ts';
import { findTools, STANDARD_PATH } from '../../process/program.ts';
import type { Sandbox } from './sandboxes.ts';

const CHROMIUM = '/usr/lib/chromium/chromium';
const PAGE = "--headless --disable-gpu --dump-dom 'data:text/html,<p>rendered</p>'";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-nested-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const tools = await findTools(['unshare', 'bwrap', 'strace', 'gdb'], STANDARD_PATH);
const hasChromium = await access(CHROMIUM).then(
  () => true,
  () => false,
);

for (const kind of ['bubblewrap', 'pid-namespace'] as const) {
  const sandbox = await sandboxHere(kind);
  const isFiltered = sandbox?.guarantees.calls === true;
  if (!isFiltered) console.warn(`SKIPPED: programs in the sandbox "${kind}": ${sandbox?.description ?? 'none'}`);

  (isFiltered ? describe : describe.skip)(`a run in the sandbox "${kind}"`, () => {
    /** What is printed; undefined where the program is not installed. */
    const outputOf = async (installed: boolean, script: string): Promise<string | undefined> => {
      if (!installed) console.warn(`SKIPPED: not installed: ${script}`);
      if (!installed) return undefined;
      const spec = { script: `(${script}) 2>&1; echo "end $?"`, deadlineMs: 110_000 };
      const command = await startSandboxed(sandbox as Sandbox, base, spec);
      await command.finished;
      return command.text('stdout');
    };
    const expectSaid = (said: string | undefined, expected: RegExp): void => {
      if (said !== undefined) expect(said).toMatch(expected);
    };

    it('makes no namespace of users, by whatever program', async () => {
      const script = 'unshare --user true; unshare --user --map-root-user --mount true; unshare --net true; false';
      expectSaid(await outputOf(tools.has('unshare'), script), /^(unshare: .*Operation not permitted\n){3}end 1\n$/);
    });

    it('cannot nest a sandbox of bubblewrap, which says so', async () => {
      const said = await outputOf(tools.has('bwrap'), 'bwrap --ro-bind / / --unshare-all true');
      expectSaid(said, /bwrap: .*(not permitted|disabled|namespace).*\nend 1\n$/i);
    });

    it('has a browser that names its missing sandbox, and renders without one', async () => {
      const cut = '2>&1 | grep -oE "No usable sandbox|rendered"';
      expectSaid(await outputOf(hasChromium, `${CHROMIUM} ${PAGE} ${cut}`), /^No usable sandbox\nend 0\n$/);
      const alone = `export TMPDIR=/tmp; ${CHROMIUM} --no-sandbox ${PAGE} ${cut}`;
      expectSaid(await outputOf(hasChromium, alone), /^rendered\nend 0\n$/);
    }, 240_000);

    it('traces its own processes', async () => {
      const strace = 'strace -f -e trace=execve -o /tmp/trace sh -c "/bin/echo traced" && grep -c execve /tmp/trace';
      expectSaid(await outputOf(tools.has('strace'), strace), /^traced\n2\nend 0\n$/);
      const gdb = 'gdb -q -nx -batch -ex run -ex "info inferiors" --args /bin/true';
      expectSaid(await outputOf(tools.has('gdb'), gdb), /exited normally/);
    }, 240_000);
  });
}
