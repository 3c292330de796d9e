/** The trees of a random history: files by meaning, and their text. */

export type FileKind = 'webhook' | 'automation' | 'environment' | 'skill' | 'factory';

/** What is wrong with a file. `syntax` and `key` keep it from being read, `reference` from being applied. */
export type Breakage = 'syntax' | 'key' | 'reference';

export interface HistoryFile {
  kind: FileKind;
  /** Tells this version of the file from every other one; a revert brings a tag back. */
  tag: number;
  secretName?: string;
  webhooks?: readonly string[];
  environment?: string;
  enabled?: boolean;
  applyMode?: 'atomic' | 'perFile';
  /** What a file says that stands beside SKILL.md. */
  others?: boolean;
  broken?: Breakage;
}

/** Path → file. */
export type HistoryTree = ReadonlyMap<string, HistoryFile>;

const PLACES: Readonly<Record<Exclude<FileKind, 'factory'>, [string, string]>> = {
  webhook: ['webhooks/', '.yaml'],
  automation: ['automations/', '/automation.md'],
  environment: ['environments/', '.yaml'],
  skill: ['skills/', '/SKILL.md'],
};

export const FACTORY_PATH = 'factory.yaml';

export function pathOf(kind: FileKind, name: string): string {
  if (kind === 'factory') return FACTORY_PATH;
  const [before, behind] = PLACES[kind];
  return before + name + behind;
}

/** Name of the object that a file defines; empty for the factory's own file. */
export function nameOf(path: string): string {
  return path === FACTORY_PATH ? '' : (path.split('/')[1] as string).replace(/\.yaml$/, '');
}

/** The exact text of a file. Its tag stands in what is applied of it. */
export function textOf(path: string, file: HistoryFile): string {
  switch (file.kind) {
    case 'webhook':
      return yaml(
        [
          `secretName: ${file.broken === 'reference' ? 'nowhere' : file.secretName}`,
          `description: tag ${file.tag}`,
          ...(file.enabled === false ? ['enabled: false'] : []),
        ],
        file,
      );
    case 'automation':
      return automationText(file);
    case 'environment':
      return yaml([`description: tag ${file.tag}`, 'dockerImage: node:20'], file);
    case 'skill':
      return file.broken === undefined ? `---\nname: ${nameOf(path)}\n---\nDo tag ${file.tag}.\n` : '';
    case 'factory':
      return yaml([`applyMode: ${file.applyMode}`, `description: tag ${file.tag}`], file);
  }
}

function automationText(file: HistoryFile): string {
  const webhooks = file.broken === 'reference' ? ['nowhere'] : (file.webhooks ?? []);
  const head = [
    '---',
    `description: tag ${file.tag}`,
    ...(file.environment === undefined ? [] : [`environmentId: ${file.environment}`]),
    ...(file.broken === 'key' ? ['descriptoin: x'] : []),
    'triggers:',
    '  - provider: webhook',
    '    event: received',
    '    filter:',
    `      webhooks: [${webhooks.join(', ')}]`,
  ];
  return [...head, ...(file.broken === 'syntax' ? [] : ['---']), `Do tag ${file.tag}.`, ''].join('\n');
}

function yaml(lines: readonly string[], { broken }: HistoryFile): string {
  const wrong = broken === 'syntax' ? ['more: ['] : broken === 'key' ? ['descriptoin: x'] : [];
  return [...lines, ...wrong, ''].join('\n');
}

/** Whether a file of this tree cannot be read: then nothing may be deleted on the word of the tree. */
export function isUnread({ kind, broken }: HistoryFile): boolean {
  return (
    broken !== undefined && (broken !== 'reference' || kind === 'environment' || kind === 'skill' || kind === 'factory')
  );
}

/** Whether this is a breakage that a file of the kind can have. */
export function breakageOf(kind: FileKind, wanted: Breakage): Breakage {
  return wanted === 'reference' && kind !== 'webhook' && kind !== 'automation' ? 'syntax' : wanted;
}
