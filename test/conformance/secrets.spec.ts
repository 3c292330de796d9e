/**
 * What would break without a managed secret, on every database: what is bound to it, and whose names mean it. contract
 * §2.2 (Deleting one in use).
 */
import type { Grants } from '../../apps/server/store/secrets/secrets.ts';
import { meddle, onEachBackend } from './backends.ts';
import { apply, automationOf, newId, sealing, seedFactory, unique, webhookOf } from './seeds.ts';

await onEachBackend('references to secrets', (world) => {
  const put = (owner: string, name: string, grants: Partial<Grants>): Promise<unknown> =>
    world.stores.secrets.put({ id: newId(), owner, name, value: sealing('v'), grants }, undefined);
  const usedBy = async (owner: string, name: string): Promise<string[]> => {
    const secret = await world.stores.secrets.find(owner, name);
    if (secret === undefined) throw new Error('there is no such secret');
    const references = (await world.stores.secrets.usedBy([secret])).get(secret.id) ?? [];
    return references.map(({ kind, factoryUid, slug }) => `${kind} ${slug} of ${factoryUid}`);
  };

  it('are its webhooks, what its runs are given, and sources that are read with it', async () => {
    const { stores } = world;
    const { uid, slug, fence } = await seedFactory(stores);
    const [hook, run, git, forge] = [unique('HOOK_'), unique('RUN_'), unique('GIT_'), unique('FORGE_')];
    await put('team', hook, { factories: '*', uses: ['webhook'] });
    await put('team', run, { factories: [uid], uses: ['run'] });
    await put('team', git, { factories: '*', uses: ['git'] });
    await put('team', forge, { factories: '*', uses: ['forge'] });
    await apply(stores, uid, fence, [
      webhookOf(unique('wh_'), 'orders', hook),
      automationOf(unique('auto_'), 'triage', [], { agent: { secrets: [{ name: run }, { name: run }] } }),
      automationOf(unique('auto_'), 'talks', [], { prompt: `"secrets":[{"name":"${run}"}]` }),
      {
        kind: 'environment',
        uid: unique('env_'),
        slug: 'py',
        path: 'environments/py.yaml',
        definition: { name: 'py', path: 'environments/py.yaml', secrets: [{ name: run }] },
      },
      {
        kind: 'environment',
        uid: unique('env_'),
        slug: 'reads',
        path: 'environments/reads.yaml',
        definition: {
          name: 'reads',
          path: 'environments/reads.yaml',
          repositories: [
            'acme/app',
            { owner: 'acme', name: 'site' },
            { owner: 'acme', name: 'tools', credentialSecret: git },
          ],
        },
      },
    ]);
    await meddle(
      stores,
      'UPDATE factory SET source = ?, definition = ? WHERE uid = ?',
      JSON.stringify({ kind: 'git', url: 'https://git.example.com/r', credentialSecret: git, pushSecret: forge }),
      JSON.stringify({ applyMode: 'atomic', agentDefaults: { secrets: [{ name: run }] } }),
      uid,
    );

    expect(await usedBy('team', hook)).toEqual([`webhook orders of ${uid}`]);
    expect(await usedBy('team', run)).toEqual([
      `factory ${slug} of ${uid}`,
      `automation triage of ${uid}`,
      `environment py of ${uid}`,
    ]);
    expect(await usedBy('team', git)).toEqual([`factory ${slug} of ${uid}`, `environment reads of ${uid}`]);
    expect(await usedBy('team', forge)).toEqual([`factory ${slug} of ${uid}`]);
    expect(await stores.secrets.remove({ owner: 'team', name: git, force: false }, undefined)).toMatchObject({
      kind: 'used',
    });
    await stores.factories.remove(uid);
    for (const name of [hook, run, git, forge]) expect(await usedBy('team', name)).toEqual([]);
  });

  it('are webhooks by name, too, as long as they have none', async () => {
    const { stores } = world;
    const { uid, fence } = await seedFactory(stores);
    const name = unique('HOOK_');
    await put('team', name, { factories: '*', uses: ['webhook'] });
    await apply(stores, uid, fence, [webhookOf(unique('wh_'), 'orders', name)]);
    await stores.secrets.remove({ owner: 'team', name, force: true }, undefined);
    await put('team', name, { factories: [], uses: ['webhook'] });
    expect(await usedBy('team', name)).toEqual([]);
    await put('team', name, { factories: [uid] });
    expect(await usedBy('team', name)).toEqual([`webhook orders of ${uid}`]);
    await stores.definitions.rebindSecrets(uid, fence);
    expect(await usedBy('team', name)).toEqual([`webhook orders of ${uid}`]);
    await put('team', name, { factories: [] });
    await stores.factories.remove(uid);
    await put('team', name, { factories: '*' });
    expect(await usedBy('team', name)).toEqual([]);
  });

  it.each([
    { team: { factories: '*', uses: ['run'] }, own: undefined, meant: 'team', why: 'it is the only one' },
    { team: { factories: '*', uses: ['run'] }, own: ['run'], meant: 'own', why: "a factory's own comes first" },
    { team: { factories: '*', uses: ['run'] }, own: ['webhook'], meant: 'team', why: 'its own is for something else' },
    { team: { factories: '*', uses: ['webhook'] }, own: undefined, meant: 'nobody', why: 'it is not for runs' },
    {
      team: { factories: ['fac_else'], uses: ['run'] },
      own: undefined,
      meant: 'nobody',
      why: 'it is for another factory',
    },
  ] as { team: Grants; own: Grants['uses'] | undefined; meant: string; why: string }[])(
    'by name are to the one that the name means there: $why',
    async ({ team, own, meant }) => {
      const { stores } = world;
      const { uid, fence } = await seedFactory(stores);
      const name = unique('TOKEN_');
      await put('team', name, team);
      if (own !== undefined) await put(uid, name, { factories: [uid], uses: own });
      await apply(stores, uid, fence, [
        automationOf(unique('auto_'), 'triage', [], { agent: { secrets: [{ name }] } }),
      ]);
      const expected = [`automation triage of ${uid}`];
      expect(await usedBy('team', name)).toEqual(meant === 'team' ? expected : []);
      if (own !== undefined) expect(await usedBy(uid, name)).toEqual(meant === 'own' ? expected : []);
    },
  );
});
