/**
 * The packed TypeScript client in an empty project: what it holds, its types, and every example of its README and its
 * folder of examples, run against a real service.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootService, type TestService } from '../support/services/service.ts';
import {
  CONSUMER,
  exampleFiles,
  installedClient,
  readmeCommonJs,
  readmeExamples,
  ROOT,
  strictly,
  type Project,
} from './typescript-project.ts';

/** Packing, installing and compiling on a busy machine. */
const PACKED_MS_MAX = 180_000;
const README = readmeExamples();
const COMPILERS = {
  'this repository’s': 'node_modules/typescript/bin/tsc',
  'an older': 'apps/dashboard/node_modules/typescript/bin/tsc',
};

describe('the packed TypeScript client', () => {
  let service: TestService;
  let project: Project;
  let environment: Record<string, string>;

  beforeAll(async () => {
    [service, project] = await Promise.all([bootService(), installedClient()]);
    const made = await service.api('POST', '/factory', { slug: 'orders', source: { kind: 'dashboard' } });
    const webhook = (
      await service.api('POST', `/factory/${String(made.body['uid'])}/webhooks`, {
        name: 'Shop',
        auth_mode: 'signature',
        signature_scheme: 'standard_webhooks',
      })
    ).body;
    environment = {
      MILLWRIGHT_BASE_URL: service.url,
      MILLWRIGHT_API_KEY: service.adminKey,
      WEBHOOK_URL: String(webhook['ingress_url']),
      WEBHOOK_SECRET: String(webhook['secret']),
    };
    for (const [index, example] of README.entries()) await project.write(`readme-${index + 1}.ts`, example);
    for (const [name, text] of await exampleFiles()) await project.write(`${name}.ts`, text);
    await project.write('consumer.ts', CONSUMER);
    await project.write('consumer-commonjs.cts', CONSUMER);
    await project.write('tsconfig.json', strictly(['*.ts', '*.cts']));
  }, PACKED_MS_MAX);
  afterAll(async () => {
    await service?.stop();
    await project?.remove();
  });

  it('holds what is built, its README, its changes and its licence, and nothing else', async () => {
    const { output } = await project.run('tar', ['-tzf', project.tarball]);
    const files = output.trim().split('\n');
    expect(files.filter((name) => !/^package\/dist\/(esm|cjs)\/.+(\.js|\.d\.ts)$/.test(name)).sort()).toEqual([
      'package/CHANGELOG.md',
      'package/LICENSE',
      'package/README.md',
      'package/dist/cjs/package.json',
      'package/dist/esm/package.json',
      'package/package.json',
    ]);
    expect(files).toEqual(
      expect.arrayContaining([
        'package/dist/esm/index.js',
        'package/dist/esm/index.d.ts',
        'package/dist/cjs/index.js',
        'package/dist/cjs/index.d.ts',
      ]),
    );
  });

  it('has no dependencies, and the version that it says', async () => {
    const { version, dependencies } = JSON.parse(
      readFileSync(join(ROOT, 'libs/client-typescript/package.json'), 'utf8'),
    ) as Record<string, unknown>;
    expect(dependencies).toBeUndefined();
    expect(await project.run('node', ['-p', 'require("@millwright/client").VERSION'])).toEqual({
      code: 0,
      output: `${String(version)}\n`,
    });
  });

  it('names files that are there in its declarations', async () => {
    const { output } = await project.run('grep', [
      '-rlE',
      String.raw`from '\.[^']*\.ts'|import\('\.[^']*\.ts'`,
      'node_modules/@millwright/client/dist',
      '--include=*.d.ts',
    ]);
    expect(output).toBe('');
  });

  it.each(Object.entries(COMPILERS))(
    'has types that %s compiler takes, in modules of both kinds, with every example of the README',
    async (_, compiler) => {
      expect(await project.run(process.execPath, [join(ROOT, compiler), '-p', '.'])).toEqual({ code: 0, output: '' });
    },
    PACKED_MS_MAX,
  );

  it('runs the CommonJS program of the README', async () => {
    await project.write('first.cjs', readmeCommonJs());
    expect(await project.run('node', ['first.cjs'], environment)).toEqual({
      code: 0,
      output: 'Say hello. SUCCEEDED\n',
    });
  });

  it.each(
    README.map((example, index) => [
      index + 1,
      /client\.[\w.]+|WebhookSender/.exec(example.split('new Millwright').at(-1)!)?.[0],
    ]),
  )('runs example %d of the README (%s)', async (number) => {
    const { code, output } = await project.run('node', [`out/readme-${number}.js`], environment);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(EXPECTED[number - 1] ?? /./) });
  });

  it(
    'runs every file of the folder of examples',
    async () => {
      const expected: Record<string, RegExp> = {
        'run-and-wait': /^run [0-9a-f-]{36}\nSUCCEEDED/,
        'follow-events': /^1 [\s\S]+ended SUCCEEDED behind entry \d+\n$/,
        dispatch: /^[0-9a-f-]{36} [A-Z]+ http/,
        'send-delivery': /^accepted \S+\n$/,
        'page-through-failures': /\d+ failed in 7 days\n$/,
      };
      const names = [...(await exampleFiles()).keys()];
      expect(names).toEqual(Object.keys(expected).sort());
      for (const name of names)
        expect({ name, ...(await project.run('node', [`out/${name}.js`], environment)) }).toEqual({
          name,
          code: 0,
          output: expect.stringMatching(expected[name]!),
        });
    },
    PACKED_MS_MAX,
  );

  it('says in one line what an example lacks', async () => {
    for (const name of (await exampleFiles()).keys())
      expect({ name, ...(await project.run('node', [`out/${name}.js`])) }).toEqual({
        name,
        code: 2,
        output: expect.stringMatching(/^set [A-Z_]+.*\n$/),
      });
  });

  it('dispatches a ticket once, however often the example is run', async () => {
    const [first, second] = [
      await project.run('node', ['out/dispatch.js', 'orders', 'ORD-8'], environment),
      await project.run('node', ['out/dispatch.js', 'orders', 'ORD-8'], environment),
    ];
    expect(second.output.split(' ')[0]).toBe(first.output.split(' ')[0]);
  });
});

/** What the examples of the README write, in order. */
const EXPECTED: readonly RegExp[] = [
  /^Say hello\. SUCCEEDED\n$/,
  /^admin\n$/,
  /^[A-Z]+ [\s\S]*handoff_execution\n[\s\S]+/,
  /^\d+ [\s\S]+SUCCEEDED \d+\n$/,
  /^SUCCEEDED/,
  /^[\s\S]*2 true\n$/,
  /^404 resource_not_found .+ \S+\n$/,
  /^true\n$/,
  /^1\n$/,
  /^.+ 200 \S+\napplication\/json.* \d+\n$/,
  /runs: /,
  /^[0-9a-f-]{36} [A-Z]+\n.+: /,
  /^false \S+\n$/,
  /^\S+ \w+\nmissing-header\n$/,
];
