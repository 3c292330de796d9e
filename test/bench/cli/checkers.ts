/**
 * Checkers of files in other trades, and files of their own for them: actionlint and kubeconform as their makers tag
 * them, built once into a cache outside of the project. Needs Go.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Checker {
  name: string;
  program: string;
  /** How it is called for files: what it takes beside them. */
  arguments: readonly string[];
  /** A valid file of its own tests. */
  file: string;
  /** Many copies of such files, in a folder. */
  files(count: number, folder: string): readonly string[];
}

const VERSIONS = {
  actionlint: ['github.com/rhysd/actionlint', 'cmd/actionlint', 'v1.7.12'],
  kubeconform: ['github.com/yannh/kubeconform', 'cmd/kubeconform', 'v0.7.0'],
} as const;

const cache =
  process.env['MILLWRIGHT_CHECKERS_CACHE'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'millwright-checkers');

export function checkers(): readonly Checker[] {
  return [actionlint(), kubeconform()];
}

function actionlint(): Checker {
  const { program, sources, name } = built('actionlint');
  const workflows = join(sources, 'testdata/ok');
  const whole = readdirSync(workflows)
    .filter((file) => /\.ya?ml$/.test(file))
    .map((file) => join(workflows, file));
  // What it would call beside itself is another program.
  return checker({ name, program, arguments: ['-shellcheck=', '-pyflakes=', '-no-color'] }, whole);
}

function kubeconform(): Checker {
  const { program, sources, name } = built('kubeconform');
  const file = join(sources, 'fixtures/valid.yaml');
  // Schemas of Kubernetes are downloaded by it unless they are at hand: its tests bring that of this kind.
  const schemas = mkdtempSync(join(tmpdir(), 'millwright-bench-schema-'));
  // Of the two, the one that refers to nothing outside of itself.
  const found = readdirSync(join(sources, 'fixtures/cache'))
    .map((each) => readFileSync(join(sources, 'fixtures/cache', each), 'utf8'))
    .find((text) => text.startsWith('{\n  "description": "ReplicationController ') && !text.includes('.json#/'));
  if (found === undefined) throw new Error(`${name} has no schema of ReplicationController beside its tests`);
  const schema = join(schemas, 'replicationcontroller.json');
  writeFileSync(schema, found);
  return checker({ name, program, arguments: ['-schema-location', schema] }, [file]);
}

function checker(called: Pick<Checker, 'name' | 'program' | 'arguments'>, own: readonly string[]): Checker {
  const [file = ''] = own;
  return {
    ...called,
    file,
    files: (count, folder) =>
      Array.from({ length: count }, (_, at) => {
        const copy = join(folder, `file-${at}.yaml`);
        cpSync(own[at % own.length] ?? file, copy);
        return copy;
      }),
  };
}

function built(key: keyof typeof VERSIONS): { name: string; program: string; sources: string } {
  const [module, command, version] = VERSIONS[key];
  const bin = join(cache, `${key}-${version}`);
  const program = join(bin, key);
  if (!existsSync(program)) {
    mkdirSync(bin, { recursive: true });
    execFileSync('go', ['install', `${module}/${command}@${version}`], {
      cwd: cache,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, GOBIN: bin },
    });
  }
  const told = execFileSync('go', ['mod', 'download', '-json', `${module}@${version}`], {
    cwd: cache,
    encoding: 'utf8',
  });
  return { name: `${key} ${version}`, program, sources: (JSON.parse(told) as { Dir: string }).Dir };
}
