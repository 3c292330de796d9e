/** Knows which objects a pass left as they were although files say otherwise. contract §4.1 (status), §9. */
import type { Problem } from '#definitions';
import type { Change } from '../types.ts';

/** An object, as far as a pass can hold it back. */
export interface Holdable {
  kind: string;
  slug: string;
  uid: string;
  path: string;
}

/** Whether a pass with these problems and held deletions left an object as it was. */
export function heldOf({
  problems,
  held,
}: {
  problems: readonly Problem[];
  held: readonly Change[];
}): (object: Holdable) => boolean {
  const files = new Set(problems.filter(({ severity }) => severity === 'error').map(({ path }) => path));
  const deletions = new Set(held.map(({ uid }) => uid));
  // A skill is a folder: an error in any of its files concerns all of it.
  const skills = new Set([...files].filter((path) => path.startsWith('skills/')).map((path) => path.split('/')[1]));
  return ({ kind, slug, uid, path }) => deletions.has(uid) || files.has(path) || (kind === 'skill' && skills.has(slug));
}
