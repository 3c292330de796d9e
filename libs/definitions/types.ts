/**
 * What definition files mean once read: plain values without positions, and the problems that carry the positions.
 * spec: Webhook definition file; contract §8.
 */
import type { AgentsHere } from './references/agent-availability.ts';
import type { TrustAcceptance } from './trust/trust-acceptance.ts';
import type { RunGrant } from './run-grants.ts';
import type { JsonValue } from '#filters';
import type { RunSecret } from './run-secrets.ts';
import type { DocumentFaults } from './yaml/faults.ts';

/** One entry of a factory repository's tree. `content` is the exact bytes; empty for what is not a regular file. */
export interface TreeFile {
  path: string;
  content: Uint8Array;
  /** Regular file unless said otherwise. */
  kind?: 'file' | 'symlink' | 'submodule';
  /** Size when the content was not read because it is over the limit. */
  sizeBytes?: number;
  /** The source says that it is a program. */
  executable?: boolean;
}

/**
 * A defect in a user's file, always with the place to look at. Lines and columns count from 1, columns in UTF-16 units.
 */
export interface Problem {
  path: string;
  line: number;
  column: number;
  endLine?: number;
  endColumn?: number;
  severity: 'error' | 'warning';
  /** A `RuleId`; one that this version does not know where a newer service reports it. */
  rule: string;
  /** Published code of the hosted service's validator (`FF_…`), for the API. */
  code: string;
  message: string;
  /** Only where problems are shown to people who may not have the file at hand. */
  excerpt?: Excerpt;
}

/** Lines of a file around a problem, made fit to be shown. */
export interface Excerpt {
  /** Number of the first of them, from 1. */
  firstLine: number;
  lines: string[];
}

export type AuthMode = 'token' | 'url_token' | 'signature';
export type ApplyMode = 'atomic' | 'perFile';

export interface FactoryDefinition {
  name?: string;
  description?: string;
  agentDefaults?: AgentDefaults;
  applyMode: ApplyMode;
  trust?: TrustAcceptance[];
}

/** Run defaults, as files write them (camelCase); `undefined` means "not said here". */
export interface AgentDefaults {
  model?: string;
  harness?: { type?: string; modelId?: string; reasoningLevel?: string };
  environmentId?: string;
  skill?: string;
  basePrompt?: string;
  mcpServers?: Record<string, JsonValue>;
  secrets?: RunSecret[];
  idleTimeoutMinutes?: number;
}

export interface WebhookDefinition {
  /** Slug: the file name without its extension. */
  name: string;
  path: string;
  authMode: AuthMode;
  signatureScheme?: string;
  secretName: string;
  /** Lower-case header name. */
  deliveryIdHeader?: string;
  /** `body`: the signed body is an identity too. */
  replayProtection?: 'body';
  /** How long the value of before is accepted too when its secret has another one. */
  secretOverlapMinutes?: number;
  enabled: boolean;
  description?: string;
  trust?: TrustAcceptance[];
}

/** A webhook trigger as written: UIDs and names not yet resolved. */
export interface WrittenWebhookTrigger {
  provider: 'webhook';
  webhookIds: string[];
  webhookNames: string[];
  /** Payload filter as written (already checked by `#filters`); undefined = every delivery. */
  payload?: JsonValue;
}

export interface ScheduleTrigger {
  provider: 'schedule';
  name?: string;
  cron: string;
}

/** A trigger of a provider that is not served here: kept, shown, never fires. */
export interface InactiveTrigger {
  provider: 'inactive';
  declaredProvider: string;
}

export type WrittenTrigger = WrittenWebhookTrigger | ScheduleTrigger | InactiveTrigger;

interface AutomationBody {
  name: string;
  path: string;
  description?: string;
  enabled: boolean;
  /** Body after the front matter, leading and trailing blank lines removed. Never empty. */
  prompt: string;
  agent: AgentDefaults;
  concurrency?: { group?: string; whenBusy?: 'queue' | 'skip' | 'replace' };
  limits?: { tokens?: number; cost?: number; minutes?: number };
  network?: JsonValue;
  trust?: TrustAcceptance[];
}

export interface WrittenAutomation extends AutomationBody {
  triggers: WrittenTrigger[];
}

export interface WebhookTrigger {
  provider: 'webhook';
  /** Resolved, unique, sorted. May hold remembered UIDs of deleted webhooks: these never fire. */
  webhookUids: string[];
  payload?: JsonValue;
}

export type Trigger = WebhookTrigger | ScheduleTrigger | InactiveTrigger;

/** An automation whose names are resolved: nothing behind `#definitions` sees a webhook's name and UID both. */
export interface AutomationDefinition extends AutomationBody {
  triggers: Trigger[];
}

export interface EnvironmentDefinition {
  name: string;
  path: string;
  dockerImage?: string;
  repositories?: JsonValue;
  setupCommands?: string[];
  secrets?: RunSecret[];
  description?: string;
  trust?: TrustAcceptance[];
}

export interface SkillDefinition {
  name: string;
  path: string;
  /** Text of SKILL.md. */
  text: string;
  /** Paths of the skill's other files. */
  files: string[];
  /** Stands for what is in them: a change of one is a change of the skill. Absent without any. */
  filesDigest?: string;
}

