/**
 * What requests about runs may name: a run that the key may see, members that we have; who asks for one, and what it is
 * made of. contract §2, §3.
 */
import type { FastifyRequest } from 'fastify';
import type { RequestBody } from '#contracts';
import {
  BUILT_IN_HARNESS,
  COMMAND_HARNESS,
  identityConfig,
  resolveAgentConfig,
  type AmbientAgentConfig,
  type ServerAgent,
} from '#agents';
import { configColumns, defaultTitle, RUN_ATTACHMENT_BYTES_MAX, type AttachmentRequest, type RunSource } from '#runs';
import { harnessOf } from '../execution/preparation/execution-spec.ts';
import { maySee } from '../http/access-guard.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import type { Access } from '../store/access/access.ts';
import type { NewRun } from '../store/runs/new-run.ts';
import type { ArtifactStore, NewAttachment } from '../store/runs/run-files.ts';
import type { AgentIdentity, AgentIdentityStore } from '../store/runs/agent-identities.ts';
import type { RunStore, RunStatus } from '../store/runs/runs.ts';
import type { RunRow } from '../store/runs/run.entities.ts';
import { recordOf } from '../http/requests.ts';
import { followupRefusal } from './runs.refusals.ts';

/** The run, or 404. */
export async function visibleRun(runs: RunStore, runId: string, access: Access): Promise<RunRow> {
  return seen(await runs.find(runId), access);
}

/** Where the run stands, without its texts, or 404. */
export async function visibleRunStatus(
  runs: RunStore,
  runId: string,
  access: Access,
  what = 'the run',
): Promise<RunStatus> {
  return seen(await runs.status(runId), access, what);
}

function seen<R extends { factory_uid: string | null }>(run: R | undefined, access: Access, what = 'the run'): R {
  if (run === undefined || !maySee(access, run.factory_uid ?? undefined)) throw notFound(what);
  return run;
}

/**
 * Files of a follow-up, those that it names by ID among them. Throws 422 naming every ID that is no file of a run that
 * the key may see. contract §3.8 (Follow-up).
 */
export async function followupFiles(
  artifacts: ArtifactStore,
  files: NonNullable<RequestBody<'run-followup-request'>['attachments']>,
  access: Access,
): Promise<NewAttachment[]> {
  const found: NewAttachment[] = [];
  let bytes = 0;
  const errors: { pointer: string; message: string }[] = [];
  for (const [index, { attachment_id: id, file_name: fileName, mime_type: mimeType, data }] of files.entries()) {
    if (id === undefined) {
      found.push({ fileName: fileName ?? '', mimeType: mimeType ?? '', content: Buffer.from(data ?? '', 'base64') });
      continue;
    }
    const artifact = await artifacts.find(id);
    const isSeen = artifact !== undefined && maySee(access, artifact.factoryUid);
    bytes += artifact?.details.sizeBytes ?? 0;
    // Before any of it is read: no run may have more, whatever it has already.
    if (bytes > RUN_ATTACHMENT_BYTES_MAX) throw followupRefusal('attachments-too-many');
    const content = isSeen ? await artifacts.content(id) : undefined;
    if (content === undefined) errors.push({ pointer: `/attachments/${index}/attachment_id`, message: NO_SUCH_FILE });
    else found.push({ ...artifactName(artifact?.details ?? {}), ...(fileName && { fileName }), content });
  }
  if (errors.length === 0) return found;
  throw new RefusalError('operation_not_supported', `attachment_id ${NO_SUCH_FILE}`, { errors });
}

const NO_SUCH_FILE =
  'is no artifact with a content that the key may see: send the file itself, with file_name, mime_type and data';

function artifactName({ fileName, mimeType }: { fileName?: string; mimeType?: string }) {
  return { fileName: fileName ?? 'file', mimeType: mimeType ?? 'application/octet-stream' };
}

/** A run that somebody asks for. */
export interface WantedRun {
  request: RequestBody<'run-agent-request'>;
  /** Metadata that say which ticket it is for. */
  ticket: Record<string, string>;
  /** Members of the request that nothing here knows. */
  unknown: readonly string[];
}

/** The prompt of a run that continues a conversation without one. */
const GO_ON = 'Go on with this conversation.';

/** What a resolved configuration is worked on by. */
export function harnessFacts(agentConfig: string): { isBuiltIn: boolean; isCommand: boolean } {
  const harness = harnessOf(agentConfig);
  return { isBuiltIn: harness === BUILT_IN_HARNESS, isCommand: harness === COMMAND_HARNESS };
}

/** The skill of a request is the first one, in front of those of its configuration. */
function skillsOf({ skill, config }: RequestBody<'run-agent-request'>): string[] {
  const listed = config?.skills ?? [];
  if (skill !== undefined) return [skill, ...listed.filter((other) => other !== skill)];
  return config?.skill_spec === undefined ? [...new Set(listed)] : [config.skill_spec];
}

