/**
 * Repositories that mean harm: refused with a position or left alone, bounded in time and memory, with nothing of them
 * executed. contract §8, §9.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGitSource } from '../../../apps/server/sync/sources/git/git-source.ts';
import { automationPath, deliver, webhookFile, webhookPath } from '../../support/factories/factory-files.ts';
import { environment, type CommittedEntry } from '../../support/git/git-repository.ts';
import { startGitServer, type GitServer, type TestRepository } from '../../support/git/git-server.ts';
import {
  commitTree,
  fastImport,
  writeObject,
  writeTree,
  writeZeros,
  type RawEntry,
} from '../../support/git/raw-objects.ts';
import { call } from '../../support/services/recorded-io.ts';
import { eventually } from '../../support/services/service.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/services/service-process.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const GOOD = webhookFile('hook-token');
/**
 * What a pass over the worst of them may add to the service's memory: the bounds of a tree (tree-bounds.ts) allow about
 * as much.
 */
const MEMORY_BYTES_MAX = 300 * 1024 * 1024;
const RIGHT_TO_LEFT = '\u202e';

interface Position {
  path: string;
  rule: string;
  line: number;
  column: number;
}

interface Outcome {
  ending: string;
  reason: string | null;
  message: string | null;
  problems: Position[];
}

let git: GitServer;
let folder: string;
let service: ServiceProcess;
let marker: string;
let grownBytes: number;
const answered: number[] = [];
const outcomes = new Map<string, Outcome>();

/** Commits hostile files beside a good one. */
const files =
  (entries: Record<string, CommittedEntry>) =>
  (repository: TestRepository): void =>
    void repository.commit({ [webhookPath('ok')]: GOOD, ...entries });

const automation = (frontMatter: string): string => `${frontMatter}\nDo it.\n`;

function hostileFiles(): Record<string, CommittedEntry> {
  return {
    '.gitattributes': `* filter=evil diff=evil merge=evil\n[attr]binary -diff\n`,
    '.gitmodules': `[submodule "x"]\n\tpath = webhooks/module.yaml\n\turl = ../elsewhere\n\tupdate = checkout\n`,
    '.gitconfig':
      `[include]\n\tpath = /etc/passwd\n[filter "evil"]\n\tsmudge = touch ${marker}\n\tprocess = touch ${marker}` +
      `\n[core]\n\tfsmonitor = touch ${marker}\n`,
    'hooks/post-checkout': `#!/bin/sh\ntouch ${marker}\n`,
    [webhookPath('link')]: { symlink: '/etc/passwd' },
    [webhookPath('up')]: { symlink: '../../../../etc/passwd' },
    'automations/linked': { symlink: '/etc' },
    [webhookPath('module')]: { submodule: '1'.repeat(40) },
    'webhooks/two\nlines.yaml': GOOD,
    'webhooks/ta\tb.yaml': GOOD,
    'webhooks/"quoted".yaml': GOOD,
    'webhooks/-rf.yaml': GOOD,
    [`webhooks/${RIGHT_TO_LEFT}lmay.yaml`]: GOOD,
    'webhooks/\u001b[31m.yaml': GOOD,
    'latin1:webhooks/\xff\xfe.yaml': GOOD,
    'webhooks/OK.yaml': GOOD,
    'WebHooks/ok.yaml': GOOD,
    [automationPath('js')]: automation(`---js\nrequire('node:fs').writeFileSync('${marker}', '')\n---`),
    [automationPath('coffee')]: automation('---coffee\nx: 1\n---'),
    [automationPath('json')]: automation('---json\n{}\n---'),
    [webhookPath('alias-bomb')]: `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from(
      { length: 9 },
      (_, at) =>
        `b${at}: &b${at} [${Array(9)
          .fill(at === 0 ? '*a' : `*b${at - 1}`)
          .join(',')}]\n`,
    ).join('')}`,
    [webhookPath('merge')]: 'x: &x {a: 1}\n<<: *x\n',
    [webhookPath('tag')]: 'secretName: !!js/function "function(){}"\n',
    [webhookPath('proto')]: '__proto__: {enabled: true}\nsecretName: hook-token\n',
    [webhookPath('flow')]: `secretName: ${'['.repeat(256)}${']'.repeat(256)}\n`,
    [webhookPath('json-flow')]: `{"secretName": ${'{"a":'.repeat(256)}1${'}'.repeat(256)}}\n`,
    [webhookPath('block')]:
      `secretName:\n${Array.from({ length: 256 }, (_, at) => `${' '.repeat(at + 1)}a:\n`).join('')}`,
    [webhookPath('very-deep')]: `secretName: ${'['.repeat(40_000)}\n`,
    [webhookPath('deep-list')]: `secretName:\n  ${'- '.repeat(9_000)}x\n`,
    [webhookPath('one-line')]: `secretName: ${'x'.repeat(10_000_000)}\n`,
    [webhookPath('nul')]: 'secretName: hook\0token\n',
    [webhookPath('bom')]: `\ufeff${GOOD}`,
    [webhookPath('cr')]: 'secretName: hook-token\renabled: maybe\r',
    [webhookPath('bidi')]:
      `secretName: hook-token\ndescription: "ab${RIGHT_TO_LEFT}dc"\nenabled: ${RIGHT_TO_LEFT}true\n`,
    [webhookPath('utf16')]: Buffer.from(`\ufeff${GOOD}`, 'utf16le'),
    [webhookPath('colons')]: ':'.repeat(200_000),
    [webhookPath('dashes')]: '- '.repeat(100_000),
    [webhookPath('questions')]: '? '.repeat(100_000),
    [webhookPath('quotes')]: `secretName: "${'\\x41'.repeat(60_000)}\n`,
  };
}

