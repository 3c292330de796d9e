/**
 * The command harness with real commands: prompt in, output and exit code out, deadline, cancel, and its whole tree
 * gone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandSpec, type RunningCommand, startCommand } from './command.ts';
import type { ExecutionOutput } from '../executor.ts';
import { isAlive, killLeftover, processIdentity } from './process-tree.ts';
import { detectSandbox } from '../sandbox/sandboxes-detection.ts';
import { ownerOf, sendInput, type Sandbox, type SandboxKind } from '../sandbox/sandboxes.ts';
import { prepareWorkspace } from '../workspace/workspaces.ts';

const EXAMPLE = fileURLToPath(new URL('./example-agent.sh', import.meta.url));
const KINDS: readonly SandboxKind[] = ['bubblewrap', 'pid-namespace', 'bare'];

/** What works on the machine that runs the tests, found once. */
const found = new Map<SandboxKind, Sandbox | undefined>();
for (const kind of KINDS) found.set(kind, await detectSandbox({ kinds: [kind] }).catch(() => undefined));

const here = (kind: SandboxKind): typeof describe => {
  if (found.get(kind) !== undefined) return describe;
  console.warn(`SKIPPED: commands in the sandbox "${kind}": it does not work on this machine`);
  return describe.skip;
};

let base: string;
let runs = 0;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-command-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

interface Started extends RunningCommand {
  events: ExecutionOutput[];
  text(kind: ExecutionOutput['kind']): string;
  /** Resolves when the output holds the text. */
  says(text: string): Promise<void>;
  workspace: string;
  runId: string;
}

async function start(
  kind: SandboxKind,
  script: string,
  more: Partial<CommandSpec> = {},
  payload?: Uint8Array,
): Promise<Started> {
  const detected = found.get(kind);
  if (detected === undefined) throw new Error('not on this machine');
  const sandbox = { ...detected, hidden: [base] };
  // nobody else's, for processes are found by it
  const pid = String(process.pid).padStart(8, '0').slice(-8);
  const runId = `00000000-0000-7000-9000-${pid}${String((runs += 1)).padStart(4, '0')}`;
  const prompt = more.prompt ?? 'Do it.';
  const workspace = await prepareWorkspace({
    root: join(base, 'runs'),
    runId,
    epoch: 3,
    prompt,
    payload,
    owner: ownerOf(sandbox, runId),
  });
  const events: ExecutionOutput[] = [];
  let heard = (): void => undefined;
  const text = (of: ExecutionOutput['kind']): string =>
    events
      .filter((event) => event.kind === of)
      .map((event) => event.text)
      .join('');
  const onEvent = (event: ExecutionOutput): void => {
    events.push(event);
    heard();
  };
  const spec: CommandSpec = {
    command: ['sh', '-c', script],
    workspace,
    sandbox,
    prompt,
    deadlineMs: 60_000,
    onEvent,
    ...more,
  };
  const running = await startCommand(spec);
  const says = async (wanted: string): Promise<void> => {
    while (!text('stdout').includes(wanted)) await new Promise<void>((resolve) => (heard = resolve));
  };
  const { identity, finished } = running;
  const cancel = (why?: string): Promise<void> => running.cancel(why);
  return {
    identity,
    finished,
    cancel,
    kill: () => running.kill(),
    events,
    text,
    says,
    workspace: workspace.workspace,
    runId,
  };
}

/** A daemon after the book: new session, two forks, no pipes, parent gone. Writes the time it lives by into a file. */
const DAEMON =
  `setsid sh -c '(trap "" TERM HUP; while :; do date +%s%N > alive; sleep 0.05; done) >/dev/null 2>&1 </dev/null ` +
  `& exit 0'; while [ ! -s alive ]; do sleep 0.02; done`;

/** Whether anything still writes: two looks with many beats of the daemon between them. */
async function beats(folder: string): Promise<boolean> {
  const before = await readFile(join(folder, 'alive'), 'utf8');
  await new Promise((resolve) => setTimeout(resolve, 500));
  return (await readFile(join(folder, 'alive'), 'utf8')) !== before;
}

