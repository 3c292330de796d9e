/** What a skill may have beside its SKILL.md, and what counts as a change of it. */
import { readDefinitions, SKILL_BYTES_MAX, SKILL_FILES_MAX } from '../index.ts';
import type { TreeFile } from '../types.ts';

const file = (path: string, content: string | Uint8Array = path, executable?: boolean): TreeFile => ({
  path,
  content: Buffer.from(content),
  executable,
});
const skill = (...more: TreeFile[]) => readDefinitions([file('skills/review/SKILL.md', '# Review'), ...more]);
const digestOf = (...more: TreeFile[]): string | undefined => skill(...more).definitions.skills[0]?.filesDigest;

describe('the files of a skill', () => {
  it('come with their contents, by their paths in its folder', () => {
    const { definitions, skillFiles } = skill(
      file('skills/review/scripts/check.sh', '#!/bin/sh', true),
      file('skills/review/NOTES.md', Uint8Array.of(0, 255)),
    );
    expect(definitions.skills[0]?.files).toEqual(['skills/review/NOTES.md', 'skills/review/scripts/check.sh']);
    expect(
      skillFiles
        .get('skills/review/SKILL.md')
        ?.map(({ path, content, executable }) => [path, [...content].slice(0, 2), executable]),
    ).toEqual([
      ['NOTES.md', [0, 255], false],
      ['scripts/check.sh', [35, 33], true],
    ]);
  });

  it.each([
    { more: [file('skills/review/a.md', 'two')], why: 'another content' },
    { more: [file('skills/review/b.md', 'one')], why: 'another name' },
    { more: [file('skills/review/a.md', 'one'), file('skills/review/b.md', '')], why: 'one more, though empty' },
    { more: [], why: 'none' },
  ])('change the skill: $why', ({ more }) => {
    expect(digestOf(...more)).not.toBe(digestOf(file('skills/review/a.md', 'one')));
  });

  it('do not change it by their order, or by what some sources cannot tell', () => {
    const [one, two] = [file('skills/review/a.md'), file('skills/review/b.md')];
    expect(digestOf(two, one)).toBe(digestOf(one, two));
    expect(digestOf({ ...one, executable: true }, two)).toBe(digestOf(one, two));
    expect(digestOf()).toBeUndefined();
  });

  const many = (count: number): TreeFile[] =>
    Array.from({ length: count }, (_, index) => file(`skills/review/${index}.md`, 'x'));
  const heavy = (bytes: number): TreeFile[] =>
    Array.from({ length: 5 }, (_, index) =>
      file(`skills/review/${index}.bin`, new Uint8Array(index < 4 ? 200_000 : bytes - 800_000 - '# Review'.length)),
    );
  it.each([
    { more: many(SKILL_FILES_MAX - 1), rules: [], why: 'as many as there may be' },
    { more: many(SKILL_FILES_MAX), rules: ['skill-too-large'], why: 'one too many' },
    { more: heavy(SKILL_BYTES_MAX), rules: [], why: 'as heavy as they may be' },
    { more: heavy(SKILL_BYTES_MAX + 1), rules: ['skill-too-large'], why: 'a byte too heavy' },
  ])('are bounded: $why', ({ more, rules }) => {
    const { problems, definitions, skillFiles } = skill(...more);
    expect(problems.map(({ rule }) => rule)).toEqual(rules);
    expect(definitions.skills).toHaveLength(rules.length === 0 ? 1 : 0);
    expect(skillFiles.size).toBe(rules.length === 0 ? 1 : 0);
  });
});
