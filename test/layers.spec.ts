/**
 * The one rule of the architecture as a test: libs decide, apps act. Also the shape of the repository, and lists that
 * two libs keep.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SIGNATURE_SCHEMES } from '#authentication';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Libs in the order of the arrows: one may use those before it. */
const LIBS = [
  'contracts',
  'filters',
  'authentication',
  'definitions',
  'reconcile',
  'deliveries',
  'isolation',
  'agents',
  'runs',
  'management',
];

/** Doors of a lib that load a part of it only, each a file of that name. */
const LIGHT_DOORS: Readonly<Record<string, readonly string[]>> = {
  authentication: ['#authentication/schemes', '#authentication/federation'],
  definitions: ['#definitions/names'],
};

/** Packages that a lib may use beside other libs; every one is a pure function of its arguments. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  authentication: ['jose'],
  contracts: ['ajv/dist/2020.js', 'ajv-formats'],
  definitions: ['yaml', 'gray-matter'],
};

/** Hashing and MACs are arithmetic; an address is parsed, not asked for. */
const NODE_MODULES: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': ['createHash', 'hash', 'createHmac', 'timingSafeEqual'],
  'node:net': ['isIP', 'isIPv4', 'isIPv6', 'BlockList'],
};

interface Import {
  file: string;
  target: string;
  names: string[];
}