for (const kind of KINDS) {
  here(kind)(`a command in the sandbox "${kind}"`, () => {
    it.each([
      { script: 'exit 0', ending: { kind: 'exited', code: 0 }, why: 'success' },
      { script: 'exit 7', ending: { kind: 'exited', code: 7 }, why: 'failure' },
      { script: 'kill -SEGV $$', ending: { kind: 'signalled', signal: 'SIGSEGV' }, why: 'a crash' },
      { script: 'no-such-program', ending: { kind: 'exited', code: 127 }, why: 'the shell says so' },
    ])('$script ends as $ending, because $why', async ({ script, ending }) => {
      const command = await start(kind, script);
      expect(await command.finished).toEqual(ending);
    });

    it('reads the prompt on stdin and the exact payload beside it, and keeps both streams apart', async () => {
      const payload = Buffer.from('{"é": 1}\n\n');
      const command = await start(
        kind,
        'cat; cat event-payload.json >&2; cmp prompt.md - </dev/null; : > made',
        { prompt: 'Zeile 1\nZeile 2' },
        payload,
      );
      await command.finished;
      expect(command.text('stdout')).toBe('Zeile 1\nZeile 2');
      expect(command.text('stderr')).toContain('{"é": 1}\n\n');
      expect((await stat(join(command.workspace, 'made'))).isFile()).toBe(true);
    });

    it('gets a small environment that says which run and execution it is', async () => {
      const facts = { mode: 'plan', interactive: false, conversationId: 'c', parentRunId: 'p' };
      const command = await start(
        kind,
        'env; umask; ls -d "$MILLWRIGHT_ARTIFACTS" "$MILLWRIGHT_ATTACHMENTS"; echo x >"$MILLWRIGHT_ARTIFACTS/x"',
        { env: { EXTRA_TOKEN: 'long-enough-token' }, facts },
      );
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
      const names = [...command.text('stdout').matchAll(/^(\w+)=/gm)]
        .map(([, name]) => name)
        .filter((name) => name !== '_' && name !== 'PWD');
      expect(names.sort()).toEqual([
        'EXTRA_TOKEN',
        'HOME',
        'LANG',
        'MILLWRIGHT_ARTIFACTS',
        'MILLWRIGHT_ATTACHMENTS',
        'MILLWRIGHT_CONVERSATION_ID',
        'MILLWRIGHT_EXECUTION_EPOCH',
        'MILLWRIGHT_INTERACTIVE',
        'MILLWRIGHT_PARENT_RUN_ID',
        'MILLWRIGHT_RUN_ID',
        'MILLWRIGHT_RUN_MODE',
        'PATH',
        'SHELL',
        'TMPDIR',
      ]);
      expect(command.text('stdout')).toContain(`MILLWRIGHT_RUN_ID=${command.runId}\n`);
      expect(command.text('stdout')).toContain('MILLWRIGHT_EXECUTION_EPOCH=3\n');
    });

    it('does not fall over a prompt that nobody reads', async () => {
      const command = await start(kind, 'exec 0<&-; sleep 0.1; echo done', { prompt: 'x'.repeat(2_000_000) });
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
      expect(command.text('stdout')).toBe('done\n');
    });

    it('has its secrets hidden in everything it prints', async () => {
      const token = 'sk-0123456789abcdef';
      const script =
        'echo "$API_TOKEN"; printf "%s" "$API_TOKEN" | base64 >&2; printf sk-01234; sleep 0.2; echo 56789abcdef';
      const command = await start(kind, script, { env: { API_TOKEN: token }, secretValues: [token] });
      await command.finished;
      expect(command.text('stdout')).toBe('[redacted]\n[redacted]\n');
      expect(command.text('stderr')).toMatch(/^\[redacted\].{0,3}\n$/);
    });

    it('may print far more than is kept, without growing the service or standing still', async () => {
      const command = await start(kind, 'echo first; head -c 50000000 /dev/zero | tr "\\0" x; echo; echo last', {
        outputBytesMax: 100_000,
      });
      const before = process.memoryUsage().rss;
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
      expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
      expect(command.text('stdout').length).toBeLessThanOrEqual(100_000);
      expect(command.text('stdout')).toMatch(/^first\nx+\nlast\n$/);
      expect(command.text('status')).toMatch(/… \d+ bytes of output left out …$/);
    });

    it('is ended at its deadline', async () => {
      const command = await start(kind, 'echo working; exec sleep 60', { deadlineMs: 700, graceMs: 2_000 });
      expect(await command.finished).toEqual({ kind: 'deadline' });
      expect(command.text('status')).toContain('deadline');
    });

    it('is asked first when it is cancelled, and may clean up', async () => {
      const command = await start(kind, 'trap "echo cleaned; exit 0" TERM; echo ready; while :; do sleep 0.05; done');
      await command.says('ready');
      await command.cancel();
      expect(await command.finished).toEqual({ kind: 'cancelled' });
      expect(command.text('stdout')).toBe('ready\ncleaned\n');
      await command.cancel();
    });

    it('is killed when it does not listen, daemons included, before cancel comes back', async () => {
      const command = await start(kind, `trap "" TERM; ${DAEMON}; echo ready; while :; do sleep 1; done`, {
        graceMs: 200,
      });
      await command.says('ready');
      await Promise.all([command.cancel(), command.cancel()]);
      expect(await beats(command.workspace)).toBe(false);
      expect(await command.finished).toEqual({ kind: 'cancelled' });
      expect(command.identity === undefined || isAlive(command.identity)).toBe(false);
    });

    it('can be cancelled before it has done anything', async () => {
      const command = await start(kind, 'exec sleep 60');
      await command.cancel();
      expect(await command.finished).toEqual({ kind: 'cancelled' });
    });

    it('leaves no daemon behind when it ends by itself', async () => {
      const command = await start(kind, `${DAEMON}; exit 3`);
      expect(await command.finished).toEqual({ kind: 'exited', code: 3 });
      expect(await beats(command.workspace)).toBe(false);
    });

    it('can be ended by a service that only knows what it stored', async () => {
      const command = await start(kind, `${DAEMON}; echo ready; while :; do sleep 1; done`);
      await command.says('ready');
      const stored = JSON.stringify(command.identity);
      await killLeftover(JSON.parse(stored) as NonNullable<typeof command.identity>, command.runId);
      expect(await beats(command.workspace)).toBe(false);
      expect((await command.finished).kind).toBe('signalled');
    });

    it.each([
      { command: ['no-such-program'], message: 'is not installed', why: 'it is in no folder of the path' },
      { command: ['/no/such/program'], message: 'does not exist', why: 'there is no such file' },
      { command: ['./relative'], message: 'absolute path', why: 'relative to what?' },
      { command: [], message: 'no command', why: 'there is none' },
    ])('$command cannot be started, because $why', async ({ command, message }) => {
      const running = await start(kind, '', { command });
      expect(await running.finished).toEqual({ kind: 'spawn-failed', message: expect.stringContaining(message) });
      expect(running.text('status')).toContain(message);
      await running.cancel();
    });

    it('takes no variable that steers loader, shell or service, and repeats no value', async () => {
      const refused = await start(kind, 'true', { env: { LD_PRELOAD: '/evil/value.so' } });
      expect(await refused.finished).toMatchObject({
        kind: 'spawn-failed',
        message: expect.stringContaining('LD_PRELOAD'),
      });
      const unspeakable = await start(kind, 'true', { env: { API_TOKEN: 'evil\0value' } });
      expect(await unspeakable.finished).toMatchObject({ kind: 'spawn-failed' });
      expect(JSON.stringify([refused.events, unspeakable.events])).not.toContain('evil');
    });

    it('has the kernel’s limits', async () => {
      const limits = { processesMax: 500, fileBytesMax: 1_000_000, openFilesMax: 64 };
      const command = await start(kind, 'ulimit -n; ulimit -c; head -c 2000000 /dev/zero > big; wc -c < big', {
        limits,
      });
      await command.finished;
      expect(command.text('stdout').trim().split(/\s+/)).toEqual(['64', '0', '1000000']);
    });

    it('can be the example: it reports prompt and payload', async () => {
      const payload = Buffer.from(
        JSON.stringify({ action: 'opened', issue: { title: 'a "b" {' }, 'x:y': [1, { z: 2 }] }),
      );
      const command = await start(
        kind,
        '',
        { command: ['/bin/sh', EXAMPLE], prompt: '\nTriage the issue.\nMore.' },
        payload,
      );
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
      expect(command.text('stdout')).toContain('Prompt: Triage the issue.\n');
      const report = await readFile(join(command.workspace, 'report.md'), 'utf8');
      expect(report).toContain('Triage the issue.');
      expect(report).toContain(`event-payload.json: ${payload.length} bytes.`);
      expect(report.match(/^- .*$/gm)).toEqual(['- `action`', '- `issue`', '- `x:y`']);
    });
  });
}

