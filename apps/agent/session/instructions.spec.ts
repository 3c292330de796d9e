/** What a model is told before the conversation. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instructionsFor, SKILLS_FOLDER } from './instructions.ts';
import { allowedPathsOf } from '../tools/workspace-paths.ts';

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'instructions-')));
  await mkdir(join(root, 'home', '.agents', 'skills', 'deploy'), { recursive: true });
  await mkdir(join(root, 'work', '.agents', 'skills', 'broken'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const told = async (instructions?: string): Promise<string> => {
  const [cwd, home] = [join(root, 'work'), join(root, 'home')];
  const allowedPaths = await allowedPathsOf({ cwd, tmp: join(root, 'tmp'), readOnly: [join(home, SKILLS_FOLDER)] });
  return instructionsFor({
    allowedPaths,
    home,
    instructions,
    remarks: ['A remark.'],
    modelId: 'm-1',
    today: '2026-01-02',
  });
};

it("has the agent's own words, the client's, and facts", async () => {
  const text = await told('You speak like a pirate.');
  expect(text).toContain("You are Millwright's agent");
  for (const part of ['You speak like a pirate.', join(root, 'work'), 'm-1', '2026-01-02', 'A remark.'])
    expect(text).toContain(part);
  expect(text).not.toContain('AGENTS.md');
});

it('has AGENTS.md of the working folder, cut where it is a book', async () => {
  await writeFile(join(root, 'work', 'AGENTS.md'), `Use tabs.\n${'x'.repeat(100_000)}`);
  const text = await told();
  expect(text).toContain('Use tabs.');
  expect(text.length).toBeLessThan(40_000);
});

it('lists skills with their descriptions, wherever they lie', async () => {
  await writeFile(
    join(root, 'home', '.agents', 'skills', 'deploy', 'SKILL.md'),
    '---\nname: deploy\ndescription: "How to deploy"\n---\nSteps',
  );
  await writeFile(join(root, 'work', '.agents', 'skills', 'broken', 'SKILL.md'), 'No front matter');
  const text = await told();
  expect(text).toContain(`- ${join(root, 'home', '.agents', 'skills', 'deploy', 'SKILL.md')}: How to deploy`);
  expect(text).toContain(`- ${join(root, 'work', '.agents', 'skills', 'broken', 'SKILL.md')}\n`.trim());
});

it('takes nothing in that lies elsewhere: a repository may bring links', async () => {
  await writeFile(join(root, 'home', 'credentials'), 'hunter2');
  await symlink(join(root, 'home', 'credentials'), join(root, 'work', 'AGENTS.md'));
  await symlink(join(root, 'home', 'credentials'), join(root, 'work', '.agents', 'skills', 'broken', 'SKILL.md'));
  const text = await told();
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('Skills:');
});