describe('the repository', () => {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .trim()
    .split('\n');

  it('has a top level that one can read at a glance', () => {
    const allowed = [
      'package.json',
      'tsconfig.json',
      'README.md',
      'LICENSE',
      'package-lock.json',
      'apps',
      'libs',
      'examples',
      'schemas',
      'test',
    ];
    const top = [...new Set(tracked.map((path) => path.split('/')[0] as string))].filter(
      (name) => !name.startsWith('.'),
    );
    expect(top.filter((name) => !allowed.includes(name))).toEqual([]);
    expect(allowed.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  it('tells the tier of a suite by its file name alone', () => {
    const { jest } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      jest: { testPathIgnorePatterns: string[] };
    };
    expect(jest.testPathIgnorePatterns).toEqual(['/node_modules/', '\\.(slow|long|external)\\.spec\\.ts$']);
  });

  it('has one example: a factory repository that always validates', () => {
    expect([
      ...new Set(tracked.filter((path) => path.startsWith('examples/')).map((path) => path.split('/')[1])),
    ]).toEqual(['factory-repo']);
  });

  it('has no folder for what has no name', () => {
    const nameless = ['common', 'shared', 'core', 'utils', 'util', 'helpers', 'helper', 'misc', 'lib'];
    expect(
      tracked.filter((path) =>
        dirname(path)
          .split('/')
          .some((folder) => nameless.includes(folder)),
      ),
    ).toEqual([]);
  });
});

describe('libs', () => {
  it.each(LIBS)('%s is imported through its door and uses only what stands before it', (lib) => {
    const before = LIBS.slice(0, LIBS.indexOf(lib)).flatMap((name) => [`#${name}`, ...(LIGHT_DOORS[name] ?? [])]);
    const allowed = new Set([...before, ...(PACKAGES[lib] ?? []), ...Object.keys(NODE_MODULES)]);
    const foreign = importsOf(join('libs', lib)).filter(
      ({ target }) => !target.startsWith('.') && !allowed.has(target),
    );
    expect(foreign).toEqual([]);
  });

  it.each(LIBS)('%s reaches into no other folder', (lib) => {
    const inside = join(ROOT, 'libs', lib);
    const outside = importsOf(join('libs', lib)).filter(
      ({ file, target }) =>
        target.startsWith('.') && relative(inside, resolve(ROOT, dirname(file), target)).startsWith('..'),
    );
    // The schemas are data, and are the contract's own.
    expect(outside.filter(({ target }) => !(lib === 'contracts' && /\/schemas\/.+\.json$/.test(target)))).toEqual([]);
  });

  it.each(LIBS)('%s takes nothing of node but arithmetic', (lib) => {
    const bad = importsOf(join('libs', lib)).filter(
      ({ target, names }) =>
        isNodeModule(target) && !names.every((name) => (NODE_MODULES[target] ?? []).includes(name)),
    );
    expect(bad).toEqual([]);
  });

  it.each(LIBS)('%s knows no clock, no chance, no environment and no output', (lib) => {
    const timers = /setTimeout|setInterval|setImmediate|queueMicrotask/;
    const globals = /process|performance|console|fetch|globalThis|require|eval|Function/;
    const members = /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bimport\s*\(|\bcrypto\.|\bIntl\./;
    const ofPlace = /\.toLocale\w*\(|\blocaleCompare\(/;
    const effects = new RegExp(`\\b(${globals.source}|${timers.source})\\s*[.(]|${members.source}|${ofPlace.source}`);
    const found = sourcesOf(join('libs', lib)).flatMap((file) =>
      codeOf(file)
        .split('\n')
        .flatMap((line, index) => (effects.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });
});

describe('the web page', () => {
  it('knows the service by its interface only, and of the libs what a small page can carry', () => {
    const foreign = importsOf('apps/dashboard').filter(
      ({ file, target }) =>
        target.startsWith('#') ||
        (target.startsWith('.') &&
          relative(join(ROOT, 'apps/dashboard'), resolve(ROOT, dirname(file), target)).startsWith('..')),
    );
    const allowed = [
      '#filters',
      '#definitions/names',
      '#authentication/schemes',
      '#client/generated',
      '../../../../schemas/',
    ];
    expect(foreign.filter(({ target }) => !allowed.some((start) => target.startsWith(start)))).toEqual([]);
  });
});

describe('the clients', () => {
  it('are programs of their own: the TypeScript one takes nothing but its own files', () => {
    const inside = join(ROOT, 'libs/client-typescript/src');
    const foreign = importsOf('libs/client-typescript/src').filter(
      ({ file, target }) =>
        !target.startsWith('.') || relative(inside, resolve(ROOT, dirname(file), target)).startsWith('..'),
    );
    expect(foreign).toEqual([]);
  });
});

describe('apps', () => {
  const apps = [...importsOf('apps'), ...importsOf('test')];

  it('use libs through their doors', () => {
    const around = apps.filter(
      ({ file, target }) =>
        target.startsWith('.') && !relative(join(ROOT, 'libs'), resolve(ROOT, dirname(file), target)).startsWith('..'),
    );
    expect(around).toEqual([]);
  });

  it('know TypeORM in the store only', () => {
    const inServer = importsOf('apps').filter(
      ({ target }) =>
        target === 'typeorm' || target === '@nestjs/typeorm' || target === 'pg' || target === 'better-sqlite3',
    );
    const elsewhere = inServer.filter(({ file }) => !file.startsWith('apps/server/store/'));
    // The data folder's lock is a transaction on a file of its own: no table, no row, no domain.
    expect(elsewhere.map(({ file, target }) => `${file} ${target}`)).toEqual([
      'apps/server/process/data-folder.ts better-sqlite3',
    ]);
  });

  it('validate without Nest or TypeORM', () => {
    const seen = new Set<string>();
    const follow = (file: string): void => {
      if (seen.has(file) || file.endsWith('.json')) return;
      seen.add(file);
      for (const { target } of importsOf(file)) {
        if (target.startsWith('.')) follow(relative(ROOT, resolve(ROOT, dirname(file), target)));
        else if (target.startsWith('#')) follow(`libs/${target.slice(1)}${target.includes('/') ? '' : '/index'}.ts`);
        else seen.add(target);
      }
    };
    follow('apps/cli/verbs/validate.ts');
    expect(
      [...seen].filter((name) => /nest|typeorm|fastify|sqlite|^pg$/.test(name) || name.startsWith('apps/server')),
    ).toEqual([]);
  });

  it('open secrets in one folder, and write definitions in one file', () => {
    expect(
      importsOf('apps/server')
        .filter(({ names }) => names.includes('createDecipheriv') || names.includes('createCipheriv'))
        .map(({ file }) => file),
    ).toEqual(['apps/server/secrets/vault.ts']);
    const appliers = sourcesOf('apps/server').filter((file) => codeOf(file).includes('toApplication('));
    expect(appliers.sort()).toEqual(['apps/server/sync/application.ts', 'apps/server/sync/pass.ts']);
  });

  it('read the environment in one place', () => {
    const readers = ['apps/server', 'apps/agent']
      .flatMap(sourcesOf)
      .filter((file) => codeOf(file).includes('process.env'));
    expect(readers).toEqual(['apps/server/main.ts', 'apps/agent/main.ts']);
  });

  it('keep the agent a program of its own: it takes nothing from here, and nobody takes from it', () => {
    const isInside = ({ file, target }: Import): boolean =>
      !relative(join(ROOT, 'apps/agent'), resolve(ROOT, dirname(file), target)).startsWith('..');
    const taken = importsOf('apps/agent').filter(
      (found) => found.target.startsWith('#') || (found.target.startsWith('.') && !isInside(found)),
    );
    expect(taken).toEqual([]);
    const takers = ['apps/cli', 'apps/server']
      .flatMap(importsOf)
      .filter((found) => found.target.startsWith('.') && isInside(found));
    expect(takers).toEqual([]);
  });
});

describe('two lists that must agree', () => {
  it('scheme identifiers: what a file may name is what the engine knows', () => {
    const schema = JSON.parse(readFileSync(join(ROOT, 'schemas/webhook.schema.json'), 'utf8')) as {
      properties: { signatureScheme: { enum: string[] } };
    };
    expect([...schema.properties.signatureScheme.enum].sort()).toEqual([...SIGNATURE_SCHEMES.keys()].sort());
  });
});

/** Sources of a folder, or the one file; repository paths, specs left out. */
function sourcesOf(place: string): string[] {
  if (/\.tsx?$/.test(place)) return [place];
  return readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.spec.ts') && !path.includes('node_modules'))
    .map((path) => join(place, path));
}

/** Text of a source without its comments. */
function codeOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/ .*$/gm, '$1');
}

/** Every import and re-export, with the values that are taken. */
function importsOf(place: string): Import[] {
  return sourcesOf(place).flatMap((file) =>
    [...codeOf(file).matchAll(/^(?:(?:import|export)\s+(type\s+)?([^'";=()]*?)\s+from\s+|import\s+)'([^']+)'/gm)].map(
      ([, type, clause = '', target = '']) => ({
        file,
        target,
        names: type === undefined ? namesOf(clause) : [],
      }),
    ),
  );
}

function namesOf(clause: string): string[] {
  return (/\{([\s\S]*)\}/.exec(clause)?.[1] ?? '')
    .split(',')
    .map((name) => name.trim().split(/\s+as\s+/)[0] as string)
    .filter((name) => name !== '' && !name.startsWith('type '));
}

function isNodeModule(target: string): boolean {
  return target.startsWith('node:') || builtinModules.includes(target);
}