for (const kind of ['bubblewrap', 'pid-namespace'] as const) {
  const sandbox = found.get(kind);
  const confined = sandbox?.guarantees.files === true && sandbox.guarantees.network;
  const describeIt = confined ? describe : describe.skip;
  if (sandbox !== undefined && !confined)
    console.warn(`SKIPPED: isolation of files and network by "${kind}": ${sandbox.description}`);

  describeIt(`isolation by the sandbox "${kind}"`, () => {
    it('shows nothing of the data folder but the run’s own folders', async () => {
      await writeFile(join(base, 'master.key'), 'the-master-key', { mode: 0o644 });
      await prepareWorkspace({
        root: join(base, 'runs'),
        runId: '00000000-0000-7000-8000-ffffffffffff',
        epoch: 1,
        prompt: 'of another run',
      });
      const script =
        `cat ${base}/master.key; ls ${base} ${base}/runs; cat ${base}/runs/*/workspace/prompt.md; cat ` +
        `/proc/1/root${base}/master.key; ls -d /root /home /var /run /etc/shadow`;
      const command = await start(kind, script, { prompt: 'mine' });
      await command.finished;
      expect(command.text('stdout')).not.toContain('the-master-key');
      expect(command.text('stdout')).not.toContain('master.key');
      expect(command.text('stdout')).not.toContain('ffffffffffff');
      expect(command.text('stdout')).not.toContain('another run');
      expect(command.text('stdout')).toContain('mine');
      expect(command.text('stdout')).not.toMatch(/^\/(root|home|var|run|etc)/m);
    });

    it('refuses a command that lies in the data folder', async () => {
      await writeFile(join(base, 'agent.sh'), '#!/bin/sh\n', { mode: 0o755 });
      const command = await start(kind, '', { command: [join(base, 'agent.sh')] });
      expect(await command.finished).toEqual({
        kind: 'spawn-failed',
        message: expect.stringContaining('move it out of the data folder'),
      });
    });

    it('shows the files that the operator’s words name, and none that another word names', async () => {
      const outside = await mkdtemp(join(tmpdir(), 'millwright-outside-'));
      const file = join(outside, 'file');
      await chmod(outside, 0o755);
      await writeFile(file, 'of the machine', { mode: 0o644 });
      const named = await start(kind, '', { command: ['cat', file] });
      expect([await named.finished, named.text('stdout')]).toEqual([{ kind: 'exited', code: 0 }, 'of the machine']);
      const wished = await start(kind, '', { command: ['cat', file], operatorWords: ['cat'] });
      expect([await wished.finished, wished.text('stdout')]).toEqual([{ kind: 'exited', code: 1 }, '']);
      await rm(outside, { recursive: true });
    });

    it('cannot reach a server on this machine', async () => {
      const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const connect =
        `const s = require('node:net').connect(${port}, '127.0.0.1'); s.on('data', (d) => ` +
        `console.log(String(d))); s.on('error', (e) => console.log(e.code));`;
      const spec = { command: [process.execPath, '-e', connect] };
      const isolated = await start(kind, '', spec);
      await isolated.finished;
      const open = await start(kind, '', { ...spec, network: 'host' });
      await open.finished;
      server.close();
      expect(isolated.text('stdout')).toMatch(/^E[A-Z]+\n$/);
      expect(open.text('stdout')).toBe('reached\n');
    });

    it('sees no process but its own and has nothing left to gain power with', async () => {
      const self = processIdentity(process.pid);
      const command = await start(
        kind,
        'ls -d /proc/[0-9]*; grep -E "Cap(Prm|Eff|Bnd)|NoNewPrivs" /proc/self/status; touch /usr/x /x /dev/x ' +
          '2>/dev/null; umount /tmp; ls /x /dev/x; : > /dev/shm/y && ls /dev/shm/y',
      );
      await command.finished;
      expect(command.text('stdout').match(/^\/proc\/\d+$/gm)?.length).toBeLessThan(10);
      expect(command.text('stdout')).not.toContain(`/proc/${self?.pid}\n`);
      expect(command.text('stdout').match(/^Cap\w+:\s+0+$/gm)).toHaveLength(3);
      expect(command.text('stdout')).toContain('NoNewPrivs:\t1');
      expect(command.text('stdout')).not.toMatch(/\/x$/m);
      expect(command.text('stdout')).toMatch(/^\/dev\/shm\/y$/m);
    });

    it('ends a daemon too that has forgotten where it came from', async () => {
      const command = await start(kind, `exec env -i PATH="$PATH" sh -c '${DAEMON.replaceAll("'", `'\\''`)}'`);
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
      expect(await beats(command.workspace)).toBe(false);
    });

    // In a user namespace unshare forgets to die with its parent; there the stored identity is what ends it.
    const diesWithService = kind === 'bubblewrap' || sandbox?.owner !== undefined;
    if (confined && !diesWithService)
      console.warn(`SKIPPED: the end of "${kind}" with a killed service: ${sandbox?.description}`);
    (diesWithService ? describe : describe.skip)('when the service is killed', () => {
      it('ends with the service', async () => {
        if (sandbox === undefined) return;
        const runId = '00000000-0000-7000-8000-eeeeeeeeeeee';
        const workspace = await prepareWorkspace({
          root: join(base, 'runs'),
          runId,
          epoch: 1,
          prompt: '',
          owner: ownerOf(sandbox, runId),
        });
        const inside = ['/bin/sh', '-c', `${DAEMON}; echo ready; sleep 60`] as const;
        const { argv, input } = await sandbox.wrap(inside, {
          workspace,
          network: 'none',
          hidden: [base],
          readOnly: [],
          words: [],
        });
        const service = spawn('sh', ['-c', '"$@" 3>/dev/null & exec 4<&-; wait', 'service', ...argv], {
          stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'],
        });
        sendInput(service, input ?? new Uint8Array(0));
        if (service.stdout === null) throw new Error('standard output is a pipe');
        await once(service.stdout, 'data');
        while (!(await beats(workspace.workspace)));
        service.kill('SIGKILL');
        await once(service, 'close');
        while (await beats(workspace.workspace));
      });
    });

    it('keeps HOME for the next execution', async () => {
      const command = await start(kind, 'echo kept > "$HOME/session"; echo "$HOME"; pwd; : > "$TMPDIR/x"; : > /tmp/y');
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
      const [home = '', folder = ''] = command.text('stdout').split('\n');
      expect(await readFile(join(home, 'session'), 'utf8')).toBe('kept\n');
      expect(folder).toBe(command.workspace);
    });
  });
}
