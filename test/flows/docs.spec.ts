/**
 * The interface described to everybody: the API document and the page that shows it, from this service and from nowhere
 * else. contract §3.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bootService, type TestService } from '../support/services/service.ts';

const FILES = fileURLToPath(new URL('../../apps/server/docs/', import.meta.url));
let service: TestService;

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
});

afterAll(() => service.stop());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(service.url + path, { headers, redirect: 'manual' });

describe('the API document', () => {
  it('is served without a key and names this server', async () => {
    const answer = await get('/api/v1/openapi.json');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const served = (await answer.json()) as Record<string, unknown>;
    const committed = JSON.parse(
      readFileSync(new URL('../../schemas/generated/openapi.json', import.meta.url), 'utf8'),
    ) as Record<string, unknown>;
    expect(served).toEqual({
      ...committed,
      servers: [{ url: `${service.url}/api/v1`, description: expect.any(String) }],
    });
  });

  it('is not sent again to who has it', async () => {
    const tag = (await get('/api/v1/openapi.json')).headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[A-Za-z0-9_-]{20,}"$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const answer = await get('/api/v1/openapi.json', { 'if-none-match': known });
      expect({ known, status: answer.status, body: await answer.text(), etag: answer.headers.get('etag') }).toEqual({
        known,
        status: 304,
        body: '',
        etag: tag,
      });
    }
    for (const other of ['"other"', '', tag.slice(1)])
      expect((await get('/api/v1/openapi.json', { 'if-none-match': other })).status).toBe(200);
  });

  it('opens nothing else of the interface', async () => {
    for (const path of [
      '/api/v1/openapi.jsonx',
      '/api/v1/openapi.json/x',
      '/api/v1/openapi',
      '/api/v1/docs',
      '/api/v1/secrets?/api/v1/openapi.json',
      '/api/v1/docs/../secrets',
    ])
      expect((await get(path)).status).toBe(401);
  });
});

describe('the page', () => {
  it('is served without a key, and its policy lets it load from this service only', async () => {
    const answer = await get('/docs');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await answer.text()).not.toMatch(/<script(?![^>]* src=)[^>]*>|<style|\son[a-z]+=|\sstyle=/i);
  });

  it('loads files that are there, of their type', async () => {
    const types: Record<string, string> = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' };
    const loaded = new Map<string, string>();
    const load = async (url: URL): Promise<void> => {
      if (loaded.has(url.pathname)) return;
      const answer = await fetch(url);
      expect({ path: url.pathname, status: answer.status, type: answer.headers.get('content-type') }).toEqual({
        path: url.pathname,
        status: 200,
        type: types[url.pathname.split('.').at(-1) ?? ''] ?? 'text/html; charset=utf-8',
      });
      const text = await answer.text();
      loaded.set(url.pathname, text);
      for (const [, href] of text.matchAll(/(?:href|src)="([^"#]+\.(?:css|js))"|^import .* from '([^']+)'/gm))
        if (href !== undefined) await load(new URL(href, url));
      for (const [, module] of text.matchAll(/^import .* from '([^']+)'/gm)) await load(new URL(module ?? '', url));
    };
    await load(new URL('/docs', service.url));
    const served = readdirSync(FILES)
      .filter((name) => /\.(css|js)$/.test(name))
      .map((name) => `/docs/${name}`);
    expect([...loaded.keys()].sort()).toEqual(['/docs', ...served].sort());
    // An address of another host would be an address that this page depends on.
    for (const [path, text] of loaded)
      expect({
        path,
        elsewhere: [...text.matchAll(/(?:https?:)?\/\/[a-z0-9-]+\.[a-z]{2,}/gi)]
          .map(([url]) => url)
          .filter((url) => url !== 'https://example.com'),
      }).toEqual({ path, elsewhere: [] });
  });

  it('is found with a slash behind it, below any path of the public address', async () => {
    const answer = await get('/docs/');
    expect({
      status: answer.status,
      location: new URL(answer.headers.get('location') ?? '', 'https://example.com/below/docs/').href,
    }).toEqual({ status: 308, location: 'https://example.com/below/docs' });
  });

  it.each([
    '/docs/controller.ts',
    '/docs/pages.ts',
    '/docs/..%2fserver%2fconfig.ts',
    '/docs/%2e%2e/main.ts',
    '/docs/page.html/x',
    '/docs/__proto__',
    '/docs/%00',
  ])('serves no file but its own: %s', async (path) => {
    const answer = await get(path);
    expect([401, 404]).toContain(answer.status);
    expect(await answer.text()).not.toMatch(/import |controller/);
  });
});

describe('the examples of the page', () => {
  interface Examples {
    curlOf(api: unknown, entry: unknown): string;
    exampleOf(api: unknown, schema: unknown): unknown;
  }
  const examples = (): Promise<Examples> =>
    import(new URL('../../apps/server/docs/examples.js', import.meta.url).href) as Promise<Examples>;

  it.each<[schema: unknown, example: unknown, why: string]>([
    [{ type: 'string', examples: ['mine', 'yours'] }, 'mine', 'an example of the schema'],
    [{ type: 'integer', default: 20, minimum: 1 }, 20, 'its default'],
    [{ type: 'string', enum: ['asc', 'desc'] }, 'asc', 'its first value'],
    [{ type: ['string', 'null'], format: 'date-time' }, '2026-01-31T12:00:00Z', 'its format'],
    [
      { type: 'object', properties: { a: { type: 'boolean' }, b: {} }, required: ['a'] },
      { a: true },
      'its required members',
    ],
    [
      { type: 'object', properties: { a: { type: 'integer', minimum: 5 }, b: {} } },
      { a: 5 },
      'its first member, where none is required',
    ],
    [{ $ref: '#/components/schemas/Loop' }, { loop: expect.anything() }, 'one that refers to itself, to a depth'],
    [{ oneOf: [{ const: 1 }, { const: 2 }] }, 1, 'its first variant'],
    [{ type: 'array', items: { type: 'string' }, minItems: 1 }, ['…'], 'a list that may not be empty'],
    [{}, '…', 'anything'],
  ])('of %j is %j: %s', async (schema, example) => {
    const { exampleOf } = await examples();
    const api = {
      components: {
        schemas: {
          Loop: { type: 'object', properties: { loop: { $ref: '#/components/schemas/Loop' } }, required: ['loop'] },
        },
      },
    };
    expect(exampleOf(api, schema)).toEqual(example);
  });

  it('are commands that call this service', async () => {
    const { curlOf } = await examples();
    const api = (await (await get('/api/v1/openapi.json')).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const operation = api.paths['/agent/runs/{run_id}/cancel']?.['post'];
    expect(curlOf(api, { path: '/agent/runs/{run_id}/cancel', method: 'post', operation })).toBe(
      `curl -sS -X POST "${service.url}/api/v1/agent/runs/$RUN_ID/cancel" \\\n  -H "Authorization: Bearer ` +
        '$MILLWRIGHT_API_KEY"',
    );
  });
});
