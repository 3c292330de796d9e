/**
 * The documentation in a browser: everything is there, and nothing that the page's policy forbids was tried. contract
 * §3.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { API_SCHEMAS, OPERATIONS } from '#contracts';
import { describeInBrowser, PROGRAM } from '../support/browser/browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';

describeInBrowser('the page /docs in a browser', () => {
  let service: TestService;
  let profile: string;

  beforeAll(async () => {
    service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    profile = await mkdtemp(join(tmpdir(), 'millwright-browser-'));
  });

  afterAll(async () => {
    await service.stop();
    await rm(profile, { recursive: true, force: true });
  });

  /** What the page is once its scripts have run, and what the browser said meanwhile. */
  async function open(path: string): Promise<{ page: string; said: string[] }> {
    const { stdout, stderr } = await promisify(execFile)(
      PROGRAM ?? '',
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        '--disable-sync',
        '--disable-background-networking',
        '--disable-component-update',
        `--user-data-dir=${profile}`,
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        '--enable-logging=stderr',
        '--virtual-time-budget=10000',
        '--dump-dom',
        service.url + path,
      ],
      { maxBuffer: 64 * 1_048_576 },
    );
    return { page: stdout, said: stderr.split('\n').filter((line) => line.includes('CONSOLE')) };
  }

  it('shows every operation and every schema, and runs into no error', async () => {
    const { page, said } = await open('/docs');
    expect(said).toEqual([]);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(OPERATIONS.flatMap(({ operations }) => operations).filter(({ id }) => !ids.includes(id))).toEqual([]);
    expect(
      Object.values(API_SCHEMAS).filter((schema) => !ids.includes(`schema-${(schema as { title: string }).title}`)),
    ).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(page).toContain(`curl -sS "${service.url}/api/v1/agent/runs" \\`);
  });

  it('opens what its address names', async () => {
    const { page } = await open('/docs#schema-RunItem');
    expect(page).toMatch(/<details id="schema-RunItem" open="">[\s\S]*?run_id/);
  });
});
