/** Federated credentials, exchanged tokens and their keys on every database. contract §2.4. */
import type { ChangedBy } from '../../apps/server/store/access/audit.ts';
import {
  EXCHANGED_KEY_MS,
  FEDERATED_CREDENTIALS_MAX,
  type FederatedCredential,
  type NewFederatedCredential,
  type VerifiedExchange,
} from '../../apps/server/store/access/federated-credentials.ts';
import { count, meddle, onEachBackend, type Stores } from './backends.ts';
import { newId, unique } from './seeds.ts';

const ISSUER = 'https://ci.example';

function by(): ChangedBy {
  return { id: newId(), principalUid: 'user_tester', keyId: 'key_tester', address: '192.0.2.7' };
}

await onEachBackend('federated credentials', (world) => {
  let stores: Stores;
  beforeEach(async () => {
    stores = world.stores;
    await meddle(stores, 'DELETE FROM federated_credential');
  });

  async function made(more: Partial<NewFederatedCredential> = {}): Promise<FederatedCredential> {
    const wanted = { id: newId(), name: 'CI', issuer: ISSUER, audience: 'us', claims: { sub: ['a'] }, ...more };
    const credential = await stores.federation.create({ role: 'viewer', ...wanted }, by());
    if (credential === 'full') throw new Error('there are too many');
    return credential;
  }

  function exchangeOf(credential: FederatedCredential, more: Partial<VerifiedExchange> = {}): VerifiedExchange {
    return {
      credential,
      subject: 'repo:acme/factory',
      digest: Buffer.from(unique('digest')),
      tokenEndsAtMs: Date.now() + 60_000,
      key: { id: newId(), hash: Buffer.from(unique('hash')), hint: 'mw_abcd…' },
      ...more,
    };
  }

  const exchange = (wanted: VerifiedExchange, on = stores): ReturnType<Stores['federation']['exchange']> =>
    on.federation.exchange(wanted, { id: newId(), address: '192.0.2.8' });

  it('give back what was stored, by their issuer too, and nothing after their end', async () => {
    const credential = await made({ role: 'manager', factories: ['fac_a'], claims: { ref: ['x', 'y'], sub: ['z'] } });
    expect(credential).toMatchObject({ issuer: ISSUER, factories: ['fac_a'], claims: { ref: ['x', 'y'], sub: ['z'] } });
    expect(credential.principal).toMatchObject({ kind: 'service_account', displayName: 'CI' });
    expect(await stores.federation.get(credential.id)).toEqual(credential);
    expect(await stores.federation.ofIssuer(ISSUER)).toEqual([credential]);
    expect(await stores.federation.ofIssuer(`${ISSUER}/`)).toEqual([]);
    await stores.federation.remove(credential.id, by());
    await stores.federation.remove(credential.id, by());
    expect(await stores.federation.get(credential.id)).toBeUndefined();
    const audit = await stores.audit.list({ subject: credential.id }, 10);
    expect(audit.map(({ action }) => action)).toEqual(['federated_credential.delete', 'federated_credential.create']);
  });

  it('are a hundred at most', async () => {
    for (let at = 0; at < FEDERATED_CREDENTIALS_MAX; at += 1) await made();
    await expect(made()).rejects.toThrow('too many');
    expect(await stores.federation.list()).toHaveLength(FEDERATED_CREDENTIALS_MAX);
  });

  it('change what is named alone, and end their keys unless that is the name', async () => {
    const credential = await made({ factories: ['fac_a'] });
    const wanted = exchangeOf(credential);
    await exchange(wanted);
    const renamed = await stores.federation.change(credential.id, { name: 'other' }, by());
    expect(renamed).toMatchObject({ name: 'other', factories: ['fac_a'], role: 'viewer', claims: { sub: ['a'] } });
    expect(await stores.keys.find(wanted.key.hash)).toMatchObject({ role: 'viewer' });
    const widened = await stores.federation.change(credential.id, { factories: null }, by());
    expect(widened?.factories).toBeUndefined();
    expect(await stores.keys.find(wanted.key.hash)).toBeUndefined();
    expect(await stores.federation.change('nobody', { name: 'x' }, by())).toBeUndefined();
  });

  it('make a key of a token once, whichever replica is asked', async () => {
    const credential = await made({ factories: ['fac_a'] });
    const other = await world.another();
    const digest = Buffer.from(unique('digest'));
    const answers = await Promise.all(
      [stores, other, stores, other].map((on) => exchange(exchangeOf(credential, { digest }), on)),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(answers.filter((answer) => !answer.ok && answer.reason === 'replayed')).toHaveLength(3);
    expect(await count(stores, 'api_key WHERE federated_credential_id = ?', credential.id)).toBe(1);
  });

  it('make keys of their role and factories, which the audit trail names with the subject', async () => {
    const credential = await made({ role: 'operator', factories: ['fac_a'] });
    const wanted = exchangeOf(credential);
    const answer = await exchange(wanted);
    const key = await stores.keys.get(wanted.key.id);
    expect(key).toMatchObject({ name: 'repo:acme/factory', role: 'operator', factories: ['fac_a'] });
    expect(key?.principal.uid).toBe(credential.principal.uid);
    expect(answer).toEqual({ ok: true, expiresAtMs: (key?.createdAtMs ?? 0) + EXCHANGED_KEY_MS });
    expect(await stores.audit.list({ subject: wanted.key.id }, 10)).toMatchObject([
      { action: 'api_key.exchange', keyId: wanted.key.id, details: { subject: 'repo:acme/factory', issuer: ISSUER } },
    ]);
    expect(await stores.keys.edit(wanted.key.id, { expiresAtMs: null }, by())).toBe('exchanged');
    const next = { id: newId(), hash: Buffer.from(unique('hash')), hint: 'mw_…' };
    expect(await stores.keys.rotate(wanted.key.id, next, { overlapMs: 0, by: by() })).toBe('exchanged');
    expect(await stores.keys.revoke(wanted.key.id, by())).toBe('revoked');
  });

  it('make no key once they are others than the token was compared with, or gone', async () => {
    const credential = await made();
    await stores.federation.change(credential.id, { claims: { sub: ['b'] } }, by());
    const wanted = exchangeOf(credential);
    expect(await exchange(wanted)).toEqual({ ok: false, reason: 'changed' });
    await stores.federation.remove(credential.id, by());
    expect(await exchange(wanted)).toEqual({ ok: false, reason: 'changed' });
    expect(await stores.keys.get(wanted.key.id)).toBeUndefined();
  });

  it('leave nothing of keys and tokens that have run out, sessions included, and everything of others', async () => {
    const credential = await made();
    const [ended, alive] = [exchangeOf(credential, { tokenEndsAtMs: 1 }), exchangeOf(credential)];
    await exchange(ended);
    await exchange(alive);
    await stores.sessions.open({ hash: Buffer.from(unique('s')), keyId: ended.key.id, lifetimeMs: 1_000 }, undefined);
    await meddle(stores, 'UPDATE api_key SET expires_at = 1 WHERE id = ?', ended.key.id);
    expect(await stores.federation.prune()).toBeGreaterThanOrEqual(2);
    expect(await stores.keys.get(ended.key.id)).toBeUndefined();
    expect(await count(stores, 'browser_session WHERE key_id = ?', ended.key.id)).toBe(0);
    expect(await count(stores, 'exchanged_token WHERE expires_at = 1')).toBe(0);
    expect(await stores.keys.find(alive.key.hash)).toBeDefined();
    expect(await exchange(exchangeOf(credential, { digest: alive.digest }))).toMatchObject({ reason: 'replayed' });
  });
});
