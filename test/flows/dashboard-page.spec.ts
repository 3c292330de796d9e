/**
 * The web page as the service serves it: one document at each of its addresses, files that never change, and what
 * browsers are told about both.
 */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { exchange } from '../support/network/raw-http.ts';
import { bootService, freePort, type TestService } from '../support/services/service.ts';

const DOCUMENT =
  '<!doctype html><html><head><meta name="csp-nonce" content="__NONCE__"><base href="__BASE__"><style ' +
  'nonce="__NONCE__">p{}</style><script type="module" ' +
  'src="./assets/index-abc.js"></script></head><body></body></html>';
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(4_000))});\n`;
const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, ...Array.from({ length: 2_000 }, (_, at) => at % 251)]);
const VIEWS = [
  '/',
  '/sign-in',
  '/factories',
  '/factories/',
  '/factories/fac_x/webhooks/wh_y',
  '/runs',
  '/runs/00000000-0000-7000-8000-000000000000',
  '/secrets',
  '/secrets/a%20b',
  '/api-keys',
  '/audit',
  '/charts',
  '/runs?state=FAILED',
  '/runs/..%2f..',
];

let folder: string;
let service: TestService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-page-'));
  await mkdir(join(folder, 'built/assets/fonts'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), 'outside');
  await writeFile(join(folder, 'built/index.html'), DOCUMENT);
  await writeFile(join(folder, 'built/beside.js'), 'beside');
  for (const [name, content] of [
    ['index-abc.js', SCRIPT],
    ['small.css', 'p{}'],
    ['picture.png', PICTURE],
    ['fonts/a.woff2', 'font'],
    ['odd.xyz', 'odd'],
    ['drawn.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'],
  ] as const) {
    await writeFile(join(folder, 'built/assets', name), content);
  }
  await symlink(join(folder, 'secret.txt'), join(folder, 'built/assets/link.txt'));
  service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' }, pageFolder: join(folder, 'built') });
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(service.url + path, { headers, method, redirect: 'manual' });

/** As they come: `fetch` would decompress them and hide it. */
async function rawBytes(
  path: string,
  encoding: string | undefined,
): Promise<{ status: number; encoding?: string; etag?: string; vary?: string; body: Buffer }> {
  const { status, headers, body } = await exchange(service.url, {
    method: 'GET',
    target: path,
    headers: encoding === undefined ? [] : [['Accept-Encoding', encoding]],
  });
  return {
    status,
    encoding: headers.get('content-encoding'),
    etag: headers.get('etag'),
    vary: headers.get('vary'),
    body: Buffer.from(body, 'latin1'),
  };
}

describe('the document', () => {
  it.each(VIEWS)('is what %s answers, without a key', async (path) => {
    const answer = await get(path);
    expect({
      status: answer.status,
      type: answer.headers.get('content-type'),
      cache: answer.headers.get('cache-control'),
    }).toEqual({ status: 200, type: 'text/html; charset=utf-8', cache: 'no-cache' });
    expect(await answer.text()).toContain('<base href="/">');
  });

  it('has a nonce of its own each time, which its policy names and nothing else guesses', async () => {
    const nonces = new Set<string>();
    for (let count = 0; count < 5; count += 1) {
      const answer = await get('/runs', { 'if-none-match': '*' });
      const [, nonce = ''] = /'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy') ?? '') ?? [];
      expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
      expect(await answer.text()).toBe(DOCUMENT.replaceAll('__NONCE__', nonce).replace('__BASE__', '/'));
      expect(answer.headers.get('etag')).toBeNull(); // an answer "unchanged" would bring a new nonce to an old document
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(5);
  });

  it('may load from this service only, is framed by nobody, and tells nobody where it was', async () => {
    const { headers } = await get('/');
    const policy = new Map(
      (headers.get('content-security-policy') ?? '')
        .split('; ')
        .map((directive) => [directive.split(' ')[0] ?? '', directive.split(' ').slice(1).join(' ')]),
    );
    expect(Object.fromEntries(policy)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': expect.stringMatching(/^'self' 'nonce-[A-Za-z0-9+/=]{24}'$/),
      'img-src': "'self' data:",
      'font-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'self'",
      'form-action': "'self'",
      'frame-ancestors': "'none'",
      'object-src': "'none'",
    });
    expect(
      Object.fromEntries(
        [
          'x-content-type-options',
          'referrer-policy',
          'cross-origin-opener-policy',
          'set-cookie',
          'access-control-allow-origin',
        ].map((name) => [name, headers.get(name)]),
      ),
    ).toEqual({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'set-cookie': null,
      'access-control-allow-origin': null,
    });
    expect(headers.get('permissions-policy')).toMatch(/camera=\(\), microphone=\(\), geolocation=\(\)/);
    expect(headers.get('x-request-id')).toEqual(expect.any(String));
  });

  it('is looked at and not sent to, and there is none under a foreign name', async () => {
    const head = await get('/runs/x', {}, 'HEAD');
    expect({ status: head.status, type: head.headers.get('content-type'), body: await head.text() }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
      body: '',
    });
    for (const path of ['/', '/sign-in', '/runs/x', '/assets/index-abc.js'])
      expect((await get(path, {}, 'POST')).status).toBe(405);
    expect((await exchange(service.url, 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n')).status).toBe(421);
  });

  it('is at no other address', async () => {
    for (const path of [
      '/index.html',
      '/factory',
      '/sign-in/x',
      '/api-keys/x',
      '/Runs',
      '/settings',
      '/beside.js',
      '/favicon.ico',
      '/webhooks',
      '/runsx',
    ]) {
      const answer = await get(path);
      expect({ path, status: answer.status, type: answer.headers.get('content-type') }).toEqual({
        path,
        status: 404,
        type: expect.stringMatching(/json/),
      });
    }
    expect((await get('/api/v1/nothing')).status).toBe(401);
  });

  it('finds its files below any path of the public address', async () => {
    const port = String(await freePort());
    const below = await bootService({
      environment: {
        MILLWRIGHT_PORT: port,
        MILLWRIGHT_PUBLIC_URL: 'https://mill.example/a"b/$&<i>&c',
        MILLWRIGHT_RUN_CONCURRENCY: '0',
      },
      pageFolder: join(folder, 'built'),
    });
    try {
      const { body } = await exchange(`http://127.0.0.1:${port}`, {
        method: 'GET',
        target: '/runs/x',
        host: 'mill.example',
      });
      expect(/<base href="([^"]*)">/.exec(body)?.[1]).toBe('/a%22b/$&#38;%3Ci%3E&#38;c/');
    } finally {
      await below.stop();
    }
  });
});

