/**
 * Edits of dashboard factories, decided on the factory as it is; and what answers them where files decide. contract §4.
 */
import {
  changedWebhook,
  createdAutomation,
  createdWebhook,
  deletedAutomation,
  deletedWebhook,
  refuseWebhookCreate,
  refuseWebhookRotate,
  rotatedWebhook,
  type EditRefusal,
  type EditVerdict,
  type FactoryRecord,
  type SecretRecord,
  type WebhookRecord,
} from './index.ts';

const UID_KEY = new Uint8Array(32).fill(7);
const RANDOM = new Uint8Array(32).fill(9);
const ANY = (): boolean => true;

function webhook(slug: string, more: Partial<WebhookRecord> = {}): WebhookRecord {
  const secretName = more.secret_name ?? `${slug}-secret`;
  return {
    uid: `wh_${slug}`,
    slug,
    name: slug,
    auth_mode: 'token',
    signature_scheme: null,
    secret_name: secretName,
    path: '',
    definition: JSON.stringify({ name: slug, path: '', enabled: true, authMode: 'token', secretName }),
    version: 3,
    ...more,
  };
}

function secret(name: string, more: Partial<SecretRecord> = {}): [string, SecretRecord] {
  const usableFor = { token: true, url_token: true, signature: true, standard_webhooks: true };
  return [name, { id: `secret-${name}`, owner: 'fac_1', name, version: 1, usableFor, ...more }];
}

function factory(more: Partial<FactoryRecord> = {}): FactoryRecord {
  return {
    uid: 'fac_1',
    slug: 'shop',
    webhooks: [],
    automations: [],
    deletedWebhookUids: new Set(),
    environments: [],
    skills: [],
    webhookSecrets: new Map(),
    runSecretNames: new Set(),
    ownSecretNames: new Set(),
    secretsUsedElsewhere: new Set(),
    ...more,
  };
}

const options = { uidKey: UID_KEY, random: RANDOM };

function reasonOf(verdict: EditVerdict): EditRefusal | undefined {
  return verdict.ok ? undefined : verdict.reason;
}

describe('making a webhook', () => {
  it('makes a secret of its own and a value that is shown', () => {
    const verdict = createdWebhook(factory(), { name: 'Orders' }, options);
    expect(verdict).toMatchObject({
      ok: true,
      secrets: [{ owner: 'fac_1', text: expect.any(String) }],
      value: { generated: true },
      change: { action: 'webhook.create', details: { slug: 'orders', auth_mode: 'token', enabled: true } },
    });
  });

  it('comes to the same with the same random bytes', () => {
    const made = () => createdWebhook(factory(), { name: 'Orders' }, options);
    expect(made()).toEqual(made());
  });

  it('uses an existing secret as it is, and refuses another value for it', () => {
    const withSecret = factory({ webhookSecrets: new Map([secret('hook')]) });
    const used = createdWebhook(withSecret, { name: 'Orders', secret_name: 'hook' }, options);
    expect(used).toMatchObject({ ok: true, secrets: [], value: undefined });
    const refused = createdWebhook(
      withSecret,
      { name: 'Orders', secret_name: 'hook', secret: 'x'.repeat(40) },
      options,
    );
    expect(reasonOf(refused)).toMatchObject({ kind: 'conflict', detail: expect.stringContaining('hook exists') });
  });

  it('names the members that are wrong', () => {
    const wrong = createdWebhook(factory(), { name: 'Orders', auth_mode: 'signature' }, options);
    expect(reasonOf(wrong)).toMatchObject({
      kind: 'invalid-members',
      errors: expect.arrayContaining([
        {
          pointer: '/signature_scheme',
          message: 'auth_mode signature needs a signature_scheme; add it, such as signature_scheme: github',
        },
      ]),
    });
  });
});

describe('changing a webhook', () => {
  const shop = factory({ webhooks: [webhook('orders')], webhookSecrets: new Map([secret('orders-secret')]) });

  it('writes nothing where nothing changes', () => {
    const made = createdWebhook(factory(), { name: 'orders', secret_name: 'orders-secret' }, options);
    const definition = JSON.stringify(made.ok ? made.objects?.[0]?.object.definition : undefined);
    const stored = { ...shop, webhooks: [webhook('orders', { definition })] };
    const verdict = changedWebhook(stored, { uid: 'wh_orders', isWanted: ANY }, { enabled: true }, UID_KEY);
    expect(verdict).toEqual({ ok: true, uid: 'wh_orders' });
  });

  it('names the members that changed', () => {
    const verdict = changedWebhook(shop, { uid: 'wh_orders', isWanted: ANY }, { enabled: false }, UID_KEY);
    expect(verdict).toMatchObject({ ok: true, change: { details: { changed: ['enabled'], enabled: false } } });
  });

  it.each([
    ['wh_gone', ANY, { kind: 'not-found', what: 'the webhook' }],
    ['wh_orders', (version: number) => version === 2, { kind: 'stale-version', what: 'the webhook', version: 3 }],
  ])('of %s is refused where it is not the one that is meant', (uid, isWanted, reason) => {
    expect(reasonOf(changedWebhook(shop, { uid, isWanted }, { enabled: false }, UID_KEY))).toEqual(reason);
    expect(reasonOf(deletedWebhook(shop, { uid, isWanted }))).toEqual(reason);
  });
});

