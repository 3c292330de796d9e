/** Completions in the real shells: what each offers for what was typed. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { call } from '../../../test/support/services/recorded-io.ts';

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
  writeFileSync(join(folder, 'my-key'), '');
  // In a file: what is typed is echoed, and would be found instead of what it prints.
  writeFileSync(join(folder, 'shown'), 'millwright() { print -r -- "LAST=${@[-1]}=" }\n');
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out, err } = await call(['completion', shell]);
    if (code !== 0) throw new Error(err);
    writeFileSync(join(folder, shell === 'zsh' ? '_millwright' : shell), out);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

async function shell(program: string, ...args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: folder, timeout: 60_000 });
  return [...new Set(stdout.split(/\r?\n/).map((line) => line.trim()))].filter((line) => line !== '').sort();
}

/** What bash itself would offer: its own function is called as it calls it. */
function bash(...words: string[]): Promise<string[]> {
  const line = words.map((word) => `'${word}'`).join(' ');
  const script = `source ./bash; complete -p millwright >/dev/null || exit 1
    COMP_WORDS=(millwright ${line}); COMP_CWORD=${words.length}; _millwright; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return shell('bash', '--norc', '-c', script);
}

async function fish(...words: string[]): Promise<string[]> {
  const asked = ['millwright', ...words].join(' ');
  const found = await shell('fish', '--no-config', '-c', `source ./fish; complete -C '${asked}'`);
  return found.map((line) => line.split('\t')[0] ?? '').sort();
}

/** An interactive zsh behind a pseudo-terminal: the line is typed with a tab and run; what it became is told. */
async function zsh(...words: string[]): Promise<string[]> {
  const script = `zmodload zsh/zpty; zpty z 'zsh -f -i'
    zpty -w z 'PS1=; fpath=(${folder} $fpath); autoload -Uz compinit; compinit -u -d ./dump'
    zpty -w z 'source ./shown; print RE''ADY'
    zpty -r -m z seen '*READY*'
    zpty -w z $'${['millwright', ...words].join(' ')}\\t'
    zpty -r -m z seen '*LAST=*=*'; print -r -- "$seen"; zpty -d z`;
  const last = /LAST=(.*?)=/.exec((await shell('zsh', '-f', '-c', script)).join(' '))?.[1] ?? '';
  return last === words.at(-1) ? [] : [last];
}

const SHELLS = { bash, fish, zsh };

const isThere = (name: string): boolean => spawnSync(name, ['--version']).status === 0;
const missing = Object.keys(SHELLS).filter((name) => !isThere(name));
if (missing.length > 0 && process.env['REQUIRE_SHELLS'] === '1')
  throw new Error(`CI cannot do without ${missing.join(', ')}`);
if (missing.length > 0) process.stderr.write(`SKIPPED: not on this machine: ${missing.join(', ')}\n`);

describe.each(Object.entries(SHELLS).filter(([name]) => !missing.includes(name)))('%s', (_name, complete) => {
  it.each<[typed: string[], offered: string[]]>([
    [['fac'], ['factories']],
    [['deliver'], ['deliveries']],
    [['factories', 'up'], ['update']],
    [['runs', 'get', '--form'], ['--format']],
    [['validate', '--str'], ['--strict']],
    [['start', '--ro'], ['--roles']],
    [['keys', 'create', '--role', 'man'], ['manager']],
    [['deliveries', '--outcome', 'acc'], ['accepted']],
    [['status', '--key-file', 'my'], ['my-key']],
    [['filter', 'test', 'my'], ['my-key']],
    [['completion', 'x'], []],
  ])('offers for %j what there is: %j', async (typed, offered) => {
    expect(await complete(...typed)).toEqual(offered);
  });
});

it('of each shell names every verb and every option of the table', async () => {
  const overview = (await call(['help'])).out;
  for (const shellName of ['bash', 'zsh', 'fish']) {
    const { out } = await call(['completion', shellName]);
    for (const [, verb] of overview.matchAll(/^ {2}([a-z]+) {2,}/gm)) expect(out).toContain(verb);
    for (const option of ['sync-policy', 'changed-since', 'replay-protection', 'secrets-list', 'example'])
      expect(out).toContain(option);
  }
});

it('refuses shells that it does not know', async () => {
  expect(await call(['completion', 'tcsh'])).toMatchObject({
    code: 64,
    err: expect.stringContaining('the shells are bash, zsh, fish'),
  });
});
