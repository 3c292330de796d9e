/** What the log tells of the work of a service: deliveries, passes, runs; and what it leaves out. contract §1.6. */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IngressAnswers } from '../../apps/server/ingress/ingress-answers.ts';
import { Log } from '../../apps/server/process/log.ts';
import { Metrics } from '../../apps/server/process/metrics.ts';
import { SampledLog } from '../../apps/server/process/sampled-log.ts';
import { deliver } from '../support/factories/factory-files.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-bearer-token-of-the-tests';
const BODY_CANARY = 'canary-of-the-payload';
const ID_CANARY = 'canary-of-the-delivery-id';

type Line = Record<string, unknown>;

const linesOf = (logged: readonly string[], message: string): Line[] =>
  logged.map((line) => JSON.parse(line) as Line).filter((line) => line['message'] === message);

describe('the log of a service', () => {
  let mill: TestService;
  let folder: FactoryFolder;

  beforeAll(async () => {
    mill = await bootService();
    await mill.secret('bearer', TOKEN);
    folder = await factoryFolder({
      webhooks: { orders: { secretName: 'bearer' } },
      automations: { fix: { webhooks: ['orders'] } },
    });
    await mill.factory('shop', folder.source);
  }, 60_000);

  afterAll(async () => {
    await mill?.stop();
    await folder?.remove();
  });

  const lines = (message: string): Line[] => linesOf(mill.logged, message);

  it('has a line for a pass that applied something, and none for one that found nothing new', async () => {
    const [pass] = lines('sync pass ended');
    expect(pass).toMatchObject({ level: 'info', factory: 'shop', ending: 'applied', changes: 2, held: 0, problems: 0 });
    const before = lines('sync pass ended').length;
    await mill.api('POST', `/factory/${String(pass?.['factory_uid'])}/sync?wait=true`);
    expect(lines('sync pass ended')).toHaveLength(before);
  });

  it('has a line for a delivery, for the start and the end of its run, and nothing that the sender wrote', async () => {
    const send = () =>
      deliver(mill.ingressUrl('shop', 'orders'), TOKEN, { text: BODY_CANARY }, { 'x-webhook-id': ID_CANARY });
    expect((await send()).status).toBe(202);
    const end = await eventually('the run ends', () => lines('run ended')[0]);
    const [delivery] = lines('delivery');
    expect(delivery).toEqual({
      at: expect.any(String),
      level: 'info',
      message: 'delivery',
      outcome: 'accepted',
      entry_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      webhook_uid: mill.webhookUid('shop', 'orders'),
      factory_uid: expect.stringMatching(/^fac_/),
      revision: expect.any(String),
      runs: 1,
    });
    const [start] = lines('run started');
    expect(start).toMatchObject({ entry_id: delivery?.['entry_id'], epoch: 1, automation_uid: expect.any(String) });
    expect(end).toMatchObject({ run_id: start?.['run_id'], entry_id: delivery?.['entry_id'], state: 'SUCCEEDED' });
    await send();
    expect(lines('delivery').at(-1)).toMatchObject({ outcome: 'duplicate' });
    expect(mill.logged.join('')).not.toMatch(new RegExp(`${BODY_CANARY}|${ID_CANARY}|${TOKEN}`));
  });

  it('has no line for probes and for files of the page', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/assets/x.js', '/docs/page.css'])
      await (await fetch(`${mill.url}${path}`)).arrayBuffer();
    await mill.api('GET', '/factory');
    await eventually('the request that came last', () =>
      lines('request').find(({ route }) => route === '/api/v1/factory'),
    );
    const routes = lines('request').map(({ route }) => String(route));
    expect(routes.filter((route) => /healthz|readyz|metrics|assets|docs/.test(route))).toEqual([]);
  });
});

describe('lines of what happens often', () => {
  it('are written ten times a second, and the others counted', () => {
    jest.useFakeTimers();
    try {
      const logged: string[] = [];
      let nowMs = 0;
      const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
      const sampled = new SampledLog(new Log((line) => void logged.push(line), clock.nowMs), clock);
      for (let n = 0; n < 25; n += 1) sampled.info('delivery', () => ({ n }));
      expect(linesOf(logged, 'delivery')).toHaveLength(10);
      jest.advanceTimersByTime(1_000);
      expect(linesOf(logged, 'log lines omitted')).toMatchObject([{ count: 15 }]);
      nowMs = 1_000;
      sampled.info('delivery', () => ({ n: 99 }));
      expect(linesOf(logged, 'delivery').at(-1)).toMatchObject({ n: 99 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('about refusals are one in ten seconds with their numbers; each answer is a figure', async () => {
    jest.useFakeTimers();
    const metrics = new Metrics();
    const logged: string[] = [];
    const answers = new IngressAnswers(
      new Log(
        (line) => void logged.push(line),
        () => 0,
      ),
      metrics,
    );
    try {
      const counted: [number, string][] = [
        [202, 'accepted'],
        [202, 'accepted'],
        [401, 'unauthenticated'],
        [429, 'over_rate'],
        [429, 'over_rate'],
        [429, 'failures_over_budget'],
      ];
      for (const [status, outcome] of counted) answers.count({ status, outcome }, performance.now());
      jest.advanceTimersByTime(10_000);
      answers.count({ status: 429, outcome: 'over_rate' }, performance.now());
      jest.advanceTimersByTime(10_000);
    } finally {
      jest.useRealTimers();
    }
    expect(linesOf(logged, 'deliveries refused')).toMatchObject([{ status_401: 1, status_429: 3 }, { status_429: 1 }]);
    const text = await metrics.text();
    expect(text).toContain('millwright_ingress_requests_total{outcome="accepted"} 2');
    expect(text).toContain('millwright_ingress_requests_total{outcome="over_rate"} 3');
    expect(text).toContain('millwright_ingress_request_duration_seconds_count{outcome="over_rate"} 3');
    expect(text).toContain('millwright_ingress_requests_total{outcome="unavailable"} 0');
  });
});
