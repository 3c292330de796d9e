/** Problems of a tree of files as a whole: what is missing in it, misnamed, or too much. contract §8. */
import { HOSTED_FOLDERS } from '#contracts';
import type { PathKind } from '../definition-paths.ts';
import { problemAt } from '../rules/problems.ts';
import type { Problem } from '../types.ts';
import { FILE_START } from '../yaml/source-text.ts';

/** A file that is one of ours and lies where nothing is read from. */
export function wrongPlace(path: string, expected: string): Problem {
  return problemAt(path, FILE_START, 'wrong-place', `nothing is read from here; did you mean ${expected}?`);
}

/** A definition whose file name is no name. */
export function badName(path: string, name: string): Problem {
  const rule = 'names are 1 to 63 of a-z, 0-9 and -, and neither start nor end with -';
  return problemAt(path, FILE_START, 'bad-name', `${JSON.stringify(name)} is no possible name: ${rule}`);
}

/** A tree without any definition. */
export function notAFactory(): Problem {
  const message =
    'nothing here is a factory: expected factory.yaml, or files under webhooks/, automations/, environments/ or ' +
    'skills/';
  return problemAt('factory.yaml', FILE_START, 'not-a-factory', message);
}

/** Files of a skill without its SKILL.md. */
export function skillMissing(path: string, name: string): Problem {
  const message = `skills/${name}/SKILL.md is missing: files of a skill stand beside it`;
  return problemAt(path, FILE_START, 'skill-missing', message);
}

/** A folder of the hosted service's format that is not served here. */
export function hostedGroup(path: string, group: string): Problem {
  const loss = HOSTED_FOLDERS[group] ?? 'nothing reads it';
  const message = `${group}/ (${loss}): of the hosted service's format, not served here and ignored`;
  return problemAt(path, FILE_START, 'unsupported-here', message);
}

/** The first file beyond the bound. */
export function tooManyFiles(path: string, count: number, filesMax: number): Problem {
  const rest = 'so from here on, in path order, none is read';
  const message = `this is definition file ${count}; a factory has at most ${filesMax}, ${rest}`;
  return problemAt(path, FILE_START, 'too-many-files', message);
}

/** An automation that two files say: each could be meant. */
export function automationTwice(path: string, name: string): Problem {
  const both = `automations/${name}.md and automations/${name}/automation.md`;
  const message = `${both} are the same automation; remove one of the two`;
  return problemAt(path, FILE_START, 'duplicate-definition', message);
}

/** Names of automations that two files say. */
export function automationsTwice(placed: readonly { place: PathKind }[]): Set<string> {
  const once = new Set<string>();
  const names = placed.flatMap(({ place }) => (place.kind === 'automation' ? [place.name] : []));
  return new Set(names.filter((name) => once.has(name) || !once.add(name)));
}