/** Where each of them is refused. */
const REFUSED: readonly string[] = [
  String.raw`"WebHooks/ok.yaml" 1:1 wrong-place`,
  String.raw`"automations/coffee/automation.md" 1:1 front-matter-language`,
  String.raw`"automations/js/automation.md" 1:1 front-matter-language`,
  String.raw`"automations/json/automation.md" 1:1 front-matter-language`,
  String.raw`"automations/linked" 1:1 not-a-file`,
  String.raw`"webhooks/\u001b[31m.yaml" 1:1 bad-name`,
  String.raw`"webhooks/\"quoted\".yaml" 1:1 bad-name`,
  String.raw`"webhooks/-rf.yaml" 1:1 bad-name`,
  String.raw`"webhooks/OK.yaml" 1:1 bad-name`,
  String.raw`"webhooks/\\xff\\xfe.yaml" 1:1 bad-name`,
  String.raw`"webhooks/alias-bomb.yaml" 1:7 yaml-anchor`,
  String.raw`"webhooks/bidi.yaml" 3:10 wrong-type`,
  String.raw`"webhooks/block.yaml" 2:2 wrong-type`,
  String.raw`"webhooks/block.yaml" 65:65 yaml-nesting`,
  String.raw`"webhooks/bom.yaml" 1:1 byte-order-mark`,
  String.raw`"webhooks/colons.yaml" 1:1 yaml-syntax`,
  String.raw`"webhooks/cr.yaml" 1:13 yaml-syntax`,
  String.raw`"webhooks/dashes.yaml" 1:1023 yaml-nesting`,
  String.raw`"webhooks/flow.yaml" 1:13 wrong-type`,
  String.raw`"webhooks/flow.yaml" 1:76 yaml-nesting`,
  String.raw`"webhooks/json-flow.yaml" 1:16 wrong-type`,
  String.raw`"webhooks/json-flow.yaml" 1:331 yaml-nesting`,
  String.raw`"webhooks/link.yaml" 1:1 not-a-file`,
  String.raw`"webhooks/merge.yaml" 1:1 missing-key`,
  String.raw`"webhooks/merge.yaml" 1:1 unknown-key`,
  String.raw`"webhooks/merge.yaml" 1:7 yaml-anchor`,
  String.raw`"webhooks/merge.yaml" 2:1 yaml-merge-key`,
  String.raw`"webhooks/module.yaml" 1:1 not-a-file`,
  String.raw`"webhooks/nul.yaml" 1:17 nul-character`,
  String.raw`"webhooks/one-line.yaml" 1:1 file-too-large`,
  String.raw`"webhooks/proto.yaml" 1:1 unknown-key`,
  String.raw`"webhooks/questions.yaml" 1:1023 yaml-nesting`,
  String.raw`"webhooks/quotes.yaml" 2:1 yaml-syntax`,
  String.raw`"webhooks/ta\tb.yaml" 1:1 bad-name`,
  String.raw`"webhooks/tag.yaml" 1:27 yaml-tag`,
  String.raw`"webhooks/two\nlines.yaml" 1:1 bad-name`,
  String.raw`"webhooks/up.yaml" 1:1 not-a-file`,
  String.raw`"webhooks/utf16.yaml" 1:1 not-utf8`,
  String.raw`"webhooks/very-deep.yaml" 1:523 yaml-nesting`,
  `"webhooks/${RIGHT_TO_LEFT}lmay.yaml" 1:1 bad-name`,
  String.raw`"webhooks/deep-list.yaml" 2:1023 yaml-nesting`,
];