function useOf(skills: readonly string[]): string {
  return `Use the skill${skills.length > 1 ? 's' : ''} ${skills.join(', ')}.`;
}

/** What a run is besides what its request says. */
export interface RunLevels {
  identity: AgentIdentity | undefined;
  defaults: AmbientAgentConfig | undefined;
  /** Metadata that say which ticket it is for. */
  ticket: Record<string, string>;
  server: ServerAgent;
}

/** The row of a run, of what its request says and what its identity, its factory and the server give. */
export function toNewRun(
  request: RequestBody<'run-agent-request'>,
  { identity, defaults, ticket, server }: RunLevels,
): Omit<NewRun, 'runId' | 'source' | 'creatorUid' | 'createdAtMs'> {
  const skills = skillsOf(request);
  const prompt = request.prompt ?? (skills.length > 0 ? useOf(skills) : GO_ON);
  const said = { ...request.config, skill_spec: skills[0], skills };
  const levels = [said, identity && identityConfig(identity.settings), defaults];
  const config = resolveAgentConfig(levels, identity?.name, server);
  const ofIdentity = identity === undefined ? {} : { agent_identity_uid: identity.uid };
  return {
    prompt,
    title: request.title ?? defaultTitle(prompt),
    ...configColumns(config),
    metadata: JSON.stringify({ ...request.metadata, ...ticket, ...ofIdentity }),
    factoryUid: request.factory_uid,
    conversationId: request.conversation_id,
    parentRunId: request.parent_run_id,
    triggerUrl: ticket['ticket_url'],
    mode: request.mode,
    interactive: request.interactive,
  };
}

/** Files of a request as they are stored. */
export function toNewAttachments(files: readonly AttachmentRequest[]): NewAttachment[] {
  return files.map(({ file_name: fileName, mime_type: mimeType, data }) => ({
    fileName,
    mimeType,
    content: Buffer.from(data, 'base64'),
  }));
}

/** Members of a request to create a run: whose work it would be. contract §3.2 (Create). */
const MEMBERS: readonly string[] = ['on_behalf_of'];
/** Those of a dispatch, whose factory says what its agent is. */
export const DISPATCH_MEMBERS: readonly string[] = [...MEMBERS, 'agent_identity_uid'];

/** Throws 422 naming every member of a create or dispatch that would be lost; null says nothing. */
export function refuseUnsupportedMembers(body: object, members = MEMBERS): void {
  const names = Object.entries(body).flatMap(([name, value]) =>
    members.includes(name) && value !== undefined && value !== null ? [name] : [],
  );
  if (names.length === 0) return;
  const errors = names.map((name) => ({ pointer: `/${name}`, message: `${name} is not supported here` }));
  throw new RefusalError('operation_not_supported', `this service does not have ${names.join(', ')}`, { errors });
}

/** The identity that a request names; 400 for one that the key may not see, or of another factory. contract §3.14. */
export async function identityOf(
  identities: Pick<AgentIdentityStore, 'find'>,
  { agent_identity_uid: uid, factory_uid: factoryUid }: { agent_identity_uid?: string | null; factory_uid?: string },
  access: Access,
  pointer = '/agent_identity_uid',
): Promise<AgentIdentity | undefined> {
  if (uid === undefined || uid === null) return undefined;
  const found = await identities.find(uid);
  if (found === undefined || !maySee(access, found.factoryUid))
    throw badIdentity(pointer, 'must be an agent identity that the key may see');
  if (factoryUid !== undefined && found.factoryUid !== undefined && found.factoryUid !== factoryUid)
    throw badIdentity(pointer, 'must be of the factory that the run is of');
  return found;
}

function badIdentity(pointer: string, message: string): RefusalError {
  return new RefusalError('invalid_request', 'there is no such agent identity for this run', {
    errors: [{ pointer, message }],
  });
}

/** Throws 422 for a list in an order that we do not have: by agent. contract §3.7 (List). */
export function refuseUnsupportedOrder(query: { sort_by?: unknown }): void {
  if (query.sort_by !== 'agent') return;
  const message = 'sort_by agent is not supported here: runs are not sorted by their agent';
  throw new RefusalError('operation_not_supported', message, { errors: [{ pointer: 'sort_by', message }] });
}

/** 422 for a list that found nothing in as long as one request may search. contract §3.7 (List). */
export function searchTooLong(): RefusalError {
  return new RefusalError(
    'operation_not_supported',
    'no run was found yet, and there are too many to look at in one request: narrow the list, as by created_after',
  );
}

/** Who is signed in uses the web page; our command line says so itself; anything else is the API. */
export function runSourceOf(request: FastifyRequest): RunSource {
  if (recordOf(request.raw).session !== undefined) return 'WEB_APP';
  return String(request.headers['x-millwright-client'] ?? '').startsWith('cli/') ? 'CLI' : 'API';
}
