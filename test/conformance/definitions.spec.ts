/** Applied definitions, managed secrets, access and the serving state on every database. contract §2, §5, §9. */
import { UnusableSecretError } from '../../apps/server/store/secrets/secret-changes.ts';
import { bySystem } from '../../apps/server/store/access/audit.ts';
import type { Grants, NewValue } from '../../apps/server/store/secrets/secrets.ts';
import { count, select, meddle, onEachBackend, type Stores } from './backends.ts';
import {
  apply,
  automationOf,
  newId,
  sealing,
  seedFactory,
  seedServed,
  servingVersion,
  unique,
  webhookOf,
} from './seeds.ts';

await onEachBackend('definitions', (world) => {
  let stores: Stores;
  beforeEach(() => {
    stores = world.stores;
  });

  it('gives back exactly what was applied, in order of names', async () => {
    const { uid, fence } = await seedFactory(stores);
    const objects = [
      webhookOf(unique('wh_'), 'b', 's', { description: 'ünï', deliveryIdHeader: 'x-id' }),
      webhookOf(unique('wh_'), 'a', 's', { authMode: 'signature', signatureScheme: 'github', enabled: false }),
      automationOf(unique('auto_'), 'triage', ['wh_x']),
      {
        kind: 'environment' as const,
        uid: unique('env_'),
        slug: 'py',
        path: 'environments/py.yaml',
        definition: { name: 'py', path: 'environments/py.yaml', setupCommands: ['make'] },
      },
      {
        kind: 'skill' as const,
        uid: unique('skill_'),
        slug: 'fix',
        path: 'skills/fix/SKILL.md',
        definition: { name: 'fix', path: 'skills/fix/SKILL.md', text: '# Fix\n', files: [] },
      },
    ];
    await apply(stores, uid, fence, objects, [], 'main@sha1:1');
    const actual = await stores.definitions.actual(uid);
    expect(actual.factory).toEqual({ applyMode: 'atomic' });
    // webhooks, automations, the rest
    expect(actual.objects).toEqual([objects[1], objects[0], objects[2], objects[4], objects[3]]);
    expect((await stores.factories.find(uid))?.revisionApplied).toBe('main@sha1:1');
    expect(
      (await stores.webhooks.list(uid)).map(({ slug, auth_mode: mode, enabled, version, revision }) => ({
        slug,
        mode,
        enabled,
        version,
        revision,
      })),
    ).toEqual([
      { slug: 'a', mode: 'signature', enabled: 0, version: 1, revision: 'main@sha1:1' },
      { slug: 'b', mode: 'token', enabled: 1, version: 1, revision: 'main@sha1:1' },
    ]);
    expect(await stores.automations.list(uid, 10)).toMatchObject([{ slug: 'triage', name: 'triage' }]);
  });

  it('raises a webhook’s version on update, and deletes and brings back under the same uid', async () => {
    const { factoryUid, fence, webhookUid, secretName } = await seedServed(stores);
    await apply(stores, factoryUid, fence, [webhookOf(webhookUid, 'orders', secretName, { enabled: false })], [], 'r2');
    expect(await stores.webhooks.find(webhookUid)).toMatchObject({ version: 2, enabled: 0, revision: 'r2' });
    await apply(stores, factoryUid, fence, [], [{ kind: 'webhook', uid: webhookUid }], 'r3');
    expect(await stores.webhooks.find(webhookUid)).toBeUndefined();
    const facts = await stores.definitions.webhookFacts(factoryUid);
    expect([facts.live.size, [...facts.deleted]]).toEqual([0, [webhookUid]]);
    await apply(stores, factoryUid, fence, [webhookOf(webhookUid, 'orders', secretName)], [], 'r4');
    const back = await stores.webhooks.find(webhookUid);
    expect(back).toMatchObject({ uid: webhookUid, enabled: 1, deleted_at: null, secret_version: 1 });
    expect((await stores.definitions.webhookFacts(factoryUid)).live).toEqual(new Map([[webhookUid, 'orders']]));
  });

  it('applies everything or nothing', async () => {
    const { factoryUid, fence, webhookUid, secretName } = await seedServed(stores);
    const foreign = await seedServed(stores);
    const before = [await stores.definitions.actual(factoryUid), await servingVersion(stores, factoryUid)];
    const upserts = [
      webhookOf(webhookUid, 'orders', secretName, { enabled: false }),
      webhookOf(foreign.webhookUid, 'stolen', secretName),
    ];
    await expect(apply(stores, factoryUid, fence, upserts)).rejects.toThrow(/conflict/);
    expect([await stores.definitions.actual(factoryUid), await servingVersion(stores, factoryUid)]).toEqual(before);
  });

  it('gives every change a serving version that no other has had', async () => {
    const other = await world.another();
    const all = await Promise.all([seedServed(stores), seedServed(other), seedServed(stores)]);
    await Promise.all(
      all.map(({ factoryUid, fence }, n) => apply(n % 2 === 0 ? stores : other, factoryUid, fence, [])),
    );
    const versions = await Promise.all(all.map(({ factoryUid }) => servingVersion(stores, factoryUid)));
    expect(new Set(versions).size).toBe(3);
    expect((await stores.serving.latest()).version).toBe(Math.max(...versions));
  });

  describe('secrets', () => {
    const put = (owner: string, name: string, value?: string, grants?: Partial<Grants>) =>
      stores.secrets.put(
        { id: newId(), owner, name, value: value === undefined ? undefined : sealing(value), grants },
        undefined,
      );

    it('may be declared without a value, and count their versions', async () => {
      const name = unique('s');
      const { secret, created } = await put('team', name);
      expect([created, secret.version, secret.usableFor, await stores.secrets.newest(secret.id)]).toEqual([
        true,
        0,
        undefined,
        undefined,
      ]);
      expect((await put('team', name, 'one')).secret.version).toBe(1);
      const second = await put('team', name, 'two');
      expect([second.created, second.secret.version, second.secret.usableFor?.token]).toEqual([false, 2, true]);
      const newest = await stores.secrets.newest(secret.id);
      expect([newest?.version, Buffer.from(newest?.sealed ?? []).toString()]).toEqual([2, 'two 2']);
    });

    it('keep grants that are not given, and a value that is not given', async () => {
      const name = unique('s');
      await put('team', name, 'one', { factories: ['fac_a'], uses: ['git'] });
      expect((await put('team', name, 'two')).secret.grants).toEqual({
        factories: ['fac_a'],
        uses: ['git'],
        runs: 'files',
        hosts: null,
      });
      const runs = ['automation/triage'];
      const moved = await put('team', name, undefined, { factories: '*', uses: ['run'], runs });
      await put('team', name, undefined, { uses: ['run'] });
      expect([moved.secret.grants, moved.secret.version]).toEqual([
        { factories: '*', uses: ['run'], runs, hosts: null },
        2,
      ]);
      expect((await stores.secrets.find('team', name))?.grants.runs).toEqual(runs);
      expect((await stores.secrets.find('team', name))?.grants.factories).toBe('*');
    });

    it('have the first host that they are bound to, whoever is second, until somebody says otherwise', async () => {
      const name = unique('s');
      const { secret } = await put('team', name, 'one', { uses: ['git'] });
      const hosts = async (): Promise<unknown> => (await stores.secrets.find('team', name))?.grants.hosts;
      await Promise.all(
        ['a.example', 'b.example'].map((host) => stores.secrets.bindHost(secret, host, bySystem(newId()))),
      );
      const [bound = ''] = (await hosts()) as string[];
      expect(['a.example', 'b.example']).toContain(bound);
      await stores.secrets.bindHost(secret, 'c.example', bySystem(newId()));
      expect(await hosts()).toEqual([bound]);
      await put('team', name, 'two');
      expect(await hosts()).toEqual([bound]);
      await put('team', name, undefined, { hosts: null });
      expect(await hosts()).toBeNull();
      await put('team', name, undefined, { hosts: '*' });
      await stores.secrets.bindHost(secret, 'c.example', bySystem(newId()));
      expect(await hosts()).toBe('*');
    });

    it('set by many at once end with as many versions', async () => {
      const other = await world.another();
      const name = unique('s');
      const puts = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 === 0 ? stores : other).secrets.put(
            { id: newId(), owner: 'team', name, value: sealing(`v${n}`) },
            undefined,
          ),
        ),
      );
      expect(puts.map(({ secret }) => secret.version).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      expect(puts.filter(({ created }) => created)).toHaveLength(1);
    });

    it.each([
      { grants: { factories: '*', uses: ['webhook'] }, use: 'webhook', visible: true, why: 'granted to all' },
      { grants: { factories: '*', uses: ['webhook'] }, use: 'run', visible: false, why: 'not for this use' },
      {
        grants: { factories: ['fac_other'], uses: ['webhook'] },
        use: 'webhook',
        visible: false,
        why: 'not to this factory',
      },
      { grants: { factories: [], uses: ['webhook'] }, use: 'webhook', visible: false, why: 'to nobody' },
    ] as const)('of the team are visible where granted: $why', async ({ grants, use, visible }) => {
      const name = unique('s');
      await put('team', name, 'v', {
        factories: grants.factories === '*' ? '*' : [...grants.factories],
        uses: [...grants.uses],
      });
      expect((await stores.secrets.visibleTo('fac_mine', use)).has(name)).toBe(visible);
    });

    it('of the factory come before the team’s, and are nobody else’s', async () => {
      const name = unique('s');
      const team = await put('team', name, 'team');
      const own = await put('fac_mine', name, 'own');
      expect((await stores.secrets.visibleTo('fac_mine', 'webhook')).get(name)?.id).toBe(own.secret.id);
      expect((await stores.secrets.visibleTo('fac_else', 'webhook')).get(name)?.id).toBe(team.secret.id);
      expect((await stores.secrets.list('fac_mine', 100)).map((secret) => secret.name)).toContain(name);
    });

    it('move to a new version in one transaction, and the old value does not stay on disk', async () => {
      const { factoryUid, fence, webhookUid, secretId, secretName } = await seedServed(stores);
      const before = await servingVersion(stores, factoryUid);
      await put('team', secretName, 'rotated');
      expect(await count(stores, 'secret_value WHERE secret_id = ?', secretId)).toBe(2); // still served
      expect(await servingVersion(stores, factoryUid)).toBe(before);
      expect(await stores.definitions.factoriesNaming(secretName)).toEqual([factoryUid]);
      const moved = await stores.definitions.rebindSecrets(factoryUid, fence);
      expect(moved).toEqual([{ webhookUid, slug: 'orders', path: 'webhooks/orders.yaml', secretName, version: 2 }]);
      expect(await servingVersion(stores, factoryUid)).toBeGreaterThan(before);
      expect(await select(stores, 'SELECT version FROM secret_value WHERE secret_id = ?', secretId)).toEqual([
        { version: 2 },
      ]);
      expect(await stores.definitions.rebindSecrets(factoryUid, fence)).toEqual([]);
    });

    it('keep a value that another factory still serves', async () => {
      const [first, second] = [await seedServed(stores), await seedServed(stores)];
      await apply(stores, second.factoryUid, second.fence, [webhookOf(second.webhookUid, 'orders', first.secretName)]);
      await put('team', first.secretName, 'rotated');
      await stores.definitions.rebindSecrets(first.factoryUid, first.fence);
      expect(await count(stores, 'secret_value WHERE secret_id = ?', first.secretId)).toBe(2);
      await stores.definitions.rebindSecrets(second.factoryUid, second.fence);
      expect(await count(stores, 'secret_value WHERE secret_id = ?', first.secretId)).toBe(1);
    });

    it.each([
      { grants: { factories: [], uses: ['webhook'] }, why: 'the factory' },
      { grants: { factories: '*', uses: ['run'] }, why: 'the use' },
    ] as { grants: Grants; why: string }[])(
      'no longer granted are taken away in the same commit: $why',
      async ({ grants }) => {
        const { factoryUid, fence, webhookUid, secretName } = await seedServed(stores);
        const before = await servingVersion(stores, factoryUid);
        await put('team', secretName, undefined, grants);
        expect((await stores.webhooks.find(webhookUid))?.secret_id).toBeNull();
        expect(await servingVersion(stores, factoryUid)).toBeGreaterThan(before);
        expect(await stores.definitions.rebindSecrets(factoryUid, fence)).toEqual([]);
      },
    );

    it('regranted without a loss leave the serving state alone', async () => {
      const { factoryUid, webhookUid, secretId, secretName } = await seedServed(stores);
      const before = await servingVersion(stores, factoryUid);
      await put('team', secretName, undefined, { factories: [factoryUid], uses: ['webhook', 'run'] });
      expect([await servingVersion(stores, factoryUid), (await stores.webhooks.find(webhookUid))?.secret_id]).toEqual([
        before,
        secretId,
      ]);
    });

    it('take no value that a webhook in use could not authenticate with', async () => {
      const { webhookUid, secretName } = await seedServed(stores);
      const value = {
        ...sealing('short'),
        usableFor: { token: false, url_token: true, signature: true, standard_webhooks: true },
      };
      const refused: unknown = await stores.secrets
        .put({ id: newId(), owner: 'team', name: secretName, value, grants: { uses: ['run'] } }, undefined)
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(UnusableSecretError);
      expect((refused as UnusableSecretError).users.map((user) => user.webhookUid)).toEqual([webhookUid]);
      expect(await stores.secrets.find('team', secretName)).toMatchObject({
        version: 1,
        grants: { uses: ['webhook'] },
      });
    });

    describe('that a webhook waits for', () => {
      const unfit = {
        ...sealing('short'),
        usableFor: { token: false, url_token: false, signature: false, standard_webhooks: false },
      };
      const refusalOf = (owner: string, name: string, wanted: { value?: NewValue; grants?: Partial<Grants> }) =>
        stores.secrets.put({ id: newId(), owner, name, ...wanted }, undefined).then(
          () => 'stored',
          (error: unknown) =>
            error instanceof UnusableSecretError ? error.users.map((user) => user.webhookUid) : error,
        );

      it('take no such value once they were deleted, nor for a factory of its own', async () => {
        const { factoryUid, fence, webhookUid, secretName } = await seedServed(stores);
        expect(await refusalOf(factoryUid, secretName, { value: unfit })).toEqual([webhookUid]);
        await stores.secrets.remove({ owner: 'team', name: secretName, force: true }, undefined);
        await stores.definitions.rebindSecrets(factoryUid, fence);
        expect(await refusalOf('team', secretName, { value: unfit })).toEqual([webhookUid]);
        expect(await stores.secrets.find('team', secretName)).toBeUndefined();
        expect(await refusalOf('team', secretName, { value: unfit, grants: { uses: ['run'] } })).toBe('stored');
      });

      it('are not granted to it with such a value, neither one nor after the other', async () => {
        const { webhookUid, secretName } = await seedServed(stores);
        const put = (wanted: { value?: NewValue; grants?: Partial<Grants> }) => refusalOf('team', secretName, wanted);
        expect(await put({ grants: { uses: [] } })).toBe('stored');
        expect(await put({ value: unfit, grants: { uses: ['webhook'] } })).toEqual([webhookUid]);
        expect(await put({ value: unfit })).toBe('stored');
        expect(await put({ grants: { uses: ['webhook'] } })).toEqual([webhookUid]);
        expect(await put({ value: sealing('value') })).toBe('stored');
        expect(await put({ grants: { uses: ['webhook'] } })).toBe('stored');
      });

      it('are nothing to those that have one of their factory', async () => {
        const { factoryUid, secretName } = await seedServed(stores);
        await put(factoryUid, secretName, 'own');
        await stores.secrets.remove({ owner: 'team', name: secretName, force: true }, undefined);
        expect(await refusalOf('team', secretName, { value: unfit })).toBe('stored');
      });
    });

    it('keep no value that nothing serves', async () => {
      const name = unique('s');
      const { secret } = await put('team', name, 'one');
      await put('team', name, 'two');
      expect(await select(stores, 'SELECT version FROM secret_value WHERE secret_id = ?', secret.id)).toEqual([
        { version: 2 },
      ]);
    });

    it('deleted while in use revoke at once: no value is left, nothing is served with it', async () => {
      const { factoryUid, webhookUid, secretId, secretName } = await seedServed(stores);
      expect(await stores.secrets.usersOf(secretId)).toEqual([
        { webhookUid, factoryUid, webhookSlug: 'orders', authMode: 'token', signatureScheme: null },
      ]);
      const before = await servingVersion(stores, factoryUid);
      expect(await stores.secrets.remove({ owner: 'team', name: secretName, force: false }, undefined)).toEqual({
        kind: 'used',
        usedBy: [{ kind: 'webhook', factoryUid, slug: 'orders', webhookUid }],
      });
      expect(await stores.secrets.remove({ owner: 'team', name: secretName, force: true }, undefined)).toEqual({
        kind: 'removed',
      });
      expect(await servingVersion(stores, factoryUid)).toBeGreaterThan(before);
      expect(await count(stores, 'secret_value WHERE secret_id = ?', secretId)).toBe(0);
      expect(await stores.secrets.find('team', secretName)).toBeUndefined();
      const [served] = (await stores.serving.changedSince(before)).filter(({ uid }) => uid === factoryUid);
      expect(served?.webhooks.map(({ secret }) => secret)).toEqual([undefined]);
    });
  });

  describe('serving state', () => {
    it('answers what changed since a version, whole and once', async () => {
      const first = await seedServed(stores);
      const { version: between } = await stores.serving.latest();
      const second = await seedServed(stores);
      const changed = await stores.serving.changedSince(between);
      expect(changed.map(({ uid }) => uid)).toEqual([second.factoryUid]);
      expect(changed[0]).toMatchObject({
        version: await servingVersion(stores, second.factoryUid),
        deleted: false,
        revision: 'main@sha1:0000',
        serviceAccountUid: `sa_${second.factoryUid}`,
        webhooks: [
          {
            uid: second.webhookUid,
            slug: 'orders',
            authMode: 'token',
            enabled: true,
            secret: { secretId: second.secretId, version: 1 },
          },
        ],
        automations: [{ uid: second.automationUid, definition: { name: 'triage' } }],
      });
      expect(Buffer.from(changed[0]?.webhooks[0]?.secret?.sealed ?? []).toString()).toBe('value 1');
      expect(await stores.serving.changedSince((await stores.serving.latest()).version)).toEqual([]);
      expect((await stores.serving.changedSince(0)).map(({ uid }) => uid)).toEqual(
        expect.arrayContaining([first.factoryUid, second.factoryUid]),
      );
    });

    it('shows deleted factories empty, deleted webhooks not at all, disabled ones as such', async () => {
      const [gone, less] = [await seedServed(stores), await seedServed(stores)];
      const { version: before } = await stores.serving.latest();
      await stores.factories.remove(gone.factoryUid);
      await apply(
        stores,
        less.factoryUid,
        less.fence,
        [webhookOf(unique('wh_'), 'off', less.secretName, { enabled: false })],
        [
          { kind: 'webhook', uid: less.webhookUid },
          { kind: 'automation', uid: less.automationUid },
        ],
      );
      const changed = new Map((await stores.serving.changedSince(before)).map((factory) => [factory.uid, factory]));
      expect(changed.get(gone.factoryUid)).toMatchObject({ deleted: true, webhooks: [], automations: [] });
      expect(changed.get(less.factoryUid)).toMatchObject({
        deleted: false,
        webhooks: [{ slug: 'off', enabled: false }],
        automations: [],
      });
    });

    it('never shows a version without what belongs to it, whatever is written meanwhile', async () => {
      const other = await world.another();
      const { factoryUid, fence, webhookUid, secretName } = await seedServed(stores);
      const writing = (async () => {
        for (let n = 0; n < 20; n += 1)
          await apply(
            other,
            factoryUid,
            fence,
            [webhookOf(webhookUid, 'orders', secretName, { enabled: n % 2 === 0, description: `${n}` })],
            [],
            `r${n}`,
          );
      })();
      for (let n = 0; n < 20; n += 1) {
        const [seen] = (await stores.serving.changedSince(0)).filter(({ uid }) => uid === factoryUid);
        if (seen?.revision.startsWith('r'))
          expect(seen.webhooks[0]?.enabled).toBe(Number(seen.revision.slice(1)) % 2 === 0);
      }
      await writing;
    });
  });

  describe('access', () => {
    const key = async (columns: {
      role?: string;
      factories?: string;
      expires_at?: number;
      revoked_at?: number;
    }): Promise<Buffer> => {
      const hash = Buffer.from(unique('h'));
      await stores.keys.createFirst(
        { id: newId(), principalUid: 'user_admin', hash: Buffer.from(unique('h')), hint: 'mw_first…' },
        bySystem(newId()),
      );
      const values = { role: 'viewer', factories: null, expires_at: null, revoked_at: null, ...columns };
      await stores.database.run(function* () {
        yield {
          kind: 'insert',
          table: 'api_key',
          columns: ['id', 'principal_uid', 'name', 'key_hash', 'created_at', ...Object.keys(values)],
          rows: [[newId(), 'user_admin', 'k', hash, 1, ...Object.values(values)]],
          ignoreConflicts: false,
        };
      });
      return hash;
    };

    it.each([
      { columns: {}, access: { role: 'viewer', factories: undefined }, why: 'not limited' },
      {
        columns: { factories: '["fac_a"]', role: 'manager' },
        access: { role: 'manager', factories: ['fac_a'] },
        why: 'limited',
      },
      { columns: { expires_at: Date.now() + 3_600_000 }, access: { role: 'viewer' }, why: 'not yet expired' },
      { columns: { expires_at: Date.now() - 1 }, access: undefined, why: 'expired' },
      { columns: { revoked_at: 1 }, access: undefined, why: 'revoked' },
    ])('of a key that is $why', async ({ columns, access }) => {
      const found = await stores.keys.find(await key(columns));
      if (access === undefined) expect(found).toBeUndefined();
      else
        expect(found).toMatchObject({
          ...access,
          principal: { uid: 'user_admin', kind: 'user', displayName: 'admin' },
        });
    });

    it('is none for unknown keys', async () => {
      expect(await stores.keys.find(Buffer.from('unknown'))).toBeUndefined();
    });

    it('remembers the first proofs of an installation, whoever comes later', async () => {
      const proofs = { masterKey: Buffer.from('m'), uidKey: Buffer.from('u') };
      await stores.access.installation(proofs);
      const later = await stores.access.installation({ masterKey: Buffer.from('x'), uidKey: Buffer.from('y') });
      expect([Buffer.from(later.masterKey).toString(), Buffer.from(later.uidKey).toString()]).toEqual(['m', 'u']);
    });
  });

  it('counts a webhook as used only while it lives', async () => {
    const { factoryUid, fence, webhookUid, secretId } = await seedServed(stores);
    await apply(stores, factoryUid, fence, [], [{ kind: 'webhook', uid: webhookUid }]);
    expect(await stores.secrets.usersOf(secretId)).toEqual([]);
    await meddle(stores, 'UPDATE secret SET updated_at = 1 WHERE id = ?', secretId);
    expect((await stores.secrets.list('team', 1_000)).find(({ id }) => id === secretId)?.updatedAtMs).toBe(1);
  });
});