/** A further file of a skill, by its path below the skill's folder. */
export interface SkillFile {
  path: string;
  content: Uint8Array;
  executable: boolean;
}

/** Everything one tree says, names not yet resolved. In files with errors '' stands for texts that are wrong. */
export interface WrittenDefinitions {
  factory: FactoryDefinition;
  webhooks: WebhookDefinition[];
  automations: WrittenAutomation[];
  environments: EnvironmentDefinition[];
  skills: SkillDefinition[];
}

/** Everything one tree says, references resolved. */
export interface Definitions {
  factory: FactoryDefinition;
  webhooks: WebhookDefinition[];
  automations: AutomationDefinition[];
  environments: EnvironmentDefinition[];
  skills: SkillDefinition[];
}

export interface Reading {
  definitions: WrittenDefinitions;
  /** What files with errors say where they can be understood: their references are checked too, they never apply. */
  unsound: WrittenDefinitions;
  problems: Problem[];
  /** Definition files that could not be read into a definition (error problems): never to be treated as deleted. */
  brokenPaths: string[];
  /** Internal: where parts of files are, and which are left out as wrong; for `checkReferences`, unchanged. */
  positions: PositionIndex;
  faults: ReadonlyMap<string, DocumentFaults>;
  /** Path → exact text of the files of webhooks and automations that could be read as text. */
  texts: ReadonlyMap<string, string>;
  /** Path of a SKILL.md → the files beside it, of skills that have any. */
  skillFiles: ReadonlyMap<string, readonly SkillFile[]>;
  /**
   * Internal, for the reading of a later tree: what a file with the same path and text is read into is the same again.
   */
  readFiles: ReadonlyMap<string, ReadFile>;
}

/** One file as it was read. */
export interface ReadFile {
  text: string;
  reading: unknown;
}

/** Where the values of each file stand, by path. Looked up on demand: most are never asked for. */
export type PositionIndex = ReadonlyMap<string, FilePositions>;

/** Positions inside one file, by JSON pointer. Total: what is not there stands where its parent's key does. */
export interface FilePositions {
  value(pointer: string): Range;
  key(pointer: string): Range;
  /** Source text of an unquoted scalar; undefined for anything else. */
  plainText(pointer: string): string | undefined;
  /** Pointer to the same value in the file as it is written, which may have it elsewhere. */
  written(pointer: string): string;
}

export interface Range {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

/** What is known of a managed secret without its value. */
export interface SecretFacts {
  name: string;
  /** A value has been set. */
  set: boolean;
  /**
   * For each mode and scheme, whether the value may be used there; keys are `token`, `url_token`, `signature`,
   * `standard_webhooks`. Absent when unset, and when only names are known.
   */
  usableFor?: Readonly<Record<'token' | 'url_token' | 'signature' | 'standard_webhooks', boolean>>;
}

/**
 * Facts of the running service that references are checked against. A fact that is `undefined` was not available: the
 * checks that need it are reported as not run.
 */
export interface KnownFacts {
  /** Secrets this factory may use for webhooks, by name. */
  webhookSecrets?: ReadonlyMap<string, SecretFacts>;
  /** Names of secrets this factory may inject into runs. */
  runSecrets?: ReadonlySet<string>;
  /** Which runs may have them; of those that are not here, runs of every file that names one. */
  runGrants?: ReadonlyMap<string, RunGrant>;
  /** Live webhooks of this factory before this tree: uid → slug. */
  liveWebhooks?: ReadonlyMap<string, string>;
  /** UIDs of webhooks of this factory that were deleted and are remembered. */
  deletedWebhookUids?: ReadonlySet<string>;
  /** Environment UIDs that exist on the server beside the declared names. */
  environmentUids?: ReadonlySet<string>;
  /** Models that the operator lists; none where there is no list. */
  models?: ReadonlySet<string>;
  /** Harnesses that runs can have on the server. */
  harnesses?: ReadonlySet<string>;
  /** Which of them, and of the models, are to be had. Only warnings depend on it, as on what follows. */
  agentsHere?: AgentsHere;
  /**
   * The host of a repository, as an environment names it, that runs do not reach, because the operator's list does not
   * have it; undefined: they do, or it names none.
   */
  unreachedHostOf?: (repository: JsonValue) => string | undefined;
  /**
   * Why a secret is not sent to an address, because its grant has other hosts; undefined: it may be, or nothing is
   * known of it.
   */
  releaseProblemOf?: (secret: string, url: string) => string | undefined;
  /** The UID that a webhook of this slug has or will have in this factory. */
  webhookUidOf?: (slug: string) => string;
  /** The day it is, as 2027-01-31: what was accepted until before it is told again. Absent: nothing ends. */
  today?: string;
}

/** `secrets`: names; `secret-values`: set and usable for the mode. */
export type UnrunCheck = 'secrets' | 'secret-values' | 'quota' | 'uids' | 'environments';

export interface CheckedDefinitions {
  /** Definitions with resolved references; files that hold an error of their own or a broken reference are left out. */
  definitions: Definitions;
  problems: Problem[];
  /** Files left out because of an error in themselves or in what they refer to. */
  heldPaths: string[];
  notRun: UnrunCheck[];
}
