/**
 * A commit or a rotation that is applied decides every request that begins behind it. spec: Webhook enablement, Webhook
 * management (Rotate secret); contract §5.8 (Transaction), §9.
 */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  factoryFolder,
  type FactoryFolder,
  type FactoryTree,
  type WebhookFile,
} from '../support/factories/factory-folder.ts';
import { connectRaw, exchange, requestHead, type HeaderLines, type RawAnswer } from '../support/network/raw-http.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
const NEXT = 'the-next-token-of-the-tests';

const WEBHOOKS: Record<string, WebhookFile> = {
  plain: { secretName: 'bearer' },
  linked: { authMode: 'url_token', secretName: 'bearer' },
  second: { secretName: 'bearer' },
  third: { secretName: 'bearer' },
  signed: { authMode: 'signature', signatureScheme: 'github', secretName: 'bearer' },
};
const TREE: FactoryTree = { webhooks: WEBHOOKS, automations: { act: { webhooks: ['plain'], prompt: 'First words.' } } };

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let skewMs = 0;

beforeEach(async () => {
  mill = await bootService({ nowMs: () => Date.now() + skewMs, environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await mill.secret('bearer', TOKEN);
  folder = await factoryFolder(TREE);
  factory = await mill.factory('changes', folder.source);
});

afterEach(async () => {
  await mill?.stop();
  await folder?.remove();
});

const path = (slug: string): string => `/webhooks/w/${mill.webhookUid('changes', slug)}`;
const bearer = (token = TOKEN): HeaderLines => [['Authorization', `Bearer ${token}`]];
let unique = 0;
const send = (slug = 'plain', token = TOKEN): Promise<RawAnswer> =>
  exchange(mill.url, { target: path(slug), headers: bearer(token), body: `{"n": ${(unique += 1)}}` });

async function commit(tree: FactoryTree): Promise<void> {
  await folder.write(tree);
  const { condition } = (await mill.sync(factory)) as { condition: { ending: string; message: string } };
  expect(condition).toMatchObject({ ending: 'applied' });
}

const withWebhook = (slug: string, file: WebhookFile | undefined): FactoryTree => {
  const { [slug]: _, ...rest } = WEBHOOKS;
  return { ...TREE, webhooks: file === undefined ? rest : { ...rest, [slug]: file } };
};

describe('at once', () => {
  it('a disabled webhook is 404, an enabled one answers again, its history is kept', async () => {
    expect((await send('second')).status).toBe(202);
    await commit(withWebhook('second', { secretName: 'bearer', enabled: false }));
    expect((await send('second')).status).toBe(404);
    expect((await send('second', 'wrong')).status).toBe(404);
    await commit(TREE);
    expect((await send('second')).status).toBe(202);
    const log = await mill.api(
      'GET',
      `/factory/${factory}/webhooks/${mill.webhookUid('changes', 'second')}/deliveries`,
    );
    expect((log.body['deliveries'] as unknown[]).length).toBe(2);
  });

  it('a deleted webhook is 404; a reverted deletion brings the same URL back', async () => {
    await commit(withWebhook('second', undefined));
    expect((await send('second')).status).toBe(404);
    await commit(TREE);
    expect((await send('second')).status).toBe(202);
  });

  it('another mode: the old form of the URL is gone', async () => {
    await commit(withWebhook('second', { authMode: 'url_token', secretName: 'bearer' }));
    expect((await send('second')).status).toBe(401);
    expect((await exchange(mill.url, { target: `${path('second')}/${TOKEN}`, body: '{"m": 1}' })).status).toBe(202);
  });

  it('a deleted factory is 404 everywhere', async () => {
    expect((await mill.api('DELETE', `/factory/${factory}`)).status).toBe(204);
    for (const slug of Object.keys(WEBHOOKS)) expect((await send(slug)).status).toBe(404);
  });

  it('a rotated secret: the old value is 401 and the new one 202, for every webhook that shares it', async () => {
    await mill.secret('bearer', NEXT);
    await mill.sync(factory);
    for (const slug of ['plain', 'second', 'third'])
      expect([(await send(slug)).status, (await send(slug, NEXT)).status]).toEqual([401, 202]);
    expect((await exchange(mill.url, { target: `${path('linked')}/${TOKEN}`, body: '{"r": 1}' })).status).toBe(401);
    expect((await exchange(mill.url, { target: `${path('linked')}/${NEXT}`, body: '{"r": 1}' })).status).toBe(202);
  });

  it('a secret deleted by force authenticates nothing', async () => {
    expect((await mill.api('DELETE', '/secrets/bearer')).status).toBe(409);
    expect((await mill.api('DELETE', '/secrets/bearer?force=true')).status).toBe(204);
    await mill.sync(factory);
    expect((await send()).status).toBe(401);
    expect((await send('plain', '')).status).toBe(401);
  });

  it('a grant that is taken away: 401', async () => {
    expect((await mill.api('PUT', '/secrets/bearer', { grants: { uses: ['run'] } })).status).toBe(200);
    await mill.sync(factory);
    expect((await send()).status).toBe(401);
  });

  it('a rotation is taken over while the factory is suspended', async () => {
    expect((await mill.api('POST', `/factory/${factory}/suspend`)).status).toBe(200);
    await mill.secret('bearer', NEXT);
    await mill.sync(factory);
    expect([(await send()).status, (await send('plain', NEXT)).status]).toEqual([401, 202]);
  });

  it('an edited prompt: runs of the next delivery have it', async () => {
    await commit({ ...TREE, automations: { act: { webhooks: ['plain'], prompt: 'Second words.' } } });
    await send();
    const runs = await mill.api('GET', '/agent/runs');
    expect((runs.body['runs'] as { prompt: string }[])[0]?.prompt).toMatch(/^Second words\./);
  });
});

describe('a request that is under way', () => {
  /** Begins a delivery whose body is still to come. */
  async function begun(slug: string): Promise<{ finish(): Promise<RawAnswer> }> {
    const connection = await connectRaw(mill.url);
    const body = `{"slow": ${(unique += 1)}}`;
    connection.send(requestHead(mill.url, { target: path(slug), headers: bearer(), declared: body.length }));
    connection.send(body.slice(0, 3));
    await new Promise((resolve) => setTimeout(resolve, 50)); // its credential has been looked at
    return {
      finish: async () => {
        connection.send(body.slice(3));
        const answer = await connection.answer();
        connection.destroy();
        return answer;
      },
    };
  }

  it.each<{ why: string; change: () => Promise<unknown>; status: number }>([
    {
      why: 'a rotation',
      change: async () => {
        await mill.secret('bearer', NEXT);
        await mill.sync(factory);
      },
      status: 401,
    },
    {
      why: 'a disable',
      change: () => commit(withWebhook('second', { secretName: 'bearer', enabled: false })),
      status: 404,
    },
    { why: 'a deletion', change: () => commit(withWebhook('second', undefined)), status: 404 },
    {
      why: 'an edit of something else: it is accepted',
      change: () => commit({ ...TREE, automations: { act: { webhooks: ['plain'], prompt: 'Other.' } } }),
      status: 202,
    },
  ])('is decided again after $why', async ({ change, status }) => {
    const request = await begun('second');
    await change();
    expect((await request.finish()).status).toBe(status);
  });

  it('is accepted with a signature of the secret that came while its body did', async () => {
    const body = `{"signed": ${(unique += 1)}}`;
    const signature = `sha256=${createHmac('sha256', NEXT).update(body).digest('hex')}`;
    const headers: HeaderLines = [['X-Hub-Signature-256', signature]];
    const connection = await connectRaw(mill.url);
    connection.send(requestHead(mill.url, { target: path('signed'), headers, declared: body.length }));
    connection.send(body.slice(0, 3));
    await new Promise((resolve) => setTimeout(resolve, 50)); // its webhook has been looked up
    await mill.secret('bearer', NEXT);
    await mill.sync(factory);
    connection.send(body.slice(3));
    expect((await connection.answer()).status).toBe(202);
    connection.destroy();
  });
});

it(
  'no request that begins behind the end of a rotation is accepted with the old secret, however hard senders ' +
    'hammer',
  async () => {
    const state = { stop: false };
    let rotatedAt = Number.POSITIVE_INFINITY;
    const late: number[] = [];
    const seen = new Set<number>();
    const hammer = async (): Promise<void> => {
      while (!state.stop) {
        const startedAt = performance.now();
        const { status } = await send();
        seen.add(status);
        if (startedAt > rotatedAt) late.push(status);
        skewMs += 2_500; // keeps the rate below 60 a minute
      }
    };
    const hammers = Array.from({ length: 16 }, () => hammer());
    await eventually('a delivery is accepted', () => seen.has(202) || undefined);
    await mill.secret('bearer', NEXT);
    await mill.sync(factory);
    rotatedAt = performance.now();
    await eventually('requests behind the rotation are answered', () => late.length > 20 || undefined);
    state.stop = true;
    await Promise.all(hammers);
    expect(late.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    skewMs += 121_000;
    expect((await send('plain', NEXT)).status).toBe(202);
  },
);

it('the same for a disable: 404 and nothing else', async () => {
  const state = { stop: false };
  let disabledAt = Number.POSITIVE_INFINITY;
  const seen: number[] = [];
  const late: number[] = [];
  const hammers = Array.from({ length: 16 }, async () => {
    while (!state.stop) {
      const startedAt = performance.now();
      const { status } = await send('second');
      seen.push(status);
      if (startedAt > disabledAt) late.push(status);
      skewMs += 2_500;
    }
  });
  await eventually('a delivery is accepted', () => seen.includes(202) || undefined);
  await commit(withWebhook('second', { secretName: 'bearer', enabled: false }));
  disabledAt = performance.now();
  await eventually('requests behind the disable are answered', () => late.length > 20 || undefined);
  state.stop = true;
  await Promise.all(hammers);
  expect(new Set(late)).toEqual(new Set([404]));
});
