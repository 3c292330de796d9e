/** What a skill's reference and its file tell, without looking anything up. */
import { repositoryName } from '#runs';
import {
  isSkillFilePath,
  isSkillFolderName,
  namedSkill,
  readSkill,
  skillAtRepository,
  skillFolders,
  skillFilesHint,
} from './index.ts';

describe('the skill behind a reference', () => {
  it.each([
    {
      reference: 'review',
      skill: { name: 'review', fullPath: 'skills/review/SKILL.md' },
      why: 'one of the factory’s own',
    },
    { reference: 'acme/tools:review', skill: { name: 'review' }, why: 'where it lies is found out later' },
    {
      reference: 'acme/tools:.agents/skills/review/SKILL.md',
      skill: { name: 'review', fullPath: '.agents/skills/review/SKILL.md' },
      why: 'the folder is its name',
    },
    {
      reference: 'acme/tools:SKILL.md',
      skill: { name: 'tools', fullPath: 'SKILL.md' },
      why: 'the repository is its name',
    },
    { reference: 'acme/tools:skills/review', skill: { name: 'review' }, why: 'a folder is a name, too' },
  ])('$reference: $why', ({ reference, skill }) => {
    expect(namedSkill(reference)).toEqual(skill);
  });
});

describe('a skill of a repository', () => {
  it.each([
    {
      reference: 'acme/tools:review',
      folders: ['skills/review', '.agents/skills/review', '.claude/skills/review'],
      why: 'in one of the usual folders',
    },
    { reference: 'acme/tools:some/where/SKILL.md', folders: ['some/where'], why: 'where it says' },
    { reference: 'acme/tools:some/where', folders: ['some/where'], why: 'a folder is as good' },
    { reference: 'acme/tools:SKILL.md', folders: [''], why: 'at the top' },
    { reference: 'acme/tools:../x/SKILL.md', folders: [], why: 'nowhere outside' },
    { reference: 'acme/tools:/etc/SKILL.md', folders: [], why: 'nor on this machine' },
    { reference: 'acme/tools:..', folders: [], why: 'nor above' },
  ])('$reference is looked for: $why', ({ reference, folders }) => {
    const { owner, name, place } = skillAtRepository(reference);
    expect([owner, name, skillFolders(place)]).toEqual(['acme', 'tools', folders]);
  });

  it.each(['a.md', 'a/b.md', '.hidden', 'x..y', 'ünï'])('may have a file %s', (path) =>
    expect(isSkillFilePath(path)).toBe(true),
  );
  it.each([
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    './a',
    'a\\b',
    'a\nb',
    'a\0',
    '.git/config',
    'a/.GIT/x',
    'x'.repeat(256),
    'x/'.repeat(600),
  ])('may not have a file %j', (path) => expect(isSkillFilePath(path)).toBe(false));
  it.each(['..', '.', '', '.hidden', 'a/b', 'a b', 'x'.repeat(129)])('may not be called %j', (name) =>
    expect(isSkillFolderName(name)).toBe(false),
  );

  it('tells where its other files are, a few of them by name', () => {
    expect(skillFilesHint([], '.agents/skills/review')).toBeUndefined();
    expect(skillFilesHint(['a.md'], undefined)).toBeUndefined();
    expect(skillFilesHint(['a.md', 'b.sh'], '.agents/skills/review')).toBe(
      'The other files of this skill (a.md, b.sh) are in $HOME/.agents/skills/review/.',
    );
    expect(
      skillFilesHint(
        Array.from({ length: 11 }, (_, index) => `${index}.md`),
        'x',
      ),
    ).toContain('9.md, …)');
  });
});

describe('a SKILL.md', () => {
  it.each([
    { text: '# Review\n\nRead it.\n', description: '', body: '# Review\n\nRead it.', why: 'no front matter' },
    {
      text: '---\nname: review\ndescription: Reads a change.\n---\n# Review\n',
      description: 'Reads a change.',
      body: '# Review',
      why: 'a plain line',
    },
    {
      text: '---\r\ndescription: "Reads: a change"\r\n---\r\nBody',
      description: 'Reads: a change',
      body: 'Body',
      why: 'quoted, with other line ends',
    },
    { text: "---\ndescription: 'It reads'\n---\nBody", description: 'It reads', body: 'Body', why: 'quoted otherwise' },
    {
      text: '---\ndescription: >\n  folded\n---\nBody',
      description: '',
      body: 'Body',
      why: 'what YAML folds is left out',
    },
    {
      text: '---\ndescription: "a \\" b"\n---\nBody',
      description: '',
      body: 'Body',
      why: 'what YAML escapes is left out',
    },
    {
      text: '---\ndescription: never closed',
      description: '',
      body: '---\ndescription: never closed',
      why: 'no front matter after all',
    },
    { text: '----\nx\n---\n', description: '', body: '----\nx\n---', why: 'another line' },
  ])('$why', ({ text, description, body }) => {
    expect(readSkill(text)).toEqual({ description, body });
  });

  it('is read in a moment, whatever it holds', () => {
    expect(
      readSkill(`---\ndescription:${' '.repeat(1_000_000)}x${' '.repeat(1_000_000)}y\n${'---x\n'.repeat(100_000)}`)
        .description,
    ).toBe('');
  });
});

describe('the name of a repository', () => {
  it.each([
    { text: 'acme/tools', name: { owner: 'acme', name: 'tools' }, why: 'as it is' },
    { text: 'https://forge.example/acme/tools.git', name: { owner: 'acme', name: 'tools' }, why: 'of an address' },
    {
      text: 'https://forge.example:8443/group/acme/tools/',
      name: { owner: 'acme', name: 'tools' },
      why: 'the last two segments',
    },
    { text: 'ssh://git@forge.example/acme/tools.git', name: { owner: 'acme', name: 'tools' }, why: 'over ssh' },
    { text: 'git@forge.example:acme/tools.git', name: { owner: 'acme', name: 'tools' }, why: 'in its short form' },
    { text: 'https://forge.example/tools', name: undefined, why: 'nobody owns it' },
    { text: 'https://forge.example/a b/tools', name: undefined, why: 'no such owner' },
    { text: '', name: undefined, why: 'nothing' },
  ])('$text: $why', ({ text, name }) => {
    expect(repositoryName(text)).toEqual(name);
  });
});
