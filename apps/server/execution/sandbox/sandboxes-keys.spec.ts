/** Keys of the kernel: what the service has in its session's keyring, and what a run sees and reads of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callNumber, isSeccompArchitecture } from '#isolation';
import { sandboxHere, startSandboxed } from '../../../../test/support/agents/sandboxed-command.ts';
import { findTools, STANDARD_PATH } from '../../process/program.ts';
import { bubblewrapCandidates } from './sandboxes-bubblewrap.ts';
import { namespaceCandidates } from './sandboxes-namespace.ts';
import type { Sandbox, SandboxCandidate } from './sandboxes.ts';

const KEY = 'millwright-session-secret';
const { arch } = process;
const numberOf = (name: string): number => (isSeccompArchitecture(arch) ? (callNumber(name, arch) ?? 0) : 0);

/** Joins a session keyring, puts a key into it that everybody may do everything with, and becomes what follows. */
const SERVICE = [
  `my ($type, $name, $value) = ("user", "${KEY}", "payload-of-the-service");`,
  `syscall(${numberOf('keyctl')}, 1, 0);`,
  `my $id = syscall(${numberOf('add_key')}, $type, $name, $value, 22, -3);`,
  `syscall(${numberOf('keyctl')}, 5, $id, 0x3f3f0000);`,
  'exit 99 if $id < 0; $ENV{KEY_ID} = $id; exec { $ARGV[0] } @ARGV;',
].join(' ');

/** Reads the key by its number, looks for it by its name, and asks which keyring is the session's. */
const RUN = [
  '$value = "\\0" x 64; ($type, $name) = ("user", $ARGV[1]);',
  `$n = syscall(${numberOf('keyctl')}, 11, $ARGV[0] + 0, $value, 64);`,
  '$e = $! + 0; $value =~ tr/\\0//d; print "read $n $e $value\\n";',
  `$n = syscall(${numberOf('keyctl')}, 10, -3, $type, $name, 0); print "search ", $n < 0 ? "none" : "FOUND", "\\n";`,
  `$n = syscall(${numberOf('request_key')}, $type, $name, 0, 0); print "request ", $n < 0 ? "none" : "FOUND", "\\n";`,
].join(' ');

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-keys-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const tools = await findTools(['bwrap', 'unshare', 'setpriv', 'sh', 'ip', 'perl'], STANDARD_PATH);
const asRoot = process.getuid?.() === 0;
const [filtered, ...others] = bubblewrapCandidates(tools, 'bubblewrap 0.8.0', asRoot);
const unfiltered = others.find((_, index) => index === (others.length - 1) / 2);
const [namespace] = namespaceCandidates(tools, asRoot);
const bubblewrap = await sandboxHere('bubblewrap');
const found: readonly [name: string, candidate: SandboxCandidate | undefined, sandbox: Sandbox | undefined][] = [
  ['bubblewrap', filtered, bubblewrap],
  ['bubblewrap without its filter', unfiltered, bubblewrap],
  ['unshare', namespace, await sandboxHere('pid-namespace')],
];

describe.each(found)('a run in %s', (name, candidate, sandbox) => {
  it('reads no key of the service, sees none, and has none of its own', async () => {
    if (candidate === undefined || sandbox === undefined || !tools.has('perl'))
      return console.warn(`SKIPPED: keys in ${name}: it does not work on this machine`);
    const perl = tools.get('perl') as string;
    const wrap: SandboxCandidate['wrap'] = async (argv, confinement) => {
      const inside = await candidate.wrap(argv, confinement);
      return { ...inside, argv: [perl, '-e', SERVICE, '--', ...inside.argv] };
    };
    const command = await startSandboxed({ ...sandbox, ...candidate, owner: candidate.owner, wrap }, base, {
      script: `echo "key $KEY_ID"; perl -e '${RUN}' "$KEY_ID" ${KEY}; cat /proc/keys /proc/key-users; echo end`,
    });
    expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
    const said = command.text('stdout');
    expect(said).toMatch(/^key \d+\nread -1 \d+ \nsearch none\nrequest none\nend\n$/);
    if (candidate === filtered) expect(said).toContain('read -1 1 ');
  });
});
