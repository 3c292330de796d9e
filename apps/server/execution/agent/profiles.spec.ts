/** Where the programs of agents are found, and what of the machine comes with them. explanation: Coding agents. */
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { LAUNCH_PROFILES, profilesWith, type LaunchProfile } from '#agents';
import { agentsFound, notInstalled, startable } from './profiles.ts';

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'millwright-agents-')));
  const packages = join(folder, 'lib/node_modules');
  await mkdir(join(packages, 'house/dist'), { recursive: true });
  await mkdir(join(packages, '.bin'));
  await writeFile(join(packages, 'house/dist/cli.js'), '#!/usr/bin/env node\n', { mode: 0o755 });
  await symlink('../house/dist/cli.js', join(packages, '.bin/house'));
  await writeFile(join(folder, 'locked'), '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const agent = (command: readonly string[]): LaunchProfile =>
  profilesWith([{ id: 'house', command, modelVia: { kind: 'option' }, install: 'make house' }]).at(-1) as LaunchProfile;

it('finds an agent in the service’s PATH, with all packages of its installation', async () => {
  const bin = join(folder, 'lib/node_modules/.bin');
  const found = await startable(agent(['house', '--acp']), `relative${delimiter}${bin}`);
  expect(found?.command.slice(-2)).toEqual([join(bin, 'house'), '--acp']);
  expect(found?.readOnly).toEqual([join(folder, 'lib/node_modules')]);
});

it('finds nothing that is not there, that cannot be executed, or that a relative path names', async () => {
  for (const command of [['no-such-agent'], [join(folder, 'locked')], ['./house'], [folder], ['']])
    expect(await startable(agent(command), folder)).toBeUndefined();
  await chmod(join(folder, 'locked'), 0o755);
  expect(await startable(agent([join(folder, 'locked')]), undefined)).toBeDefined();
});

it('says of every agent whether it is there, and how to install what is not', async () => {
  const found = await agentsFound([...LAUNCH_PROFILES, agent(['house'])], join(folder, 'lib/node_modules/.bin'));
  expect(found.map(({ id }) => id)).toEqual([...LAUNCH_PROFILES.map(({ id }) => id), 'house']);
  expect(found.at(-1)).toEqual({
    id: 'house',
    installed: true,
    path: join(folder, 'lib/node_modules/.bin/house'),
    install: 'make house',
  });
  expect(notInstalled(agent(['no-such-agent']))).toBe(
    'the agent house is not installed: the machine of this service has no program "no-such-agent"; install it ' +
      'there with: make house',
  );
});
