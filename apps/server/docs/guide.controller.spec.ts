/** The guide as browsers get it: addresses without endings, scripts that were built, and no others. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';
import { fastify, type FastifyInstance } from 'fastify';
import { BuiltGuide } from './built-guide.ts';
import { GuideController } from './guide.controller.ts';

const INLINE = 'document.title = "a < b";';
const LINKED = '<script src="/__BASE__/docs/guide/assets/app.js"></script>';
const PAGE = `<!doctype html>${LINKED}<script id="x">${INLINE}</script>`;
const HASH = `'sha256-${createHash('sha256').update(INLINE).digest('base64')}'`;

let folder: string;
const servers: FastifyInstance[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-guide-'));
  await mkdir(join(folder, 'built/assets'), { recursive: true });
  await mkdir(join(folder, 'built/decisions'), { recursive: true });
  await writeFile(join(folder, 'outside.html'), 'outside');
  for (const [name, text] of [
    ['index.html', PAGE],
    ['404.html', '<!doctype html>no such page'],
    ['contract.html', `${PAGE}<p>contract</p>`],
    ['decisions/index.html', 'decisions'],
    ['assets/app.js', `console.log("/__BASE__/docs/guide/${'x'.repeat(2_000)}");`],
  ] as const) {
    await writeFile(join(folder, 'built', name), text);
  }
});

afterAll(async () => {
  for (const server of servers) await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Serves a guide that is in a folder, below a public address; answers a `fetch` of its paths. */
async function serve(
  name: string,
  publicUrl = 'http://127.0.0.1',
): Promise<(path: string, options?: RequestInit) => Promise<Response>> {
  const controller = new GuideController(new BuiltGuide({ publicUrl }, { path: join(folder, name) }));
  const server = fastify();
  server.get('/docs/guide', (_request, reply) => controller.root(reply));
  server.get<{ Params: { '*': string } }>('/docs/guide/*', (request, reply) =>
    controller.file(request.params['*'], request, reply),
  );
  servers.push(server);
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  return (path, options) => fetch(`${url}${path}`, { redirect: 'manual', ...options });
}

describe('the guide', () => {
  it.each([
    ['/docs/guide/', 200, '"a < b"'],
    ['/docs/guide/contract', 200, '<p>contract</p>'],
    ['/docs/guide/contract.html', 200, '<p>contract</p>'],
    ['/docs/guide/decisions/', 200, 'decisions'],
    ['/docs/guide/nowhere', 404, 'no such page'],
    ['/docs/guide/../outside.html', 404, ''],
    ['/docs/guide/%2e%2e%2foutside', 404, 'no such page'],
  ])('answers %s with %d', async (path, status, part) => {
    const answer = await (await serve('built'))(path);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(part);
  });

  it('leads from its address to its first page, below any path', async () => {
    const answer = await (await serve('built'))('/docs/guide');
    expect([answer.status, answer.headers.get('location')]).toEqual([308, 'guide/']);
  });

  it('lets the scripts of a page run that were built into it, and no others', async () => {
    const { headers } = await (await serve('built'))('/docs/guide/');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toContain(`script-src 'self' ${HASH}`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
  });

  it('has the path of the public address in its pages and files', async () => {
    const get = await serve('built', 'https://host.example.com/agents/');
    expect(await (await get('/docs/guide/')).text()).toContain('src="/agents/docs/guide/assets/app.js"');
    expect(await (await get('/docs/guide/assets/app.js')).text()).toContain('"/agents/docs/guide/x');
  });

  it('is compressed, tagged, and its files are kept by browsers', async () => {
    const get = await serve('built');
    const file = await get('/docs/guide/assets/app.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    const page = await get('/docs/guide/');
    expect(page.headers.get('cache-control')).toBe('public, max-age=60');
    const again = await get('/docs/guide/', { headers: { 'if-none-match': page.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
  });
});

describe('a guide that was not built', () => {
  it.each(['/docs/guide/', '/docs/guide/contract'])('says at %s how to build it', async (path) => {
    const answer = await (await serve('absent'))(path);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await answer.text()).toContain('npm run guide');
  });
});
