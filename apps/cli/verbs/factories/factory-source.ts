/** Where a factory's definitions come from, as options say it. contract §4.1 (source). */
import { extname } from 'node:path';
import { parse } from 'yaml';
import type { Factory, FactoryCreate } from '#client';
import { CommandError, UsageError, type CliIo, type OptionSpecs, type ValuesOf } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { readInput, toText } from '../../terminal/input.ts';

export const SOURCE_OPTIONS = {
  git: { type: 'string', value: 'URL', help: 'https or ssh address of its repository, without user and password' },
  directory: { type: 'string', value: 'DIR', help: 'absolute path on the server, where its operator allows that' },
  api: { type: 'boolean', help: 'no files: webhooks and automations are managed over the API' },
  branch: { type: 'string', value: 'BRANCH', help: 'branch of the repository (default: that of its HEAD)' },
  path: {
    type: 'string',
    value: 'FOLDER',
    insteadOfEmpty: '--path . for the root of the repository',
    help: 'folder of the repository that is the root of the factory',
  },
  interval: { type: 'string', value: 'SECONDS', help: 'time between two looks (default: what the server says)' },
  'credential-secret': { type: 'string', value: 'SECRET', help: 'managed secret that the repository is read with' },
  'push-secret': { type: 'string', value: 'SECRET', help: 'managed secret that push notices are proven with' },
  forge: { type: 'string', value: 'KIND', help: 'answer its pull requests: github, gitlab, gitea (Forgejo) or none' },
  'forge-secret': { type: 'string', value: 'SECRET', help: 'managed secret with the token of the forge' },
  'forge-app': { type: 'string', value: 'ID', help: 'a GitHub App, whose private key is that secret then' },
  'forge-url': { type: 'string', value: 'URL', help: "the forge's interface (default: derived from the address)" },
  'forge-repository': { type: 'string', value: 'OWNER/NAME', help: 'the repository there (default: derived)' },
} as const satisfies OptionSpecs;

type Source = Factory['source'];
type Values = ValuesOf<typeof SOURCE_OPTIONS>;

/** The source that the options ask for, from the one that there is. Throws UsageError. */
export function sourceOf(values: Values, before: Source): Source {
  const { git, directory, api = false, interval } = values;
  if ([git !== undefined, directory !== undefined, api].filter(Boolean).length > 1)
    throw new UsageError('give one of --git, --directory and --api');
  const base: Source =
    git !== undefined
      ? { kind: 'git', url: git }
      : directory !== undefined
        ? { kind: 'directory', path: directory }
        : api
          ? { kind: 'dashboard' }
          : before;
  const members = {
    branch: values.branch,
    path: values.path,
    interval: interval === undefined ? undefined : secondsOf(interval),
    credential_secret: values['credential-secret'],
    push_secret: values['push-secret'],
    forge: values.forge === undefined ? undefined : forgeOf(values.forge),
    forge_secret: values['forge-secret'],
    forge_app: values['forge-app'],
    forge_url: values['forge-url'],
    forge_repository: values['forge-repository'],
  };
  const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  if (base.kind !== 'git' && Object.keys(given).some((name) => name !== 'interval'))
    throw new UsageError('--branch, --path, --credential-secret, --push-secret and --forge… go with --git');
  const source: Source = { ...base, ...given };
  return values.forge === 'none' ? withoutForge(source) : source;
}

type Forge = NonNullable<Source['forge']>;
const FORGE_KINDS: readonly Forge[] = ['github', 'gitlab', 'gitea'];

function forgeOf(text: string): Forge | 'none' {
  const kind = [...FORGE_KINDS, 'none' as const].find((each) => each === text);
  if (kind === undefined) throw new UsageError(`--forge must be ${FORGE_KINDS.join(', ')} or none`);
  return kind;
}

function withoutForge({ kind, ...members }: Source): Source {
  return { kind, ...Object.fromEntries(Object.entries(members).filter(([name]) => !name.startsWith('forge'))) };
}

function secondsOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError('--interval must be a whole number of seconds');
}

/** Where it comes from, in a few words. */
export function sourceText({ kind, url, branch, path }: Source): string {
  if (kind === 'dashboard') return 'managed over the API';
  if (kind === 'directory') return path ?? kind;
  const folder = path === undefined || path === '' ? '' : `:${path}`;
  return `${url ?? kind}${branch === undefined ? '' : `#${branch}`}${folder}`;
}

/** The policy of a file; the server says what is wrong with one. Throws CommandError. */
export async function readPolicy(file: string | undefined, io: CliIo): Promise<FactoryCreate['sync_policy']> {
  if (file === undefined) return undefined;
  const text = toText(await readInput(file, io, 'give --sync-policy FILE'), 'the policy');
  const isYaml = ['.yaml', '.yml'].includes(extname(file).toLowerCase());
  try {
    const value: unknown = isYaml
      ? parse(text, { version: '1.2', maxAliasCount: 0, logLevel: 'error' })
      : JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (cause) {
    throw new CommandError(`the policy is not valid ${isYaml ? 'YAML' : 'JSON'}`, EXIT.problems, [], { cause });
  }
  throw new CommandError('the policy must be an object, such as {"fast_forward_only": true}', EXIT.problems);
}