describe('rotating a webhook', () => {
  const pair = [webhook('orders', { secret_name: 'hook' }), webhook('bills', { secret_name: 'hook' })];
  const target = { uid: 'wh_orders', isWanted: ANY };
  const request = { mayChangeTeamSecrets: false, random: RANDOM };

  it('moves every webhook that shares the secret', () => {
    const shared = factory({ webhooks: pair, webhookSecrets: new Map([secret('hook')]) });
    expect(rotatedWebhook(shared, target, request)).toMatchObject({
      ok: true,
      moved: ['wh_orders', 'wh_bills'],
      secrets: [{ owner: 'fac_1', name: 'hook' }],
      value: { generated: true },
    });
  });

  const rows: [why: string, more: Partial<FactoryRecord>, kind: EditRefusal['kind']][] = [
    ['the team owns it', { webhookSecrets: new Map([secret('hook', { owner: 'team' })]) }, 'not-authorized'],
    [
      'another factory uses it',
      { webhookSecrets: new Map([secret('hook')]), secretsUsedElsewhere: new Set(['secret-hook']) },
      'conflict',
    ],
    ['it is not granted for webhooks', { ownSecretNames: new Set(['hook']) }, 'conflict'],
  ];
  it.each(rows)('is refused where %s', (_, more, kind) => {
    expect(reasonOf(rotatedWebhook(factory({ webhooks: pair, ...more }), target, request))?.kind).toBe(kind);
  });

  it('takes no value where tokens are generated', () => {
    const verdict = rotatedWebhook(factory({ webhooks: pair }), target, { ...request, secret: 'mine' });
    expect(reasonOf(verdict)).toMatchObject({ kind: 'not-supported', errors: [{ pointer: '/secret' }] });
  });
});

describe('editing automations', () => {
  it('makes one with what its keys say', () => {
    const wanted = { name: 'Nightly', prompt: 'Do it.', triggers: [{ provider: 'schedule' as const, cron: '@daily' }] };
    expect(createdAutomation(factory(), wanted, UID_KEY)).toMatchObject({
      ok: true,
      objects: [{ name: 'Nightly', object: { kind: 'automation', slug: 'nightly', path: '' } }],
      change: { action: 'automation.create' },
    });
  });

  it('does not speak of files', () => {
    const refused = reasonOf(createdAutomation(factory(), { name: 'Empty', prompt: ' \n', triggers: [] }, UID_KEY));
    expect(JSON.stringify(refused)).toContain('the prompt is empty; write what the agent shall do"');
    const webhooks = Array.from({ length: 20 }, (_, at) => webhook(`w-${at}`));
    const full = reasonOf(createdWebhook(factory({ webhooks }), { name: 'More' }, options));
    expect(full).toMatchObject({ kind: 'not-supported' });
    expect(JSON.stringify(full)).not.toMatch(/\b(tree|files?|front matter)\b/);
  });

  it('does not delete what is gone', () => {
    expect(reasonOf(deletedAutomation(factory(), ANY))).toEqual({ kind: 'not-found', what: 'the automation' });
  });
});

describe('an edit of what files decide', () => {
  it('answers with the file, its text, and the secret to set first', () => {
    expect(refuseWebhookCreate({ name: 'Orders' }, [])).toMatchObject({
      kind: 'conflict',
      detail: expect.stringContaining('add webhooks/orders.yaml'),
      members: { file: 'webhooks/orders.yaml', key: null, edited_text: expect.stringContaining('secretName') },
    });
  });

  it('answers a rotation with the secret to set, for no edit does it', () => {
    expect(refuseWebhookRotate(webhook('orders', { path: 'webhooks/orders.yaml' }))).toMatchObject({
      kind: 'conflict',
      members: { file: 'webhooks/orders.yaml', key: 'secretName', edited_text: null, secret_name: 'orders-secret' },
    });
  });
});
