/** Schedules of files and of the API, and agent identities, on their pages. contract §12.8, §3.14. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { describeInBrowser, launch, seriousFaults, shot, signedIn, type Visit } from '../support/browser/browser.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { makeKey } from '../support/services/api-keys.ts';
import { bootService, type TestService } from '../support/services/service.ts';
import { fits, HIDDEN, press, says } from './steps.ts';

const HOUR_MS = 3_600_000;

describeInBrowser('schedules and agent identities on the page', () => {
  let service: TestService;
  let folder: FactoryFolder;
  let dataDir: string;
  let birds: string;
  let browser: Browser;
  let visited: Visit | undefined;
  let skewMs = 0;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'millwright-schedules-'));
    [service, browser] = await Promise.all([
      bootService({
        environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_SYNC_INTERVAL: '3600' },
        nowMs: () => Date.now() + skewMs,
        dataDir,
      }),
      launch(),
    ]);
    folder = await factoryFolder({});
    await folder.writeFile(
      'automations/nightly/automation.md',
      '---\ntriggers:\n' +
        '  - {provider: schedule, event: cron_fired, schedule: {name: dawn, cron: "0 5 * * *"}}\n---\nLook.\n',
    );
    birds = await service.factory('birds', folder.source);
  });

  afterEach(async () => {
    await visited?.close();
    visited = undefined;
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await folder?.remove();
    await rm(dataDir, { recursive: true, force: true });
  });

  const make = async (path: string, body: Record<string, unknown>): Promise<Record<string, unknown>> =>
    (await service.api('POST', path, body)).body;
  const schedule = async (name: string): Promise<Record<string, unknown>> =>
    ((await service.api('GET', '/agent/schedules')).body['schedules'] as Record<string, unknown>[]).find(
      (one) => one['name'] === name,
    ) ?? {};

  it('show when each fires, what it started and where it is managed', async () => {
    visited = await signedIn(browser, service, '/schedules');
    const { page, faults } = visited;
    const dawn = page.getByRole('row').filter({ hasText: 'dawn' });
    await says(dawn, /Active 0 5 \* \* \* every day at 05:00 UTC .* never automations\/nightly\/automation\.md/);
    expect(await dawn.getByRole('button').count()).toBe(0);
    const name = `<b>Sweep</b>${HIDDEN}`;
    const sweep = { name, cron_schedule: '0 * * * *', prompt: 'Sweep.', notes: 'x', factory_uid: birds };
    await make('/agent/schedules', sweep);
    skewMs = HOUR_MS - (Date.now() % HOUR_MS) + 1_000;
    await service.service.scheduler?.ask();
    const row = page.getByRole('row').filter({ hasText: '<b>Sweep</b>' });
    await says(row, /in birds not served: \/notes Active 0 \* \* \* \* every hour, at minute 0 .* the API/);
    await shot(page, 'schedules-light');
    expect(await seriousFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 375, height: 780 });
    await fits(page);
    await row.getByRole('link', { name: /\b(ago|now|in)\b/ }).click();
    await page.waitForURL(/\/runs\?.*schedule_id=/);
    await page.getByText('Sweep.').first().waitFor();
    expect(faults).toEqual([]);
  });

  it('are paused, resumed and deleted, those of the API', async () => {
    await make('/agent/schedules', { name: 'weekly', cron_schedule: '@weekly', prompt: 'Report.' });
    visited = await signedIn(browser, service, '/schedules');
    const { page, faults } = visited;
    const row = page.getByRole('row').filter({ hasText: 'weekly' });
    const choose = async (action: string): Promise<void> => {
      await press(page, 'Actions of weekly');
      await page.getByRole('menuitem', { name: action, exact: true }).click();
    };
    await choose('Pause');
    await row.getByText('Paused').waitFor();
    expect(await schedule('weekly')).toMatchObject({ enabled: false });
    await choose('Resume');
    await row.getByText('Active').waitFor();
    expect(await schedule('weekly')).toMatchObject({ enabled: true });
    await choose('Delete');
    await press(page.getByRole('dialog'), 'Delete');
    await row.waitFor({ state: 'detached' });
    expect(await schedule('weekly')).toEqual({});
    expect(faults).toEqual([]);
  });

  it('are only shown to who may not change them', async () => {
    await make('/agent/schedules', { name: 'watched', cron_schedule: '@daily', prompt: 'x', factory_uid: birds });
    visited = await signedIn(browser, service, '/schedules', { key: await makeKey(service, 'viewer') });
    const { page } = visited;
    await says(page.getByRole('row').filter({ hasText: 'watched' }), 'Active');
    expect(await page.getByRole('button', { name: /^Actions of / }).count()).toBe(0);
  });

  it('identities show what they give, and stay as long as a schedule has them', async () => {
    const identity = { name: 'reviewer', description: 'Reads.', base_model: 'small', skills: ['acme/birds:count'] };
    const { uid } = await make('/agent/identities', {
      ...identity,
      secrets: [{ name: 'A_TOKEN' }],
      factory_uid: birds,
    });
    const { id } = await make('/agent/schedules', {
      name: 'of it',
      cron_schedule: '@daily',
      prompt: 'x',
      agent_uid: uid,
    });
    visited = await signedIn(browser, service, '/agent-identities');
    const { page, faults } = visited;
    const row = page.getByRole('row').filter({ hasText: 'reviewer' });
    await says(row, /reviewer Reads\. small – acme\/birds:count A_TOKEN birds/);
    await shot(page, 'agent-identities-light');
    expect(await seriousFaults(page)).toEqual([]);
    await press(page, 'Actions of reviewer');
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await press(dialog, 'Delete');
    await dialog.getByText(/schedules use the agent identity: of it/).waitFor();
    await service.api('DELETE', `/agent/schedules/${String(id)}`);
    await press(dialog, 'Delete');
    await row.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });
});
