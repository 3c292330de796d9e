/** Where definition files live in a factory repository, and which names they may have. contract §8. */
import { editDistance } from './suggest.ts';

export type NamedKind = 'webhook' | 'automation' | 'environment' | 'skill';

/** What a path means to a factory. */
export type PathKind =
  | { kind: 'factory' }
  | { kind: NamedKind; name: string }
  /** A further file of a skill's folder. */
  | { kind: 'skill-file'; name: string }
  /**
   * In one of our folders, but not where anything is read from; `expected` says where it belongs, `meant` is the exact
   * path where only one can be.
   */
  | { kind: 'misplaced'; expected: string; meant?: string }
  /** In a folder that is called nearly like one of ours: misplaced if its text is one of ours. */
  | { kind: 'nearby'; meant: string; definition: NamedKind }
  | { kind: 'badly-named'; name: string }
  /** A file of the hosted service's format that is not served here; `group` is its folder. */
  | { kind: 'hosted'; group: string }
  | { kind: 'ignored' };

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const FACTORY_FILE = 'factory.yaml';
const HOSTED_FOLDERS: ReadonlySet<string> = new Set(['agents', 'runners', 'scorers', 'benchmarks']);

interface Folder {
  kind: NamedKind;
  expected: string;
  /** The name when the segments below the folder are where a definition belongs. */
  nameIn(segments: readonly string[]): string | undefined;
  /** The segments where a definition belongs that is nearly there. */
  nearIn(segments: readonly string[]): string | undefined;
}

const FOLDERS: Readonly<Record<string, Folder>> = {
  webhooks: { kind: 'webhook', expected: 'webhooks/<name>.yaml', nameIn: fileName, nearIn: nearFile },
  automations: {
    kind: 'automation',
    expected: 'automations/<name>/automation.md',
    nameIn: (segments) => folderName(segments, 'automation.md') ?? flatName(segments),
    nearIn: (segments) => nearFolder(segments, 'automation.md'),
  },
  environments: { kind: 'environment', expected: 'environments/<name>.yaml', nameIn: fileName, nearIn: nearFile },
  skills: {
    kind: 'skill',
    expected: 'skills/<name>/SKILL.md',
    nameIn: (segments) => folderName(segments, 'SKILL.md'),
    nearIn: (segments) => nearFolder(segments, 'SKILL.md'),
  },
};

/** Whether a name may be the slug of a webhook, automation, environment or skill. contract §8.1 (`<name>`). */
export function isValidName(name: string): boolean {
  return NAME.test(name);
}

/** Whether `readDefinitions` wants to see the file of this path; sources need not read any other. */
export function isDefinitionPath(path: string): boolean {
  return classifyPath(path).kind !== 'ignored';
}

/** What a path, relative to the factory's root and with `/` between segments, means. Total. */
export function classifyPath(path: string): PathKind {
  if (path === FACTORY_FILE) return { kind: 'factory' };
  const [top = '', ...below] = path.split('/');
  if (below.length === 0) return classifyTopFile(top);
  if (HOSTED_FOLDERS.has(top)) return { kind: 'hosted', group: top };
  if (Object.hasOwn(FOLDERS, top)) return classifyInFolder(top, FOLDERS[top] as Folder, below);
  const lower = top.toLowerCase();
  if (Object.hasOwn(FOLDERS, lower)) return misplaced(lower, FOLDERS[lower] as Folder, below);
  return classifyNearby(top, below);
}

/** Whether anything below a folder, relative to the factory's root, could be a definition or was meant to be one. */
export function leadsToDefinitions(folder: string): boolean {
  if (isDefinitionPath(`${folder}/any`)) return true;
  const [top = '', ...below] = folder.split('/');
  return below.length < 2 && folderMeantBy(top) !== undefined;
}

