/** What memory may be trusted for, and how it follows the database. contract §5.8, §2.2. */
import { describe, expect, it } from '@jest/globals';
import type { AutomationDefinition, Trigger } from '#definitions';
import { UNREADABLE_FILTER } from '#filters';
import { Vault } from '../secrets/vault.ts';
import type { ServingFactory, ServingStore, ServingWebhook } from '../store/serving/serving.ts';
import type { Log, LogMembers } from '../process/log.ts';
import type { ServedWebhook } from './served-webhooks.ts';
import { Serving } from './serving-state.ts';

const vault = new Vault(Buffer.alloc(32, 1));
const sealed = (value: string, secretId = 's1', version = 1) => ({
  secretId,
  version,
  ...vault.seal(Buffer.from(value), secretId, version),
});

const webhook = (uid: string, more: Partial<ServingWebhook> = {}): ServingWebhook => ({
  uid,
  slug: uid,
  name: uid,
  authMode: 'token',
  enabled: true,
  secret: sealed('token-of-the-tests'),
  ...more,
});
const automation = (
  uid: string,
  triggers: Trigger[],
  enabled = true,
): { uid: string; name: string; definition: AutomationDefinition } => ({
  uid,
  name: uid,
  definition: { name: uid, path: '', enabled, prompt: 'x', agent: {}, triggers },
});
const factory = (
  uid: string,
  version: number,
  webhooks: ServingWebhook[],
  more: Partial<ServingFactory> = {},
): ServingFactory => ({
  uid,
  slug: uid,
  version,
  foundAt: version,
  deleted: false,
  serviceAccountUid: 'svc',
  revision: `r${version}`,
  webhooks,
  automations: [],
  ...more,
});

/** A database that answers when it is told to. */
class Store {
  factories: ServingFactory[] = [];
  looks = 0;
  pages = 0;
  /** Automations whose definitions were asked for. */
  lookedUp: string[] = [];
  gate: Promise<void> = Promise.resolve();
  fails = false;
  /** Fails behind the first answer. */
  breaks = false;
  /** Which server answers. */
  server = 1;
  async latest(): Promise<{ version: number; server: number }> {
    this.looks += 1;
    await this.gate;
    if (this.fails) throw new Error('away');
    return { version: Math.max(0, ...this.factories.map(({ version }) => version)), server: this.server };
  }
  async changedSince(version: number, limit: number): Promise<ServingFactory[]> {
    this.pages += 1;
    if (this.breaks) throw new Error('away');
    return this.factories
      .filter((one) => one.version > version)
      .sort((a, b) => a.version - b.version)
      .slice(0, limit);
  }
  async definitions(factoryUid: string, version: number, uids: readonly string[]): Promise<Map<string, string>> {
    this.lookedUp.push(...uids);
    const found = this.factories.find((one) => one.uid === factoryUid && one.version === version);
    return new Map(
      found?.automations
        .filter(({ uid }) => uids.includes(uid))
        .map(({ uid, definition }) => [uid, JSON.stringify(definition)]),
    );
  }
}

function serving(store: Store, clock = { nowMs: 0 }, opener: Vault = vault) {
  return new Serving(
    store as unknown as ServingStore,
    opener,
    { nowMs: () => clock.nowMs, monotonicMs: () => clock.nowMs },
    { fault: () => undefined } as unknown as Log,
  );
}

