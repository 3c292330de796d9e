/** Environments and skills as runs look for them, with the files of skills, on every database. contract §3.4, §8. */
import type { SkillFile } from '#definitions';
import { ResourceStore } from '../../apps/server/store/definitions/resource-files.ts';
import { count, select, onEachBackend } from './backends.ts';
import { apply, claimedRun, seedFactory, unique } from './seeds.ts';

const file = (path: string, content: Uint8Array | string, executable = false): SkillFile => ({
  path,
  content: new Uint8Array(Buffer.from(content)),
  executable,
});
const skillOf = (slug: string, uid = unique('skill_')) => ({
  kind: 'skill' as const,
  uid,
  slug,
  path: `skills/${slug}/SKILL.md`,
  definition: { name: slug, path: `skills/${slug}/SKILL.md`, text: `# ${slug}\n`, files: [] },
});
const environmentOf = (slug: string, uid = unique('env_')) => ({
  kind: 'environment' as const,
  uid,
  slug,
  path: `environments/${slug}.yaml`,
  definition: { name: slug, path: `environments/${slug}.yaml`, setupCommands: [slug] },
});

await onEachBackend('resources', (world) => {
  it('are found by name, environments by their UID too, and only in their factory', async () => {
    const resources = new ResourceStore(world.stores.database);
    const [one, other] = [await seedFactory(world.stores), await seedFactory(world.stores)];
    const build = environmentOf('build');
    await apply(world.stores, one.uid, one.fence, [
      build,
      environmentOf('again'),
      environmentOf(build.uid),
      skillOf('review'),
    ]);
    expect(await resources.environment(one.uid, 'build')).toEqual({ uid: build.uid, definition: build.definition });
    // a name comes first
    expect(await resources.environment(one.uid, build.uid)).toMatchObject({ definition: { name: build.uid } });
    expect(await resources.environment(one.uid, 'review')).toEqual({ names: ['again', 'build', build.uid] });
    expect(await resources.environment(other.uid, build.uid)).toEqual({ names: [] });
    expect(await resources.skill(one.uid, 'build')).toEqual({ names: ['review'], files: [] });
    await apply(world.stores, one.uid, one.fence, [], [{ kind: 'environment', uid: build.uid }]);
    expect(await resources.environment(one.uid, 'build')).toEqual({ names: ['again', build.uid] });
  });

  it('keep the files of skills as they were last applied, writing only what differs', async () => {
    const resources = new ResourceStore(world.stores.database);
    const { uid, fence } = await seedFactory(world.stores);
    const [review, other] = [skillOf('review'), skillOf('other')];
    const applied = (
      upserts: (typeof review)[],
      files: [string, SkillFile[]][],
      deletions: { kind: 'skill'; uid: string }[] = [],
    ) =>
      world.stores.definitions.apply({
        factoryUid: uid,
        fence,
        revision: 'r',
        factory: { applyMode: 'atomic' },
        upserts,
        deletions,
        skillFiles: new Map(files),
      });
    const filesOf = async (name: string) =>
      (await resources.skill(uid, name)).files.map(({ path, content, executable }) => [
        path,
        Buffer.from(content).toString('latin1'),
        executable,
      ]);

    await applied(
      [review, other],
      [
        [review.path, [file('b.md', 'b'), file('a/run.sh', Uint8Array.of(0, 255, 10))]],
        [other.path, [file('x', 'x')]],
      ],
    );
    expect(await filesOf('review')).toEqual([
      ['a/run.sh', '\0\u00ff\n', false],
      ['b.md', 'b', false],
    ]);
    // No definition changes; an executable bit does, and a file whose skill is not told of stays.
    await applied([], [[review.path, [file('b.md', 'b'), file('a/run.sh', Uint8Array.of(0, 255, 10), true)]]]);
    expect(await filesOf('review')).toEqual([
      ['a/run.sh', '\0\u00ff\n', true],
      ['b.md', 'b', false],
    ]);
    expect(await filesOf('other')).toEqual([['x', 'x', false]]);
    await applied(
      [review],
      [
        [review.path, [file('b.md', 'B'), file('c.md', '')]],
        [other.path, []],
      ],
    );
    expect(await filesOf('review')).toEqual([
      ['b.md', 'B', false],
      ['c.md', '', false],
    ]);
    expect(await filesOf('other')).toEqual([]);
    await applied([], [], [{ kind: 'skill', uid: review.uid }]);
    expect(await resources.skill(uid, 'review')).toMatchObject({ names: ['other'] });
    expect(await count(world.stores, 'resource_file WHERE resource_uid = ?', review.uid)).toBe(0);
    await applied([review], [[review.path, [file('d.md', 'd')]]]);
    expect(await filesOf('review')).toEqual([['d.md', 'd', false]]);
    await world.stores.factories.remove(uid);
    expect(await count(world.stores, 'resource_file WHERE resource_uid = ?', review.uid)).toBe(0);
  });

  it('remember the commit of a run’s skill while the run is theirs', async () => {
    const resources = new ResourceStore(world.stores.database);
    const run = await claimedRun(world.stores);
    const commitOf = async () =>
      (
        await select<{ skill_commit: string | null }>(
          world.stores,
          'SELECT skill_commit FROM run WHERE run_id = ?',
          run.runId,
        )
      )[0]?.skill_commit;
    await resources.noteSkillCommit(run, 'abc');
    expect(await commitOf()).toBe('abc');
    await resources.noteSkillCommit({ ...run, epoch: run.epoch - 1 }, 'def');
    expect(await commitOf()).toBe('abc');
    await resources.noteSkillCommit(run, undefined);
    expect(await commitOf()).toBeNull();
  });
});
