/**
 * Runs on the web page where it takes long: 100,000 in the list, 10,000 entries in a log, a service that goes and comes
 * back, and an agent of its own.
 */
import type { Browser } from 'playwright-core';
import { seedRuns } from '../bench/seeds/run-seeds.ts';
import { talks } from '../support/agents/agent-talks.ts';
import { describeInBrowser, launch, seriousFaults, shot, signedIn } from '../support/browser/browser.ts';
import { startedRun } from '../support/runs/runs.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { factOf, readRuns, stateOf } from './run-list.ts';

describeInBrowser('runs of any number and length', () => {
  let browser: Browser;
  let service: TestService;
  /** Stopped in the end, also when a test fails: they would keep the process alive. */
  const others: TestService[] = [];

  beforeAll(async () => {
    service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    browser = await launch();
  });

  afterAll(async () => {
    await browser.close();
    for (const one of [service, ...others]) await one.stop();
  });

  it('are in a list of 100,000, which scrolls with few elements and comes back to where it was left', async () => {
    await seedRuns(service.service.database, 100_000);
    const { page, faults, close } = await signedIn(browser, service, '/runs');
    await readRuns(page, service, { loaded: 2_000, read: 1_500 });
    expect(faults).toEqual([]);
    await close();
  }, 360_000);

  it('say so when the server is gone, and go on with what was typed when it is back', async () => {
    const first = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    const { page, faults, close } = await signedIn(browser, first, `/runs/${await startedRun(first, 'exit 0')}`);
    await stateOf(page, 'QUEUED').waitFor();
    await page.getByLabel('Follow-up', { exact: true }).fill('typed before');
    await first.stop({ keepData: true });
    await page.getByText('The server does not answer').waitFor();
    const again = await bootService({
      dataDir: first.dataDir,
      environment: {
        MILLWRIGHT_RUN_CONCURRENCY: '0',
        MILLWRIGHT_PORT: new URL(first.url).port,
        MILLWRIGHT_ADMIN_KEY: first.adminKey,
      },
    });
    others.push(again);
    await page.getByText('The server does not answer').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Follow-up', { exact: true }).inputValue()).toBe('typed before');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Joined to the prompt that waits.').waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await stateOf(page, 'CANCELLED').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('have logs of any length: the newest part is there, earlier ones on demand, few elements', async () => {
    const runId = await startedRun(service, 'exit 0');
    expect((await service.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
    await service.service.database.source.query(
      `WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 10999)
       INSERT INTO run_event (run_id, seq, execution_id, at, kind, body)
       SELECT run_id, last + i - 999, execution_id, 1, CASE WHEN i % 2 THEN 'message'
       ELSE 'thought' END, '{"text":"entry ' || i || '"}'
       FROM n, (SELECT run_id, max(seq) AS last, max(execution_id) AS execution_id FROM run_event WHERE run_id = ?)`,
      [runId],
    );
    const { page, faults, close } = await signedIn(browser, service, `/runs/${runId}`);
    const log = page.getByRole('log');
    await log.waitFor();
    await page.getByRole('button', { name: 'Jump to newest' }).click();
    await log.getByText('entry 10999').waitFor();
    expect(await log.locator('[data-index]').count()).toBeLessThan(80);
    await page.getByRole('button', { name: 'Load earlier entries' }).click();
    await page.getByRole('button', { name: 'Load earlier entries' }).click();
    await page.getByRole('button', { name: 'Load later entries' }).waitFor();
    await page.getByRole('button', { name: 'Jump to newest' }).click();
    await log.getByText('entry 10999').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('tell what the built-in agent does: what it says, its tools, and what it has used', async () => {
    const working = await bootService({ environment: { MILLWRIGHT_AGENT_DEMO_STEPS: 'true' } });
    others.push(working);
    const builtIn = talks(working.api, working.dataDir, 'builtin');
    const runId = await builtIn.start(
      'Do this.\n\n```demo\n[{"say":"I look around."},{"tool":"bash","input":{"command":"echo ' +
        'found-it"}},{"say":"**All** is well."}]\n```\n',
      { title: 'Looks around' },
    );
    const { page, faults, close } = await signedIn(browser, working, `/runs/${runId}`);
    const log = page.getByRole('log');
    await log.getByText('I look around.').waitFor({ timeout: 60_000 });
    await stateOf(page, 'SUCCEEDED').waitFor({ timeout: 60_000 });
    await log.locator('strong', { hasText: 'All' }).waitFor();
    await log.getByRole('button', { expanded: false }).filter({ hasText: 'found-it' }).click();
    await log.getByRole('group', { name: 'Output' }).getByText('found-it').waitFor();
    const { request_usage: used } = (await builtIn.run(runId)) as {
      request_usage: { total_tokens: number; inference_cost?: number; currency?: string };
    };
    expect(used.total_tokens).toBeGreaterThan(0);
    await factOf(page, 'Usage')
      .getByText(
        new RegExp(
          `^${used.total_tokens.toLocaleString('en-GB')} tokens${used.inference_cost === undefined ? '$' : ''}`,
        ),
      )
      .waitFor();
    const usage = (await builtIn.events(runId)).findLast(({ event_type: type }) => type === 'usage')?.payload as
      | { context_tokens: number }
      | undefined;
    await page
      .getByText(
        new RegExp(`^${(usage?.context_tokens ?? Number.NaN).toLocaleString('en-GB')} .*tokens in the context$`),
      )
      .waitFor();
    await shot(page, 'runs-tools-light');
    expect(await seriousFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });
});