/** Commits the tree as one folder of definitions. */
const asFolder =
  (folderName: string, text: string) =>
  (tree: (repository: TestRepository, blob: string) => string) =>
  (repository: TestRepository): void =>
    commitTree(
      repository,
      writeTree(repository, [['40000', folderName, tree(repository, writeObject(repository, 'blob', text))]]),
    );
const asWebhooks = asFolder('webhooks', GOOD);
const asEnvironments = asFolder('environments', 'description: one of many\n');

const entries = (count: number, name: (at: number) => string, object: string): RawEntry[] =>
  Array.from({ length: count }, (_, at): RawEntry => ['100644', name(at), object]).sort(([, left], [, right]) =>
    String(left) < String(right) ? -1 : 1,
  );

/** The same folder ten times in a folder, ten times over: ten thousand million files in a dozen objects. */
function treeBomb(repository: TestRepository, blob: string): string {
  let tree = writeTree(repository, [['100644', 'a.yaml', blob]]);
  for (let level = 0; level < 10; level += 1)
    tree = writeTree(
      repository,
      Array.from({ length: 10 }, (_, at): RawEntry => ['40000', `d${at}`, tree]),
    );
  return tree;
}

function manyCommits(count: number): string {
  return Array.from(
    { length: count },
    (_, at) =>
      `commit refs/heads/main\ncommitter T <t@example.com> ${1_600_000_000 + at} +0000\ndata 1\nx\nM 100644 ` +
      `inline webhooks/ok.yaml\ndata ${GOOD.length + 10}\n${GOOD}# ${String(at).padStart(7, '0')}\n\n`,
  ).join('');
}

type Case = readonly [
  name: string,
  make: (repository: TestRepository) => void,
  expected: { ending: string; reason?: string; message?: unknown; problems?: Partial<Position>[] },
];

const applied = { ending: 'applied', problems: [] };
const refused = (message: RegExp): Case[2] => ({
  ending: 'failed',
  reason: 'refused',
  message: expect.stringMatching(message),
});

