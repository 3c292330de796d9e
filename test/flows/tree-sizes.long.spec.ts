/**
 * How much a tree of definitions may hold: 64 MiB, whichever way it comes, and a clear error beyond. contract
 * §3.12 (One size).
 */
import { request } from 'node:http';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_BYTES_MAX, TREE_BYTES_MAX } from '#definitions';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { call, type Call } from '../support/services/recorded-io.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const SLOW_MS_MAX = 300_000;
/** What the process grows by while it sends, reads and checks such a tree: client and service are one process here. */
const GROWTH_MAX = 16 * TREE_BYTES_MAX;
const FILES = TREE_BYTES_MAX / FILE_BYTES_MAX;
const MORE = 'skills/one-more/SKILL.md';
let service: TestService;
let folder: FactoryFolder;
let slug: string;
let uid: string;

/** As large as a file may be; every line is one of JSON's that takes more room there. */
const skill = (at: number): string => `# ${at}\n${`${'word '.repeat(15)}\n`.repeat(4_000)}`.slice(0, FILE_BYTES_MAX);
const texts = Array.from({ length: FILES }, (_, at) => skill(at).padEnd(FILE_BYTES_MAX, 'x'));
const files = texts.map((content, at) => ({ path: `skills/s${at}/SKILL.md`, content }));

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  folder = await factoryFolder({});
  slug = 'large';
  uid = await service.factory(slug, folder.source);
  for (const { path, content } of files) {
    await mkdir(join(folder.path, path, '..'), { recursive: true });
    await writeFile(join(folder.path, path), content);
  }
}, SLOW_MS_MAX);
afterEach(() => rm(join(folder.path, MORE, '..'), { recursive: true, force: true }));
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const beyond = (): Promise<void> => folder.writeFile(MORE, 'x');
const plan = (): Promise<Call> =>
  call(['plan', folder.path, '--server', service.url, '--factory', slug], {
    environment: { MILLWRIGHT_API_KEY: service.adminKey },
  });
const posted = (more: { path: string; content: string }[] = []): Promise<{ status: number; body: never }> =>
  service.api('POST', '/factory-files/validate', { files: [...files, ...more] }) as never;

describe('64 MiB of definitions', () => {
  it(
    'are checked by the command',
    async () => {
      expect(await call(['validate', folder.path])).toMatchObject({
        code: 0,
        err: expect.stringContaining(`${FILES} files`),
      });
    },
    SLOW_MS_MAX,
  );

  it(
    'are planned',
    async () => {
      expect(await plan()).toMatchObject({ code: 2, out: expect.stringContaining('s0') });
    },
    SLOW_MS_MAX,
  );

  it(
    'are checked over the API, in bounded memory',
    async () => {
      const before = process.memoryUsage.rss();
      let most = before;
      const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
      const { status, body } = await posted();
      clearInterval(sampling);
      expect({ status, body }).toMatchObject({ status: 200, body: { valid: true, diagnostics: [] } });
      expect(most - before).toBeLessThan(GROWTH_MAX);
      process.stderr.write(`a tree of 64 MiB is sent and checked in ${(most - before) >> 20} MiB more\n`);
    },
    SLOW_MS_MAX,
  );

  it(
    'are synced',
    async () => {
      const { condition } = await service.sync(uid);
      expect(condition).toMatchObject({ ending: 'applied' });
    },
    SLOW_MS_MAX,
  );
});

describe('a byte more is refused, and why is said', () => {
  beforeEach(beyond);

  it.each([
    ['validate', () => call(['validate', folder.path])],
    ['plan', plan],
  ])(
    'by the command: %s',
    async (_verb, ask) => {
      const { code, err } = await ask();
      expect(code).not.toBe(0);
      expect(err).toContain(`more than ${TREE_BYTES_MAX} bytes together`);
    },
    SLOW_MS_MAX,
  );

  it.each(['/factory-files/validate', '/factory/UID/plan'])(
    'by %s',
    async (path) => {
      const body = { files: [...files, { path: MORE, content: 'x' }] };
      const answer = await service.api('POST', path.replace('UID', uid), body);
      expect(answer).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/files', message: expect.stringContaining(`${TREE_BYTES_MAX} bytes`) }] },
      });
    },
    SLOW_MS_MAX,
  );

  it(
    'by a sync, which leaves what is applied',
    async () => {
      const { condition } = await service.sync(uid);
      expect(condition).toMatchObject({ message: expect.stringContaining(`${TREE_BYTES_MAX} bytes together`) });
    },
    SLOW_MS_MAX,
  );
});

describe('a body', () => {
  const send = (headers: Record<string, string>, text: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = request(`${service.url}/api/v1/factory-files/validate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json', ...headers },
      });
      asked.once('error', reject);
      asked.once('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      asked.write(text);
      if (headers['content-length'] === undefined || Number(headers['content-length']) === text.length) asked.end();
    });
  const large = JSON.stringify({ files: files.slice(0, 20) });

  it('of more than 96 MiB is refused before it is read', async () => {
    expect(await send({ 'content-length': String(97 * 1_048_576) }, '{')).toBe(413);
  });

  it('that is large says its length', async () => {
    expect(await send({ 'content-length': String(Buffer.byteLength(large)) }, large)).toBe(200);
    expect(await send({ 'transfer-encoding': 'chunked' }, large)).toBe(413);
  });

  it.each(['', '}', ',', '{'])('that is large and no JSON for its end %j is refused', async (end) => {
    const text = `${large.slice(0, -2)}${end}`;
    expect(await send({ 'content-length': String(Buffer.byteLength(text)) }, text)).toBe(400);
  });

  it('takes its room until it is answered, and gives it back', async () => {
    const text = JSON.stringify({ files: files.slice(0, 200) });
    const length = { 'content-length': String(Buffer.byteLength(text)) };
    const answers = await Promise.all([send(length, text), send(length, text)].map((one) => one.catch(() => 429)));
    expect(answers.sort()).toEqual([200, 429]);
    expect(await send(length, text)).toBe(200);
  });
});
