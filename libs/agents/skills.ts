/**
 * What the text that names a skill says about it. spec: Agent configuration (skill_spec); contract §3.4.
 */

/** A skill as far as its reference tells: its name, and where its SKILL.md lies in its repository. */
export interface NamedSkill {
  name: string;
  fullPath?: string;
}

const SKILL_FILE = 'SKILL.md';

/** The skill behind `owner/repo:skill-name`, `owner/repo:path/to/SKILL.md`, or the name of one of the factory's own. */
export function namedSkill(reference: string): NamedSkill {
  const colon = reference.indexOf(':');
  if (colon === -1) return { name: reference, fullPath: factorySkillPath(reference) };
  const within = reference.slice(colon + 1);
  const folders = within.split('/');
  if (folders.at(-1) !== SKILL_FILE) return { name: folders.at(-1) || within };
  // A SKILL.md at the top of a repository is the repository's skill.
  return { name: folders.at(-2) ?? reference.slice(reference.indexOf('/') + 1, colon), fullPath: within };
}

/** Where a factory repository holds a skill of its own. contract §8. */
export function factorySkillPath(name: string): string {
  return `skills/${name}/${SKILL_FILE}`;
}

/**
 * What a SKILL.md tells people and agents: its body, and the description of its front matter where that is a plain
 * line. Total, linear.
 */
export function readSkill(text: string): { description: string; body: string } {
  const lines = text.split('\n');
  const end =
    lines[0]?.trimEnd() === FENCE ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === FENCE) : -1;
  if (end === -1) return { description: '', body: text.trim() };
  return {
    description: describedIn(lines.slice(1, end)),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
}

const FENCE = '---';
const DESCRIPTION = 'description:';

/** Shown, never acted on: a value that YAML would fold or escape is left out rather than misread. */
function describedIn(lines: readonly string[]): string {
  const value =
    lines
      .find((line) => line.startsWith(DESCRIPTION))
      ?.slice(DESCRIPTION.length)
      .trim() ?? '';
  const quoted = /^"([^"\\]*)"$|^'([^']*)'$/.exec(value);
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? '';
  return /^[|>&*!"'[{%@`#]/.test(value) ? '' : value;
}

/** Where a repository has a skill: in a folder that is named, or under its name in one of the usual folders. */
export type SkillPlace = { kind: 'folder'; folder: string } | { kind: 'name'; name: string };

/**
 * The repository and the place behind `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`, whose form has been
 * checked.
 */
export function skillAtRepository(reference: string): { owner: string; name: string; place: SkillPlace } {
  const colon = reference.indexOf(':');
  const [owner = '', name = ''] = reference.slice(0, colon).split('/');
  const within = reference.slice(colon + 1);
  if (within === SKILL_FILE) return { owner, name, place: { kind: 'folder', folder: '' } };
  if (within.endsWith(`/${SKILL_FILE}`))
    return { owner, name, place: { kind: 'folder', folder: within.slice(0, -SKILL_FILE.length - 1) } };
  // A path to a folder is as good as its SKILL.md.
  return {
    owner,
    name,
    place: within.includes('/') ? { kind: 'folder', folder: within } : { kind: 'name', name: within },
  };
}

/** Folders of a repository in which skills are looked for by name, first to last. */
const USUAL_FOLDERS = ['skills', '.agents/skills', '.claude/skills'];

/** Folders that may have the SKILL.md, best first; none for a place that no path in a repository can have. */
export function skillFolders(place: SkillPlace): string[] {
  const folders = place.kind === 'name' ? USUAL_FOLDERS.map((folder) => `${folder}/${place.name}`) : [place.folder];
  return folders.filter((folder) => folder === '' || isSkillFilePath(folder));
}

/** Whether a path is one below a folder: no way up, no empty part, nothing that a file system reads otherwise. */
export function isSkillFilePath(path: string): boolean {
  if (path === '' || path.length > 1_024 || /[\u0000-\u001f\u007f\\]/.test(path)) return false;
  return path
    .split('/')
    .every(
      (part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git' && part.length <= 255,
    );
}

/** Whether the name of a skill can be the name of its folder. */
export function isSkillFolderName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(name);
}

/** Other files of a skill that its text is told of by name. */
const FILES_LISTED_MAX = 10;

/** One line that tells an agent where the other files of its skill are; undefined where there are none, or nowhere. */
export function skillFilesHint(paths: readonly string[], folder: string | undefined): string | undefined {
  if (paths.length === 0 || folder === undefined) return undefined;
  const listed = paths.slice(0, FILES_LISTED_MAX).join(', ');
  return (
    `The other files of this skill (${listed}${paths.length > FILES_LISTED_MAX ? ', …' : ''}) are in ` +
    `$HOME/${folder}/.`
  );
}