/** A file in a folder whose name is one letter off, if it stands there as it would in ours. */
function classifyNearby(top: string, below: readonly string[]): PathKind {
  const name = below.length > 2 ? undefined : folderMeantBy(top);
  if (name === undefined) return { kind: 'ignored' };
  const { kind, nearIn } = FOLDERS[name] as Folder;
  const place = isBystander(below) || (kind !== 'webhook' && kind !== 'environment' && below.length < 2);
  const near = place ? undefined : nearIn(below);
  return near === undefined ? { kind: 'ignored' } : { kind: 'nearby', meant: `${name}/${near}`, definition: kind };
}

function folderMeantBy(top: string): string | undefined {
  const lower = top.toLowerCase();
  return Object.keys(FOLDERS).find(
    (name) => Math.abs(name.length - lower.length) <= 1 && editDistance(name, lower) === 1,
  );
}

function misplaced(name: string, folder: Folder, below: readonly string[]): PathKind {
  const near = folder.nearIn(below);
  return { kind: 'misplaced', expected: folder.expected, ...(near === undefined ? {} : { meant: `${name}/${near}` }) };
}

function classifyTopFile(name: string): PathKind {
  if (Object.hasOwn(FOLDERS, name))
    return { kind: 'misplaced', expected: `a folder with ${(FOLDERS[name] as Folder).expected}` };
  return /^factory\.ya?ml$/i.test(name)
    ? { kind: 'misplaced', expected: FACTORY_FILE, meant: FACTORY_FILE }
    : { kind: 'ignored' };
}

function classifyInFolder(top: string, folder: Folder, segments: readonly string[]): PathKind {
  const name = folder.nameIn(segments);
  if (name !== undefined) return isValidName(name) ? { kind: folder.kind, name } : { kind: 'badly-named', name };
  if (isBystander(segments)) return { kind: 'ignored' };
  const [first = ''] = segments;
  if (folder.kind === 'skill' && segments.length > 1 && !isMisspelledSkill(segments))
    return { kind: 'skill-file', name: first };
  return misplaced(top, folder, segments);
}

/** Files that people and editors keep in any folder: `.gitkeep`, `.DS_Store`, README.md. */
function isBystander(segments: readonly string[]): boolean {
  const file = segments.at(-1) ?? '';
  return file.startsWith('.') || (segments.length === 1 && file.toLowerCase() === 'readme.md');
}

function isMisspelledSkill(segments: readonly string[]): boolean {
  return segments.length === 2 && segments[1]?.toLowerCase() === 'skill.md';
}

function fileName(segments: readonly string[]): string | undefined {
  const [file = ''] = segments;
  const isOurs = segments.length === 1 && file.endsWith('.yaml') && !file.startsWith('.');
  return isOurs ? file.slice(0, -'.yaml'.length) : undefined;
}

function folderName(segments: readonly string[], file: string): string | undefined {
  return segments.length === 2 && segments[1] === file ? segments[0] : undefined;
}

/** `a.md`: an automation without a folder of its own, as the hosted service reads it too. */
function flatName(segments: readonly string[]): string | undefined {
  const [file = ''] = segments;
  const isOne = segments.length === 1 && file.endsWith('.md') && !isBystander(segments);
  return isOne ? file.slice(0, -'.md'.length) : undefined;
}

/** `a.yml` and `A.YAML` are `<name>.yaml`. */
function nearFile(segments: readonly string[]): string | undefined {
  const name = segments.length === 1 ? /^(.+)\.ya?ml$/i.exec(segments[0] ?? '')?.[1] : undefined;
  return name === undefined || !isValidName(name) ? undefined : `${name}.yaml`;
}

/** `a.md` and `a/Automation.md` are `a/automation.md`. */
function nearFolder(segments: readonly string[], file: string): string | undefined {
  const [first = '', second = ''] = segments;
  const name = segments.length === 1 ? /^(.+)\.md$/i.exec(first)?.[1] : first;
  const isNear = segments.length === 1 || (segments.length === 2 && second.toLowerCase() === file.toLowerCase());
  return isNear && name !== undefined && isValidName(name) ? `${name}/${file}` : undefined;
}