describe('memory', () => {
  it('follows what is committed: changes, disappearances, deleted factories', async () => {
    const store = new Store();
    store.factories = [factory('f1', 1, [webhook('a'), webhook('b')]), factory('f2', 2, [webhook('c')])];
    const memory = serving(store);
    await memory.refresh();
    expect([memory.webhook('a')?.factory.version, memory.webhook('c')?.factory.version]).toEqual([1, 2]);
    store.factories = [factory('f1', 3, [webhook('a', { enabled: false })]), factory('f2', 4, [], { deleted: true })];
    await memory.refresh();
    expect([
      memory.webhook('a')?.enabled,
      memory.webhook('a')?.factory.version,
      memory.webhook('b'),
      memory.webhook('c'),
    ]).toEqual([false, 3, undefined, undefined]);
  });

  it('takes in many factories a part at a time, and none twice', async () => {
    const store = new Store();
    store.factories = Array.from({ length: 45 }, (_, n) => factory(`f${n}`, n + 1, [webhook(`w${n}`)]));
    const memory = serving(store);
    await memory.refresh();
    expect([memory.webhook('w0'), memory.webhook('w44')].map((one) => one?.uid)).toEqual(['w0', 'w44']);
    expect([memory.loadedVersion, store.pages]).toEqual([45, 3]);
    await memory.refresh();
    expect(store.pages).toBe(3);
  });

  it('loses no factory that got another version while it was looked up', async () => {
    const store = new Store();
    store.factories = [factory('f1', 9, [webhook('a')], { foundAt: 1 })];
    const memory = serving(store);
    await memory.refresh();
    expect([memory.loadedVersion, memory.webhook('a')?.factory.version]).toEqual([1, 9]);
  });

  it.each([
    { why: 'another server', server: 2, versions: [4, 9] },
    { why: 'the same one with a lower clock', server: 1, versions: [3, 4] },
  ])('takes in everything anew from $why, and forgets what is not there', async ({ server, versions }) => {
    const store = new Store();
    store.factories = [factory('f1', 5, [webhook('a')]), factory('f2', 6, [webhook('b')])];
    const memory = serving(store);
    await memory.refresh();
    const [older = 0, newer = 0] = versions;
    store.factories = [factory('f1', older, [webhook('a', { enabled: false })]), factory('f3', newer, [webhook('c')])];
    store.server = server;
    store.breaks = true;
    await expect(memory.refresh()).rejects.toThrow('away');
    store.breaks = false;
    await memory.refresh();
    expect(['a', 'b', 'c'].map((uid) => memory.webhook(uid)?.enabled)).toEqual([false, undefined, true]);
    expect([memory.loadedVersion, memory.webhook('a')?.factory.version]).toEqual([newer, older]);
  });

  it('is confirmed for one second from the moment of asking', async () => {
    const store = new Store();
    const clock = { nowMs: 5_000 };
    const memory = serving(store, clock);
    expect(memory.isConfirmed()).toBe(false);
    await memory.confirm();
    clock.nowMs = 6_000;
    expect(memory.isConfirmed()).toBe(true);
    await memory.confirm();
    expect(store.looks).toBe(1);
    clock.nowMs = 6_001;
    expect(memory.isConfirmed()).toBe(false);
    await memory.confirm();
    expect(store.looks).toBe(2);
  });

  it('many that ask at once share a look, and none is content with one that began before it asked', async () => {
    const store = new Store();
    let open = (): void => undefined;
    store.gate = new Promise((resolve) => (open = resolve));
    const memory = serving(store);
    const first = memory.refresh();
    await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve)); // the first look is under way
    const others = Array.from({ length: 50 }, () => memory.refresh());
    store.factories = [factory('f1', 1, [webhook('new')])];
    open();
    await Promise.all([first, ...others]);
    expect(store.looks).toBe(2);
    expect(memory.webhook('new')).toBeDefined();
  });

  it('a database that is away confirms nothing and is asked again', async () => {
    const store = new Store();
    store.fails = true;
    const memory = serving(store);
    await expect(memory.confirm()).rejects.toThrow('away');
    expect(memory.isConfirmed()).toBe(false);
    store.fails = false;
    await memory.confirm();
    expect(memory.isConfirmed()).toBe(true);
  });

  it('a value damaged at rest authenticates nobody, is reported, and takes no other webhook down', async () => {
    const store = new Store();
    const broken = webhook('broken', { secret: { ...sealed('x'), sealed: Buffer.alloc(40) } });
    store.factories = [factory('a', 7, [webhook('first'), broken]), factory('b', 3, [webhook('second')])];
    const reported: string[] = [];
    const memory = new Serving(store as unknown as ServingStore, vault, { nowMs: () => 0, monotonicMs: () => 0 }, {
      fault: (_message: string, _fault: unknown, members: LogMembers) =>
        void reported.push(String(members['secret_id'])),
    } as unknown as Log);
    await memory.refresh();
    expect(memory.webhook('broken')?.uid).toBe('broken');
    expect(memory.webhook('broken')?.tokenDigest).toBeUndefined();
    expect([memory.webhook('first'), memory.webhook('second')].every((one) => one?.tokenDigest !== undefined)).toBe(
      true,
    );
    expect(reported).toHaveLength(1);
  });
});

