/**
 * `millwright init` on real folders: what it writes validates, editors find its schemas, and nothing that was there is
 * touched. contract §8, §11.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { call } from '../../../test/support/services/recorded-io.ts';
import { CI_PATHS } from '../starter/ci-jobs.ts';
import { starterFiles } from '../starter/starter-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
const written = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
const ALL = ['init', '--ci', 'github', '--pre-commit'];

describe('the starter', () => {
  it.each([['github'], ['gitlab'], ['gitea'], ['none']] as const)(
    'with --ci %s validates without a warning',
    async (ci) => {
      const made = await call(['init', 'new/factory', '--ci', ci, '--pre-commit'], { cwd: folder });
      expect(made).toMatchObject({ code: 0, err: expect.stringContaining('millwright validate new/factory') });
      expect(made.out.trim().split('\n')).toEqual(written().map((path) => path.slice('new/factory/'.length)));
      expect(await call(['validate', 'new/factory', '--strict'], { cwd: folder })).toMatchObject({
        code: 0,
        out: '',
        err: expect.stringContaining('0 errors, 0 warnings'),
      });
      expect(written().filter((path) => /\.(github|gitlab|gitea)/.test(path))).toEqual(
        ci === 'none' ? [] : [`new/factory/${CI_PATHS[ci]}`],
      );
    },
  );

  it('has the layout that fmt gives', async () => {
    await call(['init'], { cwd: folder });
    expect(await call(['fmt', '--check'], { cwd: folder })).toMatchObject({ code: 0, out: '' });
  });

  it('holds a webhook, an automation with filter and prompt, an environment, a skill, the next commands', async () => {
    await call(['init'], { cwd: folder });
    expect(written()).toEqual(
      expect.arrayContaining([
        '.editorconfig',
        '.gitattributes',
        '.gitignore',
        'README.md',
        'automations/triage/automation.md',
        'environments/workspace.yaml',
        'factory.yaml',
        'skills/root-cause/SKILL.md',
        'webhooks/builds.yaml',
      ]),
    );
    const commands = [...read('README.md').matchAll(/^ {4}(?:echo .*\| )?millwright (\w+)/gm)].map(
      (match) => match[1] ?? '',
    );
    expect(commands).toEqual(expect.arrayContaining(['validate', 'start', 'secrets', 'plan']));
    for (const verb of commands) expect(await call(['help', verb])).toMatchObject({ code: 0 });
  });

  it('names a schema in each definition file that is there, is JSON Schema, and accepts this file only', async () => {
    await call(ALL, { cwd: folder });
    const definitions = written().filter((path) =>
      /^(factory|webhooks|environments|automations).*\.(yaml|md)$/.test(path),
    );
    expect(definitions).toHaveLength(4);
    for (const path of definitions) {
      const text = read(path);
      const relative = /^(?:---\n)?# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? '';
      const validate = schemaAt(resolve(dirname(join(folder, path)), relative));
      const document: unknown = parse(path.endsWith('.md') ? (text.split(/^---$/m)[1] ?? '') : text);
      expect({ path, valid: validate(document), errors: validate.errors }).toEqual({
        path,
        valid: true,
        errors: null,
      });
      expect(validate({ ...(document as object), colour: 'red' })).toBe(false);
    }
  });

  it('tells Visual Studio Code the same', async () => {
    await call(['init'], { cwd: folder });
    const { 'yaml.schemas': schemas } = JSON.parse(read('.vscode/settings.json')) as {
      'yaml.schemas': Record<string, string>;
    };
    for (const [schema, glob] of Object.entries(schemas)) {
      const files = written().filter((path) =>
        new RegExp(`^${glob.replace('.', '\\.').replace('*', '[^/]+')}$`).test(path),
      );
      expect({ glob, count: files.length }).toEqual({ glob, count: 1 });
      expect(schemaAt(join(folder, schema))(parse(read(files[0] ?? '')))).toBe(true);
    }
  });

  it('recommends what reads them, and leaves settings that are there as they are, also with --force', async () => {
    mkdirSync(join(folder, '.vscode'));
    writeFileSync(join(folder, '.vscode/settings.json'), '{"mine": true} // kept\n');
    expect(await call(['init'], { cwd: folder })).toMatchObject({
      code: 0,
      err: expect.stringContaining('.vscode/settings.json exists already and stays as it is\n'),
    });
    expect(await call(['init', '--force'], { cwd: folder })).toMatchObject({ code: 0 });
    expect(read('.vscode/settings.json')).toBe('{"mine": true} // kept\n');
    expect(JSON.parse(read('.vscode/extensions.json'))).toEqual({ recommendations: ['redhat.vscode-yaml'] });
  });

  it('keeps what a service keeps here out of the repository, and commits its schemas', async () => {
    await call(ALL, { cwd: folder });
    execFileSync('git', ['init', '-q'], { cwd: folder });
    mkdirSync(join(folder, '.millwright'));
    for (const file of ['.millwright/master-key', 'builds-token.txt']) writeFileSync(join(folder, file), 'secret');
    execFileSync('git', ['add', '-A'], { cwd: folder });
    const committed = execFileSync('git', ['ls-files'], { cwd: folder, encoding: 'utf8' }).trim().split('\n');
    expect(committed.filter((path) => /^\.millwright|token/.test(path))).toEqual([]);
    expect(committed).toContain('.schemas/webhook.schema.json');
  });

  it.each([[['--pre-commit']], [[]]])(
    'with %j tells of the hook what it has, where it is read first',
    async (options) => {
      const { err } = await call(['init', ...options], { cwd: folder });
      for (const text of [err, read('README.md')]) {
        for (const words of ['pre-commit install', 'REPLACE-WITH-THE-ADDRESS-OF-MILLWRIGHT'])
          expect(text.includes(words)).toBe(options.length > 0);
      }
    },
  );

  it('brings the schemas as the command prints them', async () => {
    await call(['init'], { cwd: folder });
    for (const name of ['factory', 'webhook', 'automation', 'environment', 'agent'])
      expect(read(`.schemas/${name}.schema.json`)).toBe((await call(['schema', name])).out);
  });

  it('brings schemas whose references stay inside, because editors follow others differently', () => {
    for (const { path, text } of starterFiles({ ci: 'none', preCommit: false }).filter((file) =>
      file.path.endsWith('.schema.json'),
    )) {
      const schema = JSON.parse(text) as { $defs?: Record<string, { $id?: string }> };
      const missing = [...text.matchAll(/"\$ref": "([^"]*)"/g)]
        .map(([, reference = '']) => reference)
        .filter(
          (reference) => !Object.hasOwn(schema.$defs ?? {}, /^#\/\$defs\/([A-Za-z]+)$/.exec(reference)?.[1] ?? '-'),
        );
      expect({
        path,
        missing,
        embedded: Object.values(schema.$defs ?? {}).filter(({ $id }) => $id !== undefined),
      }).toEqual({ path, missing: [], embedded: [] });
    }
  });

  it('has YAML in every file that is called so', () => {
    for (const { path, text } of starterFiles({ ci: 'gitlab', preCommit: true }).concat(
      starterFiles({ ci: 'github', preCommit: true }),
    )) {
      if (/\.ya?ml$/.test(path)) expect(parse(text)).toEqual(expect.any(Object));
      expect(text.endsWith('\n')).toBe(true);
    }
  });

  it('has the job for GitLab that the action folder has', () => {
    const job = starterFiles({ ci: 'gitlab', preCommit: false }).find(({ path }) => path === '.gitlab-ci.yml');
    expect(job?.text).toBe(
      readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../action/gitlab-ci.yml'), 'utf8'),
    );
  });
});

it('millwright schema --list names every document', async () => {
  const { code, out } = await call(['schema', '--list']);
  expect({
    code,
    names: out
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(' ')[0]),
  }).toEqual({ code: 0, names: ['factory', 'webhook', 'automation', 'environment', 'agent'] });
  expect(out).toContain('webhooks/<name>.yaml');
  expect(await call(['schema', 'webhook', '--list'])).toMatchObject({ code: 64 });
});

describe('what is there already', () => {
  it('is named, all of it, and nothing is written', async () => {
    mkdirSync(join(folder, 'webhooks'));
    writeFileSync(join(folder, 'webhooks/builds.yaml'), 'secretName: mine\n');
    writeFileSync(join(folder, 'README.md'), 'mine');
    writeFileSync(join(folder, 'other.txt'), 'mine');
    const { code, out, err } = await call(['init'], { cwd: folder });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.split('\n').slice(1)).toEqual([
      '  README.md exists already',
      '  webhooks/builds.yaml exists already',
      '  choose another folder, or overwrite these files with --force',
      '',
    ]);
    expect(written()).toEqual(['README.md', 'other.txt', 'webhooks/builds.yaml']);
    expect(read('README.md')).toBe('mine');
  });

  it('is overwritten with --force, as far as the starter has a file of that name', async () => {
    writeFileSync(join(folder, 'README.md'), 'mine, and longer than what is written'.repeat(1_000));
    writeFileSync(join(folder, 'other.txt'), 'mine');
    expect(await call(['init', '--force'], { cwd: folder })).toMatchObject({ code: 0 });
    expect(read('README.md')).toMatch(/^# A factory repository\n/);
    expect(read('README.md')).not.toContain('mine');
    expect(read('other.txt')).toBe('mine');
    expect(await call(['init', '--force'], { cwd: folder })).toMatchObject({ code: 0 });
  });

  it.each([[[]], [['--force']]])('and is a link is not followed, %j or not', async (options) => {
    const outside = mkdtempSync(join(tmpdir(), 'outside-'));
    try {
      writeFileSync(join(outside, 'target'), 'mine');
      symlinkSync(outside, join(folder, 'webhooks'));
      symlinkSync(join(outside, 'target'), join(folder, 'README.md'));
      symlinkSync(join(outside, 'new'), join(folder, 'factory.yaml')); // dangling
      const { code, err } = await call(['init', ...options], { cwd: folder });
      expect(code).toBe(1);
      for (const path of ['webhooks', 'README.md', 'factory.yaml'])
        expect(err).toContain(`${path} is a symbolic link, and none is followed`);
      expect(readdirSync(outside)).toEqual(['target']);
      expect(readFileSync(join(outside, 'target'), 'utf8')).toBe('mine');
      expect(existsSync(join(folder, 'environments'))).toBe(false);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('and has a second name elsewhere, or is a pipe, is not written through', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'outside-'));
    try {
      writeFileSync(join(outside, 'target'), 'mine');
      linkSync(join(outside, 'target'), join(folder, 'README.md'));
      execFileSync('mkfifo', [join(folder, 'factory.yaml')]);
      const { code, err } = await call(['init', '--force'], { cwd: folder });
      expect(code).toBe(1);
      for (const path of ['README.md', 'factory.yaml'])
        expect(err).toContain(`${path} is a pipe, a device, or has another name elsewhere`);
      expect(readFileSync(join(outside, 'target'), 'utf8')).toBe('mine');
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('and is of another kind is not replaced', async () => {
    mkdirSync(join(folder, 'factory.yaml'));
    writeFileSync(join(folder, 'skills'), '');
    const { code, err } = await call(['init', '--force'], { cwd: folder });
    expect(code).toBe(1);
    expect(err).toContain('factory.yaml is a folder');
    expect(err).toContain('skills is no folder');
    expect(written()).toEqual(['skills']);
  });
});

it.each([
  [['init', '--ci', 'jenkins'], '--ci must be one of github, gitlab, gitea, none'],
  [['init', 'a', 'b'], 'takes one DIR at most'],
  [['init', '/dev/null/x'], 'cannot be written (ENOTDIR)'],
  [['init', '/proc/x/y'], 'the folder /proc/x/y cannot be written (ENOENT)'],
])('%j ends with 64', async (argv, message) => {
  expect(await call(argv, { cwd: folder })).toMatchObject({ code: 64, out: '', err: expect.stringContaining(message) });
});

function schemaAt(file: string) {
  const schema = JSON.parse(readFileSync(file, 'utf8')) as { $schema: string };
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  expect(ajv.validateSchema(schema)).toBe(true);
  return ajv.compile(schema);
}
