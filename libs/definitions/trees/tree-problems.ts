/** Problems of a tree of files as a whole: what is missing in it, misnamed, or too much. contract §8. */
import { problemAt } from '../rules/problems.ts';
import type { Problem } from '../types.ts';
import { FILE_START } from '../yaml/source-text.ts';

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

/** Files of the hosted service's format that are not served here. */
export function hostedGroup(path: string, group: string): Problem {
  const message = `${group} belongs to the hosted service's format and is not served here; it is ignored`;
  return problemAt(path, FILE_START, 'unsupported-here', message);
}

/** The first file beyond the bound. */
export function tooManyFiles(path: string, count: number, filesMax: number): Problem {
  const rest = 'so from here on, in path order, none is read';
  const message = `this is definition file ${count}; a factory has at most ${filesMax}, ${rest}`;
  return problemAt(path, FILE_START, 'too-many-files', message);
}
