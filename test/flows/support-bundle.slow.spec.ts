/**
 * `millwright support-bundle`: holds what whoever helps needs, and is not written where a secret or a payload would be
 * in it. contract §11.7.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { call, type Call, type CallOptions } from '../support/services/recorded-io.ts';
import { bootService, freePort, type TestService } from '../support/services/service.ts';

const LINE = '{"at":"2030-01-31T00:00:00.000Z","level":"info","message":"sync pass ended","factory":"main"}';
const PASSWORD = 'word-of-the-database';

let service: TestService;
let folder = '';
beforeAll(async () => {
  service = await bootService();
  await service.api('POST', '/factory', { slug: 'main', source: { kind: 'dashboard' } });
});
afterAll(() => service.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millwright-bundle-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function bundle(args: readonly string[] = [], options: CallOptions = {}): Promise<Call> {
  const environment = {
    PATH: process.env['PATH'],
    MILLWRIGHT_DATA_DIR: service.dataDir,
    MILLWRIGHT_API_KEY: service.adminKey,
    MILLWRIGHT_SERVER: service.url,
    MILLWRIGHT_TPYO: 'x',
    ...options.environment,
  };
  return call(['support-bundle', 'bundle.tar.gz', ...args], { cwd: folder, ...options, environment });
}

async function filesIn(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const archive = extract();
  archive.end(gunzipSync(readFileSync(join(folder, 'bundle.tar.gz'))));
  for await (const entry of archive) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    files[entry.header.name.replace('millwright-support/', '')] = Buffer.concat(chunks).toString();
  }
  return files;
}

describe('a support bundle', () => {
  it('holds versions, names of variables, findings, conditions, passes, metrics and the log', async () => {
    writeFileSync(join(folder, 'service.log'), `Millwright is running\n${LINE}\n`);
    const { code, out, err } = await bundle(['--log', 'service.log'], {
      environment: { MILLWRIGHT_DATABASE_URL: `postgres://m:${PASSWORD}@127.0.0.1:1/m`, MILLWRIGHT_PORT: '8080' },
    });
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(out).toContain('wrote bundle.tar.gz');
    const files = await filesIn();
    expect(Object.keys(files).sort()).toEqual([
      'doctor.json',
      'factories.json',
      'log.json',
      'log.jsonl',
      'metrics.txt',
      'ready.json',
      'variables.json',
      'versions.json',
    ]);
    expect(JSON.parse(files['variables.json'] ?? '')).toMatchObject({
      set: expect.arrayContaining(['MILLWRIGHT_DATABASE_URL', 'MILLWRIGHT_DATA_DIR', 'MILLWRIGHT_PORT']),
      unknown: ['MILLWRIGHT_TPYO'],
    });
    expect(JSON.parse(files['factories.json'] ?? '')).toMatchObject([
      { slug: 'main', source_kind: 'dashboard', conditions: expect.any(Array), passes: expect.any(Array) },
    ]);
    expect(JSON.parse(files['versions.json'] ?? '')).toMatchObject({ node: process.version });
    expect(files['metrics.txt']).toContain('millwright_');
    expect(files['log.jsonl']).toBe(`${LINE}\n`);
    expect(JSON.parse(files['log.json'] ?? '')).toMatchObject({ lines: 1, other_lines: 1 });
    const all = Object.values(files).join('\n');
    for (const secret of [service.adminKey, PASSWORD]) expect(all).not.toContain(secret);
    expect(statSync(join(folder, 'bundle.tar.gz')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a key of the machine', () => service.adminKey, /log\.jsonl line 2: the value of MILLWRIGHT_API_KEY/],
    ['a payload', () => '","payload":"x', /log\.jsonl line 2: a member that holds what senders/],
    ['a token that nobody here knows', () => `ghp_${'Ab1'.repeat(12)}`, /log\.jsonl line 2: a token of GitHub/],
  ])('is not written where %s is in the log, and says where', async (_what, text, words) => {
    const line = LINE.replace('"main"', `"${text()}"`);
    const { code, out, err } = await bundle(['--log', '-'], { stdin: `${LINE}\n${line}\n` });
    expect(code).toBe(1);
    expect(err).toMatch(/nothing was written/);
    expect(err).toMatch(words);
    expect(out + err).not.toContain(service.adminKey);
    expect(existsSync(join(folder, 'bundle.tar.gz'))).toBe(false);
  });

  it('is written while the service is down, and says what could not be asked', async () => {
    const { code } = await bundle([], {
      environment: { MILLWRIGHT_SERVER: `http://127.0.0.1:${await freePort()}` },
    });
    expect(code).toBe(0);
    const files = await filesIn();
    expect(JSON.parse(files['factories.json.failed.json'] ?? '')).toMatchObject({
      message: expect.stringMatching(/cannot be reached/),
    });
    expect(files['doctor.json']).toContain('"check"');
  });

  it('overwrites nothing', async () => {
    writeFileSync(join(folder, 'bundle.tar.gz'), 'mine');
    expect(await bundle()).toMatchObject({ code: 64 });
    expect(readFileSync(join(folder, 'bundle.tar.gz'), 'utf8')).toBe('mine');
  });
});
