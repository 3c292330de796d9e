/** Where definition files live in a factory repository, and which names they may have. contract §8. */

export type NamedKind = 'webhook' | 'automation' | 'environment' | 'skill';

/** What a path means to a factory. */
export type PathKind =
  | { kind: 'factory' }
  | { kind: NamedKind; name: string }
  /** A further file of a skill's folder. */
  | { kind: 'skill-file'; name: string }
  /** In one of our folders, but not where anything is read from; `expected` says where it belongs. */
  | { kind: 'misplaced'; expected: string }
  | { kind: 'badly-named'; name: string }
  /** A file of the hosted service's format that is not served here; `group` is the object it belongs to. */
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
}

const FOLDERS: Readonly<Record<string, Folder>> = {
  webhooks: { kind: 'webhook', expected: 'webhooks/<name>.yaml', nameIn: fileName },
  automations: {
    kind: 'automation',
    expected: 'automations/<name>/automation.md',
    nameIn: (segments) => folderName(segments, 'automation.md'),
  },
  environments: { kind: 'environment', expected: 'environments/<name>.yaml', nameIn: fileName },
  skills: { kind: 'skill', expected: 'skills/<name>/SKILL.md', nameIn: (segments) => folderName(segments, 'SKILL.md') },
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
  if (HOSTED_FOLDERS.has(top)) return { kind: 'hosted', group: `${top}/${below[0] ?? ''}` };
  if (Object.hasOwn(FOLDERS, top)) return classifyInFolder(FOLDERS[top] as Folder, below);
  const meant = FOLDERS[top.toLowerCase()];
  return meant === undefined ? { kind: 'ignored' } : { kind: 'misplaced', expected: meant.expected };
}

function classifyTopFile(name: string): PathKind {
  if (Object.hasOwn(FOLDERS, name))
    return { kind: 'misplaced', expected: `a folder with ${(FOLDERS[name] as Folder).expected}` };
  return /^factory\.ya?ml$/i.test(name) ? { kind: 'misplaced', expected: FACTORY_FILE } : { kind: 'ignored' };
}

function classifyInFolder(folder: Folder, segments: readonly string[]): PathKind {
  const name = folder.nameIn(segments);
  if (name !== undefined) return isValidName(name) ? { kind: folder.kind, name } : { kind: 'badly-named', name };
  if (isBystander(segments)) return { kind: 'ignored' };
  const [first = ''] = segments;
  if (folder.kind === 'skill' && segments.length > 1 && !isMisspelledSkill(segments))
    return { kind: 'skill-file', name: first };
  return { kind: 'misplaced', expected: folder.expected };
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