const CASES: readonly Case[] = [
  [
    '100,000 files beside the definitions',
    (repository) => {
      const blob = writeObject(repository, 'blob', GOOD);
      const docs = writeTree(
        repository,
        entries(99_999, (at) => `d${at}`, blob),
      );
      commitTree(
        repository,
        writeTree(repository, [
          ['40000', 'docs', docs],
          ['40000', 'webhooks', writeTree(repository, [['100644', 'ok.yaml', blob]])],
        ]),
      );
    },
    applied,
  ],
  [
    '100,001 files',
    asWebhooks((repository, blob) =>
      writeTree(
        repository,
        entries(100_001, (at) => `d${at}.yaml`, blob),
      ),
    ),
    refused(/more than 100000 entries; name a folder/),
  ],
  [
    '100,000 definition files',
    asEnvironments((repository, blob) =>
      writeTree(
        repository,
        entries(100_000, (at) => `d${at}.yaml`, blob),
      ),
    ),
    { ending: 'blocked', reason: 'definitions-invalid', problems: [{ rule: 'too-many-files', line: 1, column: 1 }] },
  ],
  [
    '2,001 definition files',
    asEnvironments((repository, blob) =>
      writeTree(
        repository,
        entries(2_001, (at) => `d${String(at).padStart(4, '0')}.yaml`, blob),
      ),
    ),
    { ending: 'blocked', problems: [{ path: 'environments/d2000.yaml', rule: 'too-many-files', line: 1, column: 1 }] },
  ],
  [
    'a folder that holds itself ten thousand million times',
    asWebhooks(treeBomb),
    refused(/longer than what is read.*Name a smaller folder/),
  ],
  [
    '10,000 folders in one another',
    (repository) =>
      fastImport(
        repository,
        `commit refs/heads/main\ncommitter T <t@example.com> 1700000000 +0000\ndata 1\nx\nM 100644 inline ` +
          `${'d/'.repeat(10_000)}f\ndata 1\nx\nM 100644 inline webhooks/ok.yaml\ndata ${GOOD.length}\n${GOOD}\n`,
      ),
    refused(/path of more than 4096 bytes|nested too deep/),
  ],
  [
    'a path of 5,000 bytes',
    files({ [`webhooks/${'a'.repeat(5_000)}.yaml`]: GOOD }),
    refused(/path of more than 4096 bytes/),
  ],
  [
    'a folder called ..',
    asWebhooks((repository, blob) =>
      writeTree(repository, [['40000', '..', writeTree(repository, [['100644', 'a.yaml', blob]])]]),
    ),
    refused(/hasDotdot/),
  ],
  [
    'a folder called .git',
    asWebhooks((repository, blob) =>
      writeTree(repository, [['40000', '.git', writeTree(repository, [['100644', 'config', blob]])]]),
    ),
    refused(/hasDotgit/),
  ],
  [
    'a name with a slash',
    (repository) =>
      commitTree(
        repository,
        writeTree(repository, [['100644', 'webhooks/../../x.yaml', writeObject(repository, 'blob', GOOD)]]),
      ),
    refused(/fullPathname/),
  ],
  [
    'one name twice',
    asWebhooks((repository, blob) =>
      writeTree(repository, [
        ['100644', 'a.yaml', blob],
        ['100644', 'a.yaml', blob],
      ]),
    ),
    refused(/duplicateEntries/),
  ],
  [
    'a folder that is called a file',
    asWebhooks((repository, blob) =>
      writeTree(repository, [['100644', 'a.yaml', writeTree(repository, [['100644', 'x', blob]])]]),
    ),
    refused(/a file entry that is no file/),
  ],
  [
    'a commit in an encoding that does not exist',
    (repository) => {
      const blob = writeObject(repository, 'blob', GOOD);
      commitTree(
        repository,
        writeTree(repository, [['40000', 'webhooks', writeTree(repository, [['100644', 'ok.yaml', blob]])]]),
        { header: 'encoding \xff\xfe-none\n', message: Buffer.from([0xff, 0xfe, 0x1b, 0x5b, 0x32, 0x4a]) },
      );
    },
    applied,
  ],
  ['50,000 commits', (repository) => fastImport(repository, manyCommits(50_000)), applied],
  [
    'a gigabyte in a definition file',
    (repository) => {
      const [blob, zeros] = [writeObject(repository, 'blob', GOOD), writeZeros(repository, 1024)];
      commitTree(
        repository,
        writeTree(repository, [
          [
            '40000',
            'webhooks',
            writeTree(repository, [
              ['100644', 'big.yaml', zeros],
              ['100644', 'ok.yaml', blob],
            ]),
          ],
        ]),
      );
    },
    { ending: 'blocked', problems: [{ path: 'webhooks/big.yaml', rule: 'file-too-large', line: 1, column: 1 }] },
  ],
  ['64 megabytes of noise beside the definitions', files({ 'assets/noise': randomBytes(64_000_000) }), applied],
  [
    'hostile files',
    (repository) => void repository.commit(hostileFiles()),
    { ending: 'blocked', reason: 'definitions-invalid' },
  ],
];

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  marker = join(folder, 'executed');
  git = await startGitServer();
  for (const [name, make] of CASES) make(git.createRepository(slugOf(name)));
  git.createRepository('well').commit({ [webhookPath('orders')]: GOOD });
  service = await startServiceProcess(join(folder, 'service'), {
    MILLWRIGHT_GIT_CA_FILE: git.caFile,
    MILLWRIGHT_SYNC_INTERVAL: '3600',
  });
  await service.api('PUT', '/secrets/hook-token', { value: TOKEN });
  const well = await follow('well');
  const { webhooks } = (await service.api('GET', `/factory/${well}/webhooks`)) as {
    webhooks: { ingress_url: string }[];
  };
  const before = memoryBytes('VmRSS');
  const stopDelivering = keepDelivering(webhooks[0]?.ingress_url ?? '');
  const left = [...CASES];
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift())
      outcomes.set(one[0], await outcomeOf(await follow(slugOf(one[0]))));
  };
  await Promise.all([next(), next(), next()]);
  await stopDelivering();
  grownBytes = memoryBytes('VmHWM') - before;
}, 180_000);

