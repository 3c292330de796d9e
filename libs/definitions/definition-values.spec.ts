/** Definitions that come as values: what a file may say, a value may, and nothing else. contract §4, §8. */
import { checkAutomationValue, checkWebhookValue, type FileKeys } from './definition-values.ts';
import type { KnownFacts, WebhookDefinition } from './types.ts';

const UID = `wh_${'0'.repeat(26)}`;
const GONE = `wh_${'1'.repeat(26)}`;
const usable = { token: true, url_token: false, signature: true, standard_webhooks: false };
const KNOWN: KnownFacts = {
  webhookSecrets: new Map([
    ['hook', { name: 'hook', set: true, usableFor: usable }],
    ['later', { name: 'later', set: false }],
  ]),
  runSecrets: new Set(['NPM_TOKEN']),
  liveWebhooks: new Map([[UID, 'orders']]),
  deletedWebhookUids: new Set([GONE]),
  environmentUids: new Set(),
  webhookUidOf: (slug) => (slug === 'orders' ? UID : `wh_${slug.padEnd(26, '2').slice(0, 26)}`),
};
const ORDERS: WebhookDefinition = {
  name: 'orders',
  path: 'webhooks/orders.yaml',
  authMode: 'token',
  secretName: 'gone',
  enabled: true,
};

describe('a webhook', () => {
  it('is what the file would be', () => {
    const { definition, problems } = checkWebhookValue(
      'mine',
      { secretName: 'hook', deliveryIdHeader: 'X-Id', description: undefined },
      [ORDERS],
      KNOWN,
    );
    expect(problems).toEqual([]); // the other webhook's secret is not this one's business
    expect(definition).toEqual({
      name: 'mine',
      path: 'webhooks/mine.yaml',
      authMode: 'token',
      secretName: 'hook',
      deliveryIdHeader: 'x-id',
      enabled: true,
    });
  });

  it.each<{ keys: FileKeys; pointer: string; rule: string; message: RegExp; why: string }>([
    { keys: {}, pointer: '/secretName', rule: 'missing-key', message: /missing key/, why: 'a required key' },
    {
      keys: { secretName: 'hok' },
      pointer: '/secretName',
      rule: 'secret-known',
      message: /did you mean "hook"/,
      why: 'a misspelt secret',
    },
    {
      keys: { secretName: 'later' },
      pointer: '/secretName',
      rule: 'secret-unset',
      message: /no value yet/,
      why: 'enabled by default on a secret without a value',
    },
    {
      keys: { secretName: 'later', enabled: true },
      pointer: '/enabled',
      rule: 'secret-unset',
      message: /no value yet/,
      why: 'the same on purpose',
    },
    {
      keys: { secretName: 'hook', authMode: 'url_token' },
      pointer: '/secretName',
      rule: 'secret-usable',
      message: /URL-safe/,
      why: 'a value that does not fit',
    },
    {
      keys: { secretName: 'hook', authMode: 'signature' },
      pointer: '/signatureScheme',
      rule: 'signature-scheme',
      message: /needs a signatureScheme/,
      why: 'no scheme',
    },
    {
      keys: { secretName: 'hook', signatureScheme: 'github' },
      pointer: '/signatureScheme',
      rule: 'signature-scheme',
      message: /only/,
      why: 'a scheme without its mode',
    },
    {
      keys: { secretName: 'hook', authMode: 'signature', signatureScheme: 'slack' },
      pointer: '/signatureScheme',
      rule: 'unshipped-scheme',
      message: /handshake/,
      why: 'a scheme that is not served',
    },
    {
      keys: { secretName: 'hook', authMode: 'signature', signatureScheme: 'gitub' },
      pointer: '/signatureScheme',
      rule: 'wrong-value',
      message: /did you mean "github"/,
      why: 'a scheme that nobody knows',
    },
    {
      keys: { secretName: 'hook', deliveryIdHeader: 'Authorization' },
      pointer: '/deliveryIdHeader',
      rule: 'delivery-id-header',
      message: /credential/,
      why: 'a header that tells nothing apart',
    },
    {
      keys: { secretName: 'hook', description: 'a\0b' },
      pointer: '/description',
      rule: 'nul-character',
      message: /NUL/,
      why: 'what no file may hold',
    },
  ])('has a problem at $pointer: $why', ({ keys, pointer, rule, message }) => {
    const { definition, problems } = checkWebhookValue('mine', keys, [ORDERS], KNOWN);
    expect(definition).toBeUndefined();
    expect(problems).toEqual([{ pointer, rule, severity: 'error', message: expect.stringMatching(message) }]);
  });

  it('has its other problems beside a scheme that is none', () => {
    const { problems } = checkWebhookValue(
      'mine',
      { secretName: 'hok', authMode: 'signature', signatureScheme: 'slack', deliveryIdHeader: 'Cookie' },
      [ORDERS],
      KNOWN,
    );
    expect(problems.map(({ rule }) => rule)).toEqual(['unshipped-scheme', 'delivery-id-header', 'secret-known']);
  });

  it('is one of twenty', () => {
    const others = Array.from({ length: 20 }, (_, n): WebhookDefinition => ({
      ...ORDERS,
      name: `w${n}`,
      path: `webhooks/w${n}.yaml`,
    }));
    const known = { ...KNOWN, liveWebhooks: new Map(others.map(({ name }) => [`uid ${name}`, name])) };
    expect(checkWebhookValue('a', { secretName: 'hook' }, others, known).problems).toMatchObject([
      { pointer: '', rule: 'webhook-quota' },
    ]);
    expect(
      checkWebhookValue('a', { secretName: 'hook' }, others.slice(1), {
        ...known,
        liveWebhooks: new Map([...known.liveWebhooks].slice(1)),
      }).problems,
    ).toEqual([]);
  });
});