describe('a served webhook', () => {
  const served = async (one: ServingWebhook, automations: ServingFactory['automations'] = []) => {
    const store = new Store();
    store.factories = [factory('f1', 1, [one], { automations })];
    const memory = serving(store);
    await memory.refresh();
    return memory.webhook(one.uid);
  };

  it.each<{ why: string; one: ServingWebhook; token: boolean; key: boolean }>([
    { why: 'token: its digest only', one: webhook('w'), token: true, key: false },
    {
      why: 'signature: its key',
      one: webhook('w', { authMode: 'signature', signatureScheme: 'github' }),
      token: false,
      key: true,
    },
    {
      why: 'an unset secret authenticates nothing',
      one: webhook('w', { secret: undefined }),
      token: false,
      key: false,
    },
    {
      why: 'a value that is no key of the scheme authenticates nothing',
      one: webhook('w', { authMode: 'signature', signatureScheme: 'standard_webhooks' }),
      token: false,
      key: false,
    },
  ])('$why', async ({ one, token, key }) => {
    const found = await served(one);
    expect([found?.tokenDigest !== undefined, found?.signingKey !== undefined]).toEqual([token, key]);
    expect(JSON.stringify(found)).not.toContain('token-of-the-tests');
  });

  it('has every trigger that selects it, whatever the automation is called', async () => {
    const found = await served(webhook('w'), [
      automation('auto_1', [
        { provider: 'webhook', webhookUids: ['w', 'other'], payload: { a: [1] } },
        { provider: 'webhook', webhookUids: ['w'] },
        { provider: 'schedule', cron: '* * * * *' },
      ]),
      automation('auto_2', [{ provider: 'webhook', webhookUids: ['other'] }]),
      automation('auto_3', [{ provider: 'webhook', webhookUids: ['w'] }], false),
    ]);
    expect(found?.automations.map(({ id, enabled }) => [id, enabled])).toEqual([
      ['auto_1', true],
      ['auto_1', true],
      ['auto_3', false],
    ]);
    expect(found?.automations.map(({ filter }) => filter.matches({ a: 2 }))).toEqual([false, true, true]);
  });

  it('knows what its automations say when they start something: asked once for each version', async () => {
    const store = new Store();
    const automations = [automation('auto_1', [{ provider: 'webhook', webhookUids: ['w'] }]), automation('auto_2', [])];
    store.factories = [factory('f1', 1, [webhook('w')], { automations })];
    const memory = serving(store);
    await memory.refresh();
    const found = memory.webhook('w') as ServedWebhook;
    for (let n = 0; n < 3; n += 1)
      expect(
        (await memory.definitionsOf(found, ['auto_1', 'auto_2']))?.map(([uid, { prompt }]) => [uid, prompt]),
      ).toEqual([
        ['auto_1', 'x'],
        ['auto_2', 'x'],
      ]);
    expect(store.lookedUp).toEqual(['auto_1', 'auto_2']);
    store.factories = [
      factory('f1', 2, [webhook('w')], {
        automations: [automation('auto_1', [{ provider: 'webhook', webhookUids: ['w'] }])],
      }),
    ];
    await memory.refresh();
    const after = memory.webhook('w') as ServedWebhook;
    expect((await memory.definitionsOf(after, ['auto_1']))?.[0]?.[1].prompt).toBe('x');
    expect(store.lookedUp).toEqual(['auto_1', 'auto_2', 'auto_1']);
    // Decided on a version that is over: it is decided again.
    expect(await memory.definitionsOf(found, ['auto_1'])).toBeUndefined();
  });

  it('a stored filter that cannot be read never matches', async () => {
    const found = await served(webhook('w'), [
      automation('auto_1', [{ provider: 'webhook', webhookUids: ['w'], payload: { a: 'no array' } }]),
    ]);
    expect(found?.automations[0]?.filter).toBe(UNREADABLE_FILTER);
  });
});