afterAll(async () => {
  service.signal('SIGTERM');
  await service.ended;
  await git.close();
  rmSync(folder, { recursive: true, force: true });
});

async function follow(slug: string): Promise<string> {
  const { uid } = await service.api('POST', '/factory', {
    slug,
    source: { kind: 'git', url: git.urlOf(slug), branch: 'main' },
  });
  await eventually(
    `the first pass of ${slug}`,
    async () =>
      ((await service.api('GET', `/factory/${String(uid)}/syncs`))['syncs'] as unknown[]).length > 0 ? true : undefined,
    150_000,
  );
  return String(uid);
}

async function outcomeOf(uid: string): Promise<Outcome> {
  const { syncs } = (await service.api('GET', `/factory/${uid}/syncs`)) as { syncs: (Outcome & { id: string })[] };
  return (await service.api('GET', `/factory/${uid}/syncs/${syncs.at(-1)?.id}`)) as unknown as Outcome;
}

/** A delivery a second, which the slots of a webhook allow; the answer says when it is over. */
function keepDelivering(url: string): () => Promise<void> {
  const over = new AbortController();
  const loop = (async () => {
    while (!over.signal.aborted) {
      answered.push((await deliver(url, TOKEN)).status);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
  })();
  return async () => {
    over.abort();
    await loop;
  };
}

function memoryBytes(field: 'VmRSS' | 'VmHWM'): number {
  const line = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) * 1024;
}

/** The first problem of each rule in each file, in order; too many webhooks are none of what is looked at here. */
function positionsOf(problems: readonly Position[]): string[] {
  const firsts = new Map<string, string>();
  for (const { path, rule, line, column } of problems) {
    const key = `${path}\0${rule}`;
    if (rule !== 'webhook-quota' && !firsts.has(key))
      firsts.set(key, `${JSON.stringify(path)} ${line}:${column} ${rule}`);
  }
  return [...firsts.values()].sort();
}

it.each(CASES)('%s', (name, _make, { problems, ...expected }) => {
  const outcome = outcomes.get(name);
  expect(outcome).toMatchObject(expected);
  if (problems === undefined) return;
  expect(outcome?.problems).toHaveLength(problems.length);
  expect(outcome?.problems).toMatchObject(problems);
});

