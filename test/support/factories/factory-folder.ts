/** A factory repository as a plain folder, written from a few facts and rewritten as a commit would. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Keys of `webhooks/<name>.yaml`. */
export interface WebhookFile {
  authMode?: 'token' | 'url_token' | 'signature';
  signatureScheme?: string;
  secretName: string;
  deliveryIdHeader?: string;
  replayProtection?: 'body';
  secretOverlapMinutes?: number;
  enabled?: boolean;
}

/** Front matter and body of `automations/<name>/automation.md`. */
export interface AutomationFile {
  /** Names of the webhooks that start it. */
  webhooks: readonly string[];
  /** The payload filter. */
  payload?: unknown;
  prompt?: string;
  enabled?: boolean;
  /** Further triggers of the same automation. */
  moreTriggers?: readonly { webhooks: readonly string[]; payload?: unknown }[];
}

export interface FactoryTree {
  webhooks?: Readonly<Record<string, WebhookFile>>;
  automations?: Readonly<Record<string, AutomationFile>>;
}

export interface FactoryFolder {
  path: string;
  source: { kind: 'directory'; path: string };
  /** Replaces the whole tree. */
  write(tree: FactoryTree): Promise<void>;
  /** Writes one file as it is. */
  writeFile(file: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

/** Makes a folder with the given tree. */
export async function factoryFolder(tree: FactoryTree): Promise<FactoryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'factory-folder-'));
  const put = async (file: string, text: string): Promise<void> => {
    await mkdir(join(path, file, '..'), { recursive: true });
    await writeFile(join(path, file), text);
  };
  const write = async (wanted: FactoryTree): Promise<void> => {
    // Other files are removed first and the kept ones rewritten in place.
    for (const folder of ['webhooks', 'automations']) await rm(join(path, folder), { recursive: true, force: true });
    for (const [file, text] of filesOf(wanted)) await put(file, text);
  };
  await write(tree);
  return {
    path,
    source: { kind: 'directory', path },
    write,
    writeFile: put,
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** A folder whose first revision waits where growth is to be approved: what runs on Sundays did not run before. */
export async function growingFolder(): Promise<FactoryFolder> {
  const folder = await factoryFolder({});
  const triggers = [{ provider: 'schedule', event: 'cron_fired', schedule: { cron: '0 6 * * 0' } }];
  await folder.writeFile(
    'automations/weekly/automation.md',
    `---\n${JSON.stringify({ triggers })}\n---\nLook at the week.\n`,
  );
  return folder;
}

/** Repository path → text. JSON is YAML, so that any value can be written without quoting rules. */
export function filesOf({ webhooks = {}, automations = {} }: FactoryTree): [path: string, text: string][] {
  return [
    ...Object.entries(webhooks).map(([name, file]): [string, string] => [
      `webhooks/${name}.yaml`,
      `${JSON.stringify(file)}\n`,
    ]),
    ...Object.entries(automations).map(([name, file]): [string, string] => [
      `automations/${name}/automation.md`,
      automationText(file),
    ]),
  ];
}

function automationText({
  webhooks,
  payload,
  prompt = 'Look at the event.',
  enabled,
  moreTriggers = [],
}: AutomationFile): string {
  const triggers = [{ webhooks, payload }, ...moreTriggers].map((filter) => ({
    provider: 'webhook',
    event: 'received',
    filter,
  }));
  return `---\n${JSON.stringify({ ...(enabled === undefined ? {} : { enabled }), triggers })}\n---\n${prompt}\n`;
}
