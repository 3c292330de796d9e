/** The one-file command as hooks of git: by pre-commit itself, and by a short script. contract §11.3, §11.10. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const COMMAND = join(dirname(fileURLToPath(import.meta.url)), '../../dist/millwright.mjs');
const preCommit = process.env['MILLWRIGHT_TEST_PRE_COMMIT'] ?? '';
const HOOK_MS_MAX = 120_000;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millwright-hooks-'));
  mkdirSync(join(folder, 'home'));
  git('init', '--quiet', '--initial-branch=main', '.');
  execFileSync(process.execPath, [COMMAND, 'init', '.', '--pre-commit'], options());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function options() {
  const path = `${dirname(preCommit)}${delimiter}${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const author = { GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@example.com' };
  const committer = { GIT_COMMITTER_NAME: 't', GIT_COMMITTER_EMAIL: 't@example.com' };
  const env = { PATH: path, HOME: join(folder, 'home'), ...author, ...committer };
  return { cwd: folder, encoding: 'utf8' as const, env, stdio: 'pipe' as const };
}

function git(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('git', args, options());
  return { status, said: stdout + stderr };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function commit(): { status: number | null; said: string } {
  git('add', '--all');
  return git('commit', '--message', 'A change');
}

const WEBHOOK = 'webhooks/sales.yaml';
const AUTOMATION = 'automations/sales/automation.md';
const TRIGGER = '{provider: webhook, event: received, filter: {webhooks: [sales]}}';
const automation = `---\ntriggers: [${TRIGGER}]\n---\nLook at the sale.\n`;

describe('pre-commit', () => {
  it(
    'lets sound commits through, and neither a fault nor a deletion that breaks another file',
    () => {
      execFileSync(preCommit, ['install'], options());
      put(WEBHOOK, 'secretName: sales-hook\n');
      put(AUTOMATION, automation);
      expect(commit()).toMatchObject({ status: 0 });
      put(WEBHOOK, 'secretname: sales-hook\n');
      const fault = commit();
      expect(fault.status).not.toBe(0);
      expect(fault.said).toContain(`${WEBHOOK}:1:1: unknown key "secretname"; did you mean "secretName"?`);
      rmSync(join(folder, WEBHOOK));
      const deletion = commit();
      expect(deletion.status).not.toBe(0);
      expect(deletion.said).toMatch(/automations\/sales\/automation\.md:\d+:\d+: webhook "sales" is not declared here/);
      put(WEBHOOK, 'secretName: sales-hook\ndescription: Sales.\n');
      expect(commit()).toMatchObject({ status: 0 });
      put('notes.txt', 'Nothing of a factory.\n');
      expect(commit()).toMatchObject({ status: 0 });
    },
    HOOK_MS_MAX,
  );
});

describe('a hook of git itself', () => {
  const hook = (...lines: string[]): void => {
    put('.git/hooks/pre-commit', ['#!/bin/sh', 'set -e', ...lines, ''].join('\n'));
    chmodSync(join(folder, '.git/hooks/pre-commit'), 0o755);
  };
  const staged = 'git diff --cached --name-only --diff-filter=ACM';

  it(
    'checks the staged files among the others, and leaves out what is none of a factory',
    () => {
      hook(`${staged} -z | xargs -0 -r node .ci/millwright/millwright.mjs validate`);
      put(WEBHOOK, 'secretName: sales-hook\n');
      expect(commit()).toMatchObject({ status: 0 });
      // It refers to a file that is not staged, and stands in the repository.
      put(AUTOMATION, automation);
      put('notes.txt', 'Nothing of a factory.\n');
      expect(commit()).toMatchObject({ status: 0 });
      put(AUTOMATION, automation.replace('[sales]', '[sails]'));
      const { status, said } = commit();
      expect(status).not.toBe(0);
      expect(said).toContain('webhook "sails" is not declared here');
    },
    HOOK_MS_MAX,
  );

  it(
    'checks what is staged, not what the working folder has, over standard input',
    () => {
      hook(
        `${staged} | while read -r file; do`,
        '  case "$file" in webhooks/*)',
        '    git show ":$file" | node .ci/millwright/millwright.mjs validate - --stdin-path "$file";;',
        '  esac',
        'done',
      );
      put(WEBHOOK, 'secretname: sales-hook\n');
      git('add', '--all');
      put(WEBHOOK, 'secretName: sales-hook\n');
      const { status, said } = git('commit', '--message', 'A change');
      expect(status).not.toBe(0);
      expect(said).toContain(`${WEBHOOK}:1:1: unknown key "secretname"`);
      expect(commit()).toMatchObject({ status: 0 });
    },
    HOOK_MS_MAX,
  );
});
