/** What the text that names a skill says about it. spec: Agent configuration (skill_spec); contract 3 (AmbientAgentConfig). */

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

/** Where a factory repository holds a skill of its own. contract 8. */
export function factorySkillPath(name: string): string {
  return `skills/${name}/${SKILL_FILE}`;
}

/** What a SKILL.md tells people and agents: its body, and the description of its front matter where that is a plain line. Total, linear. */
export function readSkill(text: string): { description: string; body: string } {
  const lines = text.split('\n');
  const end = lines[0]?.trimEnd() === FENCE ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === FENCE) : -1;
  if (end === -1) return { description: '', body: text.trim() };
  return { description: describedIn(lines.slice(1, end)), body: lines.slice(end + 1).join('\n').trim() };
}

const FENCE = '---';
const DESCRIPTION = 'description:';

/** Shown, never acted on: a value that YAML would fold or escape is left out rather than misread. */
function describedIn(lines: readonly string[]): string {
  const value = lines.find((line) => line.startsWith(DESCRIPTION))?.slice(DESCRIPTION.length).trim() ?? '';
  const quoted = /^"([^"\\]*)"$|^'([^']*)'$/.exec(value);
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? '';
  return /^[|>&*!"'[{%@`#]/.test(value) ? '' : value;
}
