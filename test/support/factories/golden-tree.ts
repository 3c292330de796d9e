/**
 * How a golden case of test/definitions becomes a tree and facts: files under tree/, other entries in entries.json,
 * facts in known.json.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { agentsHere, type KnownFacts, type SecretFacts, type TreeFile } from '#definitions';
import { releaseProblemOf } from '#isolation';

/**
 * An entry that a checked-out folder cannot hold as it is. `count` makes that many, `{n}` in path and text is the
 * number.
 */
interface WrittenEntry {
  path: string;
  kind?: 'file' | 'symlink' | 'submodule';
  base64?: string;
  text?: string;
  sizeBytes?: number;
  count?: number;
}

interface WrittenFacts {
  webhookSecrets?: SecretFacts[];
  runSecrets?: string[];
  liveWebhooks?: Record<string, string>;
  deletedWebhookUids?: string[];
  environmentUids?: string[];
  models?: string[];
  harnesses?: string[];
  /** What runs get on the server. */
  agentsHere?: Parameters<typeof agentsHere>[0];
  predictsUids?: boolean;
  /** Repositories that the operator's list cuts off. */
  unreached?: string[];
  /** Hosts of secrets of runs, by name. */
  runHosts?: Record<string, string[]>;
  /** The day it is. */
  today?: string;
}

/** The tree of a case. */
export function treeOf(folder: string): TreeFile[] {
  return [...filesUnder(join(folder, 'tree')), ...entriesOf(folder)];
}

/** The facts of a case; none without known.json. */
export function factsOf(folder: string): KnownFacts {
  const file = join(folder, 'known.json');
  if (!existsSync(file)) return {};
  const facts = JSON.parse(readFileSync(file, 'utf8')) as WrittenFacts;
  return {
    ...(facts.webhookSecrets && {
      webhookSecrets: new Map(facts.webhookSecrets.map((secret) => [secret.name, secret])),
    }),
    ...(facts.runSecrets && { runSecrets: new Set(facts.runSecrets) }),
    ...(facts.liveWebhooks && { liveWebhooks: new Map(Object.entries(facts.liveWebhooks)) }),
    ...(facts.deletedWebhookUids && { deletedWebhookUids: new Set(facts.deletedWebhookUids) }),
    ...(facts.environmentUids && { environmentUids: new Set(facts.environmentUids) }),
    ...(facts.models && { models: new Set(facts.models) }),
    ...(facts.harnesses && { harnesses: new Set(facts.harnesses) }),
    ...(facts.agentsHere && { agentsHere: agentsHere(facts.agentsHere) }),
    ...(facts.unreached && {
      unreachedHostOf: (repository) =>
        typeof repository === 'string' && facts.unreached?.includes(repository) === true
          ? new URL(repository).host
          : undefined,
    }),
    ...(facts.runHosts && { releaseProblemOf: releaseProblemOf(new Map(Object.entries(facts.runHosts))) }),
    ...(facts.predictsUids && { webhookUidOf: exampleUidOf }),
    ...(facts.today !== undefined && { today: facts.today }),
  };
}

/** A readable stand-in for derived UIDs: the slug, padded. */
export function exampleUidOf(slug: string): string {
  return `wh_${slug
    .replaceAll(/[^0-9a-hjkmnp-tv-z]/g, '0')
    .padEnd(26, '0')
    .slice(0, 26)}`;
}

/** Every regular file below a folder, as a tree relative to it. */
export function filesUnder(folder: string): TreeFile[] {
  if (!existsSync(folder)) return [];
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
  const files = paths.filter((path) => statSync(path).isFile());
  return files.map((path) => ({ path: relative(folder, path).split(sep).join('/'), content: readFileSync(path) }));
}

function entriesOf(folder: string): TreeFile[] {
  const file = join(folder, 'entries.json');
  if (!existsSync(file)) return [];
  const entries = JSON.parse(readFileSync(file, 'utf8')) as WrittenEntry[];
  return entries.flatMap((entry) =>
    Array.from({ length: entry.count ?? 1 }, (_, index) => toTreeFile(entry, index + 1)),
  );
}

function toTreeFile({ path, kind, base64, text, sizeBytes }: WrittenEntry, number: number): TreeFile {
  const numbered = (template: string) => template.replaceAll('{n}', String(number).padStart(4, '0'));
  const content = base64 === undefined ? Buffer.from(numbered(text ?? '')) : Buffer.from(base64, 'base64');
  return { path: numbered(path), content, ...(kind && { kind }), ...(sizeBytes !== undefined && { sizeBytes }) };
}
