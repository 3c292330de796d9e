/** What a skill's reference and its file tell, without looking anything up. */
import { namedSkill, readSkill, repositoryName } from './index.ts';

describe('the skill behind a reference', () => {
  it.each([
    { reference: 'review', skill: { name: 'review', fullPath: 'skills/review/SKILL.md' }, why: 'one of the factory’s own' },
    { reference: 'acme/tools:review', skill: { name: 'review' }, why: 'where it lies is found out later' },
    { reference: 'acme/tools:.agents/skills/review/SKILL.md', skill: { name: 'review', fullPath: '.agents/skills/review/SKILL.md' }, why: 'the folder is its name' },
    { reference: 'acme/tools:SKILL.md', skill: { name: 'tools', fullPath: 'SKILL.md' }, why: 'the repository is its name' },
    { reference: 'acme/tools:skills/review', skill: { name: 'review' }, why: 'a folder is a name, too' },
  ])('$reference: $why', ({ reference, skill }) => {
    expect(namedSkill(reference)).toEqual(skill);
  });
});

describe('a SKILL.md', () => {
  it.each([
    { text: '# Review\n\nRead it.\n', description: '', body: '# Review\n\nRead it.', why: 'no front matter' },
    { text: '---\nname: review\ndescription: Reads a change.\n---\n# Review\n', description: 'Reads a change.', body: '# Review', why: 'a plain line' },
    { text: '---\r\ndescription: "Reads: a change"\r\n---\r\nBody', description: 'Reads: a change', body: 'Body', why: 'quoted, with other line ends' },
    { text: "---\ndescription: 'It reads'\n---\nBody", description: 'It reads', body: 'Body', why: 'quoted otherwise' },
    { text: '---\ndescription: >\n  folded\n---\nBody', description: '', body: 'Body', why: 'what YAML folds is left out' },
    { text: '---\ndescription: "a \\" b"\n---\nBody', description: '', body: 'Body', why: 'what YAML escapes is left out' },
    { text: '---\ndescription: never closed', description: '', body: '---\ndescription: never closed', why: 'no front matter after all' },
    { text: '----\nx\n---\n', description: '', body: '----\nx\n---', why: 'another line' },
  ])('$why', ({ text, description, body }) => {
    expect(readSkill(text)).toEqual({ description, body });
  });

  it('is read in a moment, whatever it holds', () => {
    expect(readSkill(`---\ndescription:${' '.repeat(1_000_000)}x${' '.repeat(1_000_000)}y\n${'---x\n'.repeat(100_000)}`).description).toBe('');
  });
});

describe('the name of a repository', () => {
  it.each([
    { text: 'acme/tools', name: { owner: 'acme', name: 'tools' }, why: 'as it is' },
    { text: 'https://forge.example/acme/tools.git', name: { owner: 'acme', name: 'tools' }, why: 'of an address' },
    { text: 'https://forge.example:8443/group/acme/tools/', name: { owner: 'acme', name: 'tools' }, why: 'the last two segments' },
    { text: 'ssh://git@forge.example/acme/tools.git', name: { owner: 'acme', name: 'tools' }, why: 'over ssh' },
    { text: 'git@forge.example:acme/tools.git', name: { owner: 'acme', name: 'tools' }, why: 'in its short form' },
    { text: 'https://forge.example/tools', name: undefined, why: 'nobody owns it' },
    { text: 'https://forge.example/a b/tools', name: undefined, why: 'no such owner' },
    { text: '', name: undefined, why: 'nothing' },
  ])('$text: $why', ({ text, name }) => {
    expect(repositoryName(text)).toEqual(name);
  });
});