describe('hostile files', () => {
  const found = (): string[] => positionsOf(outcomes.get('hostile files')?.problems ?? []);

  it('are refused where they stand', () => {
    expect(found()).toEqual([...REFUSED].sort());
  });

  it('are refused by millwright validate as by the service', async () => {
    const checkout = join(folder, 'checkout');
    mkdirSync(checkout);
    const at = { cwd: checkout, env: environment(), stdio: 'pipe' as const };
    execFileSync('git', ['clone', '--quiet', '--no-checkout', join(git.root, 'hostile-files'), '.'], at);
    execFileSync('git', ['checkout', '--force', 'main'], at);
    const { code, out } = await call(['validate', checkout, '--format', 'json']);
    expect(code).toBe(1);
    // A checkout has no submodule that was not asked for, and a name that is not UTF-8 reads otherwise.
    const comparable = (positions: readonly string[]): string[] =>
      positions.filter((position) => !/module\.yaml|\\\\xff|\ufffd/.test(position));
    const { diagnostics: problems } = JSON.parse(out) as { diagnostics: Position[] };
    expect(comparable(positionsOf(problems))).toEqual(comparable(found()));
    expect(positionsOf(problems).filter((position) => position.includes('\ufffd'))).toHaveLength(1);
    for (const format of ['text', 'github', 'sarif', 'junit']) {
      const printed = await call(['validate', checkout, '--format', format]);
      expect(printed.code).toBe(1);
      expect(printed.out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/);
    }
  });

  it('are refused by a plan as by the service, as far as a request can hold them', async () => {
    const texts = Object.entries(hostileFiles()).flatMap(([path, content]) =>
      typeof content === 'string' && content.length < 40_000 && !path.startsWith('latin1:') ? [{ path, content }] : [],
    );
    const { uid } = (
      (await service.api('GET', '/factory?search=hostile-files'))['factories'] as { uid: string }[]
    )[0] ?? { uid: '' };
    const { problems } = (await service.api('POST', `/factory/${uid}/plan`, { files: texts })) as {
      problems: Position[];
    };
    const paths = new Set(texts.map(({ path }) => JSON.stringify(path)));
    expect(positionsOf(problems)).toEqual(
      found().filter((position) => paths.has(position.slice(0, position.lastIndexOf('" ') + 1))),
    );
  });
});

describe('a repository that sends more than is read', () => {
  it.each([
    ['in the files that are asked for', {}, {}],
    ['to a source that cannot leave files out', { filter: false }, {}],
    ['in its history', {}, { name: 'history' }],
  ])('%s is refused, and nothing of it stays on the disk', async (what, options, { name }: { name?: string }) => {
    const slug = slugOf(what);
    const repository = git.createRepository(slug, options);
    const noise = randomBytes(name === undefined ? 1_000_000 : 20);
    const names =
      name === undefined
        ? {}
        : Object.fromEntries(Array.from({ length: 5_000 }, () => [`docs/${randomBytes(20).toString('hex')}`, '']));
    repository.commit({ ...names, [webhookPath('ok')]: GOOD, [webhookPath('noise')]: noise });
    const cacheDir = join(folder, slug);
    const source = createGitSource({
      url: git.urlOf(slug),
      cacheDir,
      caFile: git.caFile,
      allowLocal: false,
      timeoutMs: 60_000,
      fetchBytesMax: 100_000,
      gate: (run) => run(),
    });
    const snapshot = await source.snapshot({}, new AbortController().signal);
    await source.close();
    expect(snapshot).toMatchObject({
      ok: false,
      reason: 'refused',
      message: expect.stringMatching(/sends more than .* take large files out of its history/),
    });
    expect(readdirSync(cacheDir, { recursive: true }).filter((file) => String(file).includes('tmp_'))).toEqual([]);
  });
});

it('nothing of them is executed', () => {
  expect(existsSync(marker)).toBe(false);
});

it('deliveries are answered all the while, in bounded memory', () => {
  expect(answered.length).toBeGreaterThan(3);
  expect(new Set(answered)).toEqual(new Set([202]));
  expect(grownBytes).toBeLessThan(MEMORY_BYTES_MAX);
});