describe('a file', () => {
  it.each([
    ['index-abc.js', 'text/javascript; charset=utf-8'],
    ['small.css', 'text/css; charset=utf-8'],
    ['picture.png', 'image/png'],
    ['fonts/a.woff2', 'font/woff2'],
    ['drawn.svg', 'image/svg+xml'],
    ['odd.xyz', 'application/octet-stream'],
  ])('%s is %s, and is never asked for twice', async (name, type) => {
    const { status, headers } = await get(`/assets/${name}`);
    expect({
      status,
      ...Object.fromEntries(
        ['content-type', 'cache-control', 'x-content-type-options', 'vary'].map((header) => [
          header,
          headers.get(header),
        ]),
      ),
    }).toEqual({
      status: 200,
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it.each<[string | undefined, string | undefined]>([
    ['gzip, deflate, br, zstd', 'br'],
    ['br', 'br'],
    ['BR;q=0.1, gzip;q=1', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000, *', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['identity', undefined],
    ['brx, gzipped', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('for who accepts %j comes as %j', async (accepted, encoding) => {
    for (const answer of [
      await rawBytes('/assets/index-abc.js', accepted),
      await rawBytes('/assets/index-abc.js', accepted),
    ]) {
      expect({ status: answer.status, encoding: answer.encoding, vary: answer.vary }).toEqual({
        status: 200,
        encoding,
        vary: 'Accept-Encoding',
      });
      const text =
        encoding === 'br'
          ? brotliDecompressSync(answer.body)
          : encoding === 'gzip'
            ? gunzipSync(answer.body)
            : answer.body;
      expect(text.toString()).toBe(SCRIPT);
      if (encoding !== undefined) expect(answer.body.length).toBeLessThan(SCRIPT.length / 10);
    }
  });

  it('that gains nothing is sent as it is', async () => {
    const picture = await rawBytes('/assets/picture.png', 'br, gzip');
    expect({ encoding: picture.encoding, bytes: picture.body.equals(PICTURE) }).toEqual({
      encoding: undefined,
      bytes: true,
    });
    expect((await rawBytes('/assets/small.css', 'br, gzip')).encoding).toBeUndefined();
  });

  it('is not sent again to who has it, in the encoding that he has', async () => {
    const tags = await Promise.all(
      ['br', 'gzip', undefined].map(async (encoding) => (await rawBytes('/assets/index-abc.js', encoding)).etag ?? ''),
    );
    expect(new Set(tags).size).toBe(3);
    const again = await exchange(service.url, {
      method: 'GET',
      target: '/assets/index-abc.js',
      headers: [
        ['Accept-Encoding', 'br'],
        ['If-None-Match', tags[0] ?? ''],
      ],
    });
    expect({ status: again.status, body: again.body }).toEqual({ status: 304, body: '' });
    expect(
      (
        await exchange(service.url, {
          method: 'GET',
          target: '/assets/index-abc.js',
          headers: [
            ['Accept-Encoding', 'gzip'],
            ['If-None-Match', tags[0] ?? ''],
          ],
        })
      ).status,
    ).toBe(200);
    const head = await get('/assets/index-abc.js', {}, 'HEAD');
    expect({
      status: head.status,
      length: head.headers.get('content-length') !== null,
      body: await head.text(),
    }).toEqual({ status: 200, length: true, body: '' });
  });

  it.each([
    '/assets/',
    '/assets/nothing.js',
    '/assets/index-abc.js/',
    '/assets/link.txt',
    '/assets/fonts',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%2findex.html',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2fetc%2fpasswd',
    '/assets//etc/passwd',
    '/assets/__proto__',
    '/assets/constructor',
    '/assets/%00',
    '/assets/index-abc.js%00.css',
    '/assets/..%5cindex.html',
    '/assets/%252e%252e/index.html',
  ])('that is none is 404 and never the document: %s', async (target) => {
    const answer = await exchange(service.url, { method: 'GET', target });
    expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
      status: 404,
      type: expect.stringMatching(/json/),
    });
    expect(answer.body).not.toMatch(/doctype|outside|root:/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

describe('where the page is not built', () => {
  let bare: TestService;
  beforeAll(async () => {
    bare = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' }, pageFolder: join(folder, 'nowhere') });
  });
  afterAll(() => bare.stop());

  it('the root leads to the documentation, below any path of the public address', async () => {
    const answer = await fetch(`${bare.url}/`, { redirect: 'manual' });
    const { href } = new URL(answer.headers.get('location') ?? '', 'https://example.com/below/');
    expect({ status: answer.status, href, body: await answer.text() }).toEqual({
      status: 302,
      href: 'https://example.com/below/docs',
      body: '',
    });
    for (const name of ['x-request-id', 'x-content-type-options', 'cache-control'])
      expect(answer.headers.get(name)).toEqual(expect.any(String));
    expect((await fetch(`${bare.url}/`, { method: 'HEAD', redirect: 'manual' })).status).toBe(302);
    expect((await fetch(`${bare.url}/`, { method: 'POST', redirect: 'manual' })).status).toBe(405);
  });

  it('its addresses say how to build it', async () => {
    for (const path of ['/sign-in', '/runs/x', '/charts']) {
      const answer = await fetch(bare.url + path);
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 404,
        body: { error: 'resource_not_found', detail: expect.stringContaining('vite build') },
      });
    }
    expect((await fetch(`${bare.url}/assets/x.js`)).status).toBe(404);
  });
});
