/** Definition files without a factory: checked as on the command line, and their schemas. contract §4.1, §8. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeKey } from '../support/services/api-keys.ts';
import { automationPath, webhookPath } from '../support/factories/factory-files.ts';
import { call } from '../support/services/recorded-io.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const EXAMPLE = join(dirname(fileURLToPath(import.meta.url)), '../../examples/factory-repo');
let service: TestService;
let viewer: string;

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  viewer = await makeKey(service, 'viewer', { factories: [] });
  await service.secret('a-team-secret', 'a-value-of-some-length');
});
afterAll(() => service.stop());

const validate = (files: unknown, more: object = {}): Promise<ApiAnswer> =>
  service.api('POST', '/factory-files/validate', { files, ...more }, viewer);
const problemsOf = ({ body }: ApiAnswer): Record<string, unknown>[] =>
  [body['diagnostics'], body['warnings']].flat() as Record<string, unknown>[];
const rules = (answer: ApiAnswer): string[] =>
  (problemsOf(answer) as { path: string; line: number; column: number; rule: string }[]).map(
    ({ path, line, column, rule }) => `${path}:${line}:${column} ${rule}`,
  );

describe('POST /factory-files/validate', () => {
  it('says of the example what the command line says', async () => {
    const paths = ['factory.yaml', 'webhooks/ci-events.yaml', 'automations/triage-ci-failure/automation.md'];
    const answer = await validate(paths.map((path) => ({ path, content: readFileSync(join(EXAMPLE, path), 'utf8') })));
    expect(answer.status).toBe(200);
    const said = JSON.parse((await call(['validate', EXAMPLE, '--format', 'json'])).out) as Record<string, unknown>;
    expect(answer.body).toMatchObject({ ...said, schema_version: 'v1alpha1' });
    expect(answer.body).toMatchObject({
      valid: true,
      diagnostics: [],
      warnings: [],
      validation_scope: { parser: 'checked', state_independent: 'checked', state_dependent: 'not_checked' },
      deferred_resolutions: expect.arrayContaining([
        { path: 'webhooks/ci-events.yaml', field: 'secretName', kind: 'secret' },
      ]),
    });
  });

  it('names every problem with its place, rule and code', async () => {
    const answer = await validate([
      { path: webhookPath('orders'), content: 'secretname: x\n' },
      {
        path: automationPath('triage'),
        content: '---\ntriggers:\n  - {provider: webhook, event: received, filter: {webhooks: [nope]}}\n---\nx\n',
      },
      { path: 'factory.yaml', content: 'schemaVersion: v1\n' },
    ]);
    expect(answer.body).toMatchObject({
      valid: false,
      state_dependent_checks_not_run: ['secrets', 'secret-values', 'quota', 'uids', 'environments'],
    });
    expect(rules(answer)).toEqual([
      'automations/triage/automation.md:3:62 webhook-known',
      'webhooks/orders.yaml:1:1 unknown-key',
      'webhooks/orders.yaml:1:1 missing-key',
      'factory.yaml:1:1 unsupported-here',
    ]);
    const [first] = answer.body['diagnostics'] as Record<string, unknown>[];
    const [warning] = answer.body['warnings'] as Record<string, unknown>[];
    const excerpt = {
      first_line: 1,
      lines: ['---', 'triggers:', '  - {provider: webhook, event: received, filter: {webhooks: [nope]}}', '---', 'x'],
    };
    expect(first).toEqual({
      path: automationPath('triage'),
      line: 3,
      column: 62,
      end_line: 3,
      end_column: 66,
      severity: 'error',
      rule: 'webhook-known',
      code: expect.stringMatching(/^FF_/),
      message: expect.any(String),
      excerpt,
    });
    expect(warning).toMatchObject({ severity: 'warning' });
  });

  it('shows the lines around each, without what could be a secret and what steers a terminal', async () => {
    const value = 'hunter2-hunter2';
    const answer = await validate([
      {
        path: automationPath('triage'),
        content:
          `---\nmcpServers:\n  docs: {url: "https://docs.example.com", headers: {Authorization: "Bearer ${value}` +
          `"}}\n  more:\n    command: x\n    env:\n      API_TOKEN: ${value}\n    nonsense: "\u202e"\ntriggers: ` +
          `[]\n---\nx\n`,
      },
      { path: 'environments/box.yaml', content: 'a' },
      { path: 'skills/x/SKILL.md', content: ' ' },
    ]);
    const diagnostics = problemsOf(answer) as unknown as {
      path: string;
      line: number;
      excerpt?: { first_line: number; lines: string[] };
    }[];
    expect(diagnostics.length).toBeGreaterThan(2);
    for (const kept of [value, '\u202e']) expect(JSON.stringify(diagnostics)).not.toContain(kept);
    const lines = diagnostics
      .filter(({ path }) => path === automationPath('triage'))
      .flatMap(({ excerpt }) => excerpt?.lines ?? []);
    expect(lines).toEqual(expect.arrayContaining(['      API_TOKEN: •••', '    nonsense: •••']));
    // its text is not read as a definition
    expect(diagnostics.find(({ path }) => path.startsWith('skills/'))).not.toHaveProperty('excerpt');
  });

  it('checks secrets against the names it is given, and against nothing else', async () => {
    const files = [{ path: webhookPath('orders'), content: 'secretName: a-team-secret\n' }];
    expect((await validate(files)).body).toMatchObject({ valid: true });
    const listed = await validate(files, { secrets: ['a-team-sekret'] });
    expect(listed.body).toMatchObject({
      valid: false,
      diagnostics: [{ rule: 'secret-known', message: expect.stringContaining('did you mean "a-team-sekret"?') }],
      state_dependent_checks_not_run: expect.not.arrayContaining(['secrets']),
    });
    expect((await validate(files, { secrets: [] })).body).toMatchObject({
      valid: false,
      diagnostics: [{ message: expect.not.stringContaining('a-team-secret", which') }],
    });
    expect((await validate(files, { secrets: ['a-team-secret'] })).body).toMatchObject({ valid: true });
  });

  it('takes as many files as a factory may have, and bounds what it says of them', async () => {
    const files = Array.from({ length: 2_000 }, (_, n) => ({
      path: webhookPath(`w${n}`),
      content: `secretName: x\ndescription: ${'y'.repeat(300)}\n`,
    }));
    const { status, body } = await validate(files);
    expect({ status, valid: body['valid'] }).toEqual({ status: 200, valid: false }); // more than 20 webhooks
    expect([body['diagnostics'], body['warnings']].flat().length).toBeLessThanOrEqual(1_001);
  });

  it.each<[string, unknown, string[]]>([
    ['no files', undefined, ['/files']],
    [
      'hostile paths',
      [
        { path: '../x', content: '' },
        { path: '/x', content: '' },
        { path: 'x\0', content: '' },
      ],
      ['/files/0/path', '/files/1/path', '/files/2/path'],
    ],
    [
      'a path twice',
      [
        { path: 'x', content: '' },
        { path: 'x', content: '' },
      ],
      ['/files/1/path'],
    ],
    ['too many files', Array.from({ length: 2_001 }, (_, n) => ({ path: `x${n}`, content: '' })), ['/files']],
  ])('refuses %s', async (_what, files, pointers) => {
    const answer = await validate(files);
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).sort()).toEqual(pointers);
  });

  it('refuses names of secrets that are none', async () => {
    const answer = await validate([], { secrets: ['ok', 5, 'a\0', ''] });
    expect((answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
      '/secrets/1',
      '/secrets/2',
      '/secrets/3',
    ]);
  });
});

describe('GET /factory-files/schemas', () => {
  const fetched = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${service.url}/api/v1/factory-files/schemas${path}`, {
      headers: { authorization: `Bearer ${viewer}`, ...headers },
    });

  it('lists every document with its address and tag', async () => {
    const { body } = await service.api('GET', '/factory-files/schemas', undefined, viewer);
    const schemas = body['schemas'] as { name: string; url: string; etag: string; description: string }[];
    expect(body['schema_version']).toBe('v1');
    expect(schemas.map(({ name }) => name)).toEqual(['factory', 'webhook', 'automation', 'environment', 'agent']);
    for (const { url, etag, description } of schemas) {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${viewer}` } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('etag')).toBe(etag);
      expect(answer.headers.get('content-type')).toMatch(/^application\/schema\+json/);
      expect(answer.headers.get('cache-control')).toBe('private, max-age=3600');
      expect(((await answer.json()) as { description: string }).description).toBe(description);
    }
  });

  it.each(['factory', 'webhook', 'automation', 'environment', 'agent'])(
    '%s is complete in itself, and what the command line prints',
    async (name) => {
      const text = await (await fetched(`/${name}`)).text();
      expect(text).toBe((await call(['schema', name])).out);
      const check = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(text) as object);
      expect(check({ secretName: 1, agentDefaults: 1, triggers: 1, secrets: 1 })).toBe(false);
    },
  );

  it.each([
    ['*/*', 'application/schema+json'],
    ['application/schema+json', 'application/schema+json'],
    ['application/json', 'application/json'],
    ['application/json, */*;q=0.1', 'application/json'],
  ])('for Accept: %s is %s', async (accept, type) => {
    expect((await fetched('/agent', { accept })).headers.get('content-type')).toMatch(
      new RegExp(`^${type.replace('+', '\\+')}(;|$)`),
    );
  });

  it('is not sent again to who has it', async () => {
    const etag = (await fetched('/webhook')).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await fetched('/webhook', { 'if-none-match': known });
      expect([answer.status, await answer.text(), answer.headers.get('etag')]).toEqual([304, '', etag]);
    }
    for (const other of ['"x"', etag.slice(1, -1), ''])
      expect((await fetched('/webhook', { 'if-none-match': other })).status).toBe(200);
  });

  it.each(['toString', '__proto__', 'webhook.schema.json', 'WEBHOOK', '..%2Fagent', 'x'])(
    '%s is no document',
    async (name) => {
      const answer = await fetched(`/${name}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
    },
  );

  it('are under the paths of the hosted service too', async () => {
    const { body } = await service.api('GET', '/factory-files/schemas');
    expect(body).toMatchObject({
      current_version: 'v1alpha1',
      versions: [{ schema_version: 'v1alpha1', schema_url: '/api/v1/factory-files/schemas/v1alpha1' }],
    });
    const version = (await (await fetched('/v1alpha1')).json()) as { documents: Record<string, unknown> };
    expect(version).toMatchObject({ schema_version: 'v1alpha1' });
    const files = ['factory', 'webhook', 'automation', 'environment', 'agent'].map((name) => `${name}.schema.json`);
    expect(Object.keys(version.documents)).toEqual(files);
    for (const [file, schema] of Object.entries(version.documents)) {
      const name = file.replace('.schema.json', '');
      expect(schema).toMatchObject({ $id: file });
      for (const path of [`/v1alpha1/${file}`, `/v1alpha1/${name}`, `/${name}`])
        expect(await (await fetched(path)).json()).toEqual(schema);
    }
    for (const path of ['nothing', 'nothing.schema.json', '.schema.json', 'factory.schema.json.schema.json'])
      expect([path, (await fetched(`/v1alpha1/${path}`)).status]).toEqual([path, 404]);
    expect((await fetched('/v2/webhook')).status).toBe(404);
  });
});

describe('without a key', () => {
  const BASE = '/api/v1/factory-files';
  const asked = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(service.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const file = (path: string, content = ''): { path: string; content: string } => ({ path, content });

  it('files are checked, with the verdict of the command line', async () => {
    const answer = await asked(`${BASE}/validate`, { files: [file('factory.yaml', 'schemaVersion: v1alpha1\n')] });
    expect([answer.status, await answer.json()]).toMatchObject([200, { valid: true, diagnostics: [] }]);
    const wrong = await asked(`${BASE}/validate`, { files: [file('factory.yaml', 'nonsense: 1\n')] });
    expect([wrong.status, await wrong.json()]).toMatchObject([200, { valid: false, diagnostics: [{ line: 1 }] }]);
  });

  it('what is deferred is named as the file has it', async () => {
    const root = [
      'secrets: [DEPLOY_TOKEN]',
      'agentDefaults:',
      '  model: auto',
      '  secrets: [{name: NPM_TOKEN}]',
      '',
    ].join('\n');
    const uid = 'wh_00000000000000000000000001';
    const automation =
      '---\nharness: {type: claude, model: opus}\ntriggers:\n' +
      '  - {provider: schedule, event: cron_fired, schedule: {cron: "@daily"}}\n' +
      `  - {provider: webhook, event: received, filter: {webhook_ids: {in: [${uid}]}}}\n---\nx\n`;
    const files = [file('factory.yaml', root), file('automations/nightly.md', automation)];
    const { deferred_resolutions: deferred } = (await (await asked(`${BASE}/validate`, { files })).json()) as {
      deferred_resolutions: { path: string; field: string; kind: string }[];
    };
    expect(deferred.map(({ path, field, kind }) => `${path} ${field} ${kind}`)).toEqual([
      'factory.yaml agentDefaults.model model',
      'factory.yaml agentDefaults.secrets[0].name secret',
      'factory.yaml secrets[0] secret',
      'automations/nightly.md harness.type harness',
      'automations/nightly.md harness.model model',
      'automations/nightly.md triggers[1].filter.webhook_ids.in webhook',
    ]);
  });

  it('what published scripts do not send is deferred, as long as nothing came of its folder', async () => {
    const automation = file(
      automationPath('triage'),
      '---\nskill: count\ntriggers:\n  - {provider: webhook, event: received, filter: {webhooks: [orders]}}\n---\nx\n',
    );
    expect(await (await asked(`${BASE}/validate`, { files: [automation] })).json()).toMatchObject({
      valid: true,
      diagnostics: [],
      deferred_resolutions: [
        { path: automation.path, field: 'skill', kind: 'skill' },
        { path: automation.path, field: 'triggers', kind: 'webhook' },
      ],
    });
    const other = file(webhookPath('other'), 'secretName: a-team-secret\n');
    expect(await (await asked(`${BASE}/validate`, { files: [automation, other] })).json()).toMatchObject({
      valid: false,
      diagnostics: [{ rule: 'webhook-known' }],
    });
  });

  it.each([
    ['more than 256 files', Array.from({ length: 257 }, (_, n) => file(`x${n}`)), ['/files']],
    ['a file of more than 256 KiB', [file('x', 'x'.repeat(262_145))], ['/files/0/content']],
    ['more than 2 MiB', Array.from({ length: 9 }, (_, n) => file(`x${n}`, 'x'.repeat(240_000))), ['/files']],
  ])('refuses %s', async (_what, files, pointers) => {
    const answer = await asked(`${BASE}/validate`, { files });
    const { errors } = (await answer.json()) as { errors: { pointer: string }[] };
    expect([answer.status, errors.map(({ pointer }) => pointer)]).toEqual([400, pointers]);
  });

  it('a key that is wrong is refused all the same', async () => {
    for (const path of [`${BASE}/schemas`, '/api/v1/agent/sessions/x/redirect'])
      expect((await asked(path, undefined, { authorization: 'Bearer mw_wrong-key-of-some-length' })).status).toBe(401);
  });

  it('conversations and sessions have moved nowhere, whichever', async () => {
    for (const path of ['conversations', 'sessions']) {
      const answer = await asked(`/api/v1/agent/${path}/00000000-0000-7000-8000-000000000000/redirect`);
      expect([answer.status, await answer.json()]).toEqual([200, {}]);
    }
  });

  it('an address asks thirty times a minute, and a key is not held up by it', async () => {
    const statuses = new Set<number>();
    for (let at = 0; at < 40; at += 1) statuses.add((await asked(`${BASE}/schemas/x`)).status);
    expect([...statuses]).toEqual([404, 429]);
    const refused = await asked(`${BASE}/schemas`);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await service.api('GET', '/factory-files/schemas', undefined, viewer)).status).toBe(200);
  });
});