describe('an automation', () => {
  const trigger = (filter: object): FileKeys => ({
    triggers: [{ provider: 'webhook', event: 'received', filter: filter as never }],
  });

  it('is what the file would be', () => {
    const keys = {
      ...trigger({ webhook_ids: [UID], payload: { status: ['on'] } }),
      model: 'm',
      secrets: [{ name: 'NPM_TOKEN', expose: 'env' }],
    };
    const { definition, problems } = checkAutomationValue(
      'act',
      keys,
      '\n\n  Look.\n\n',
      { webhooks: [ORDERS] },
      KNOWN,
    );
    expect(problems).toEqual([]); // in JSON "on" is text and nothing else
    expect(definition).toEqual({
      name: 'act',
      path: 'automations/act/automation.md',
      enabled: true,
      prompt: '  Look.',
      agent: { model: 'm', secrets: [{ name: 'NPM_TOKEN', expose: 'env' }] },
      triggers: [{ provider: 'webhook', webhookUids: [UID], payload: { status: ['on'] } }],
    });
  });

  it('may name what the factory has', () => {
    const keys = { ...trigger({ webhook_ids: [UID] }), environmentId: 'python', skill: 'triage' };
    const neighbours = { webhooks: [ORDERS], environmentNames: ['python'], skillNames: ['triage'] };
    expect(checkAutomationValue('act', keys, 'Look.', neighbours, KNOWN).problems).toEqual([]);
    expect(
      checkAutomationValue('act', { ...keys, environmentId: 'pyton' }, 'Look.', neighbours, KNOWN).problems,
    ).toMatchObject([{ pointer: '/environmentId', message: expect.stringContaining('did you mean "python"') }]);
  });

  it('may select a deleted webhook, which is worth a warning', () => {
    const { definition, problems } = checkAutomationValue(
      'act',
      trigger({ webhook_ids: [GONE] }),
      'Look.',
      { webhooks: [ORDERS] },
      KNOWN,
    );
    expect(definition?.triggers).toEqual([{ provider: 'webhook', webhookUids: [GONE] }]);
    expect(problems).toMatchObject([
      { pointer: '/triggers/0/filter/webhook_ids/0', rule: 'webhook-deleted', severity: 'warning' },
    ]);
  });

  it('has all of its problems at once, each at its place', () => {
    const keys: FileKeys = {
      triggers: [
        {
          provider: 'webhook',
          event: 'received',
          filter: { webhook_ids: ['wh_x', `wh_${'9'.repeat(26)}`], payload: { 'a/b': { c: 1 } } },
        },
        { provider: 'schedule', event: 'cron_fired', schedule: { cron: '61 * * * *' } },
      ],
      environmentId: 'nowhere',
      skill: 'nothing',
      secrets: [{ name: 'PATH' }, { name: 'OTHER', expose: 'env' }],
      idleTimeoutMinutes: 61,
      network: { allow: ['a b'] },
    };
    const { definition, problems } = checkAutomationValue('act', keys, ' ', { webhooks: [ORDERS] }, KNOWN);
    expect(definition).toBeUndefined();
    expect(new Set(problems.map(({ pointer, rule }) => `${pointer} ${rule}`))).toEqual(
      new Set([
        '/idleTimeoutMinutes wrong-value',
        '/network/allow/0 wrong-value',
        '/prompt empty-prompt',
        '/triggers/0/filter/webhook_ids/0 webhook-uid',
        '/triggers/0/filter/webhook_ids/1 webhook-known',
        '/triggers/0/filter/payload/a~1b/c filter-bare-scalar',
        '/triggers/1/schedule/cron cron',
        '/secrets/0/name run-secret-name',
        '/environmentId environment-known',
        '/skill skill-known',
        '/secrets/1/name secret-known',
      ]),
    );
  });

  it.each([
    ['/prompt', {}, 'a\0b'],
    ['/description', { description: '\0' }, 'Look.'],
    ['/triggers/0/filter/payload/x/0', trigger({ webhook_ids: [UID], payload: { x: ['\0'] } }), 'Look.'],
  ])('holds no NUL at %s', (pointer, keys, prompt) => {
    const { problems } = checkAutomationValue(
      'act',
      { ...trigger({ webhook_ids: [UID] }), ...keys },
      prompt,
      { webhooks: [ORDERS] },
      KNOWN,
    );
    expect(problems).toMatchObject([{ pointer, rule: 'nul-character' }]);
  });
});
