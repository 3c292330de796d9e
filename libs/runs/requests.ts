/** Rules of a run request that a schema cannot state: bytes, reserved words, uniqueness. contract 3 (Create). */
import { isSkillReference } from '#definitions';
import type { AmbientAgentConfig } from './agent-config.ts';
import { PAYLOAD_FILE_NAME } from './envelope.ts';

/** One thing wrong with a request body. `pointer` is a JSON pointer into the body. */
export interface RequestProblem {
  pointer: string;
  message: string;
}

/** Entries of one run's metadata: labels, not a data store. contract 3. */
export const METADATA_ENTRIES_MAX = 20;

/** UTF-8 bytes of one metadata value. contract 3. */
export const METADATA_VALUE_BYTES_MAX = 256;

/** Metadata that the service itself writes from columns. contract 3. */
export const RESERVED_METADATA_KEYS: readonly string[] = ['automation_id', 'webhook_uid', 'delivery_id', 'definition_revision'];

/** Files of one request; larger inputs belong into a repository. contract 3. */
export const ATTACHMENTS_MAX = 5;

/** The prompt as a file beside the payload, for commands that prefer files to stdin. */
export const PROMPT_FILE_NAME = 'prompt.md';

/** File names in a workspace that the service writes itself. contract 3. */
export const RESERVED_FILE_NAMES: readonly string[] = [PAYLOAD_FILE_NAME, PROMPT_FILE_NAME];

const METADATA_KEY = /^[A-Za-z0-9._-]{1,64}$/;
const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Everything wrong with a request's metadata. contract 3 (Create). */
export function metadataProblems(metadata: Readonly<Record<string, unknown>>, at = '/metadata'): RequestProblem[] {
  const entries = Object.entries(metadata);
  const problems = entries.flatMap(([key, value]) => entryProblems(key, value, `${at}/${escaped(key)}`));
  if (entries.length <= METADATA_ENTRIES_MAX) return problems;
  return [{ pointer: at, message: `has ${entries.length} entries, at most ${METADATA_ENTRIES_MAX} are allowed` }, ...problems];
}

function entryProblems(key: string, value: unknown, pointer: string): RequestProblem[] {
  const messages: string[] = [];
  if (!METADATA_KEY.test(key)) messages.push('key must be 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-"');
  if (RESERVED_METADATA_KEYS.includes(key)) messages.push('key is reserved: the service sets it itself');
  if (typeof value !== 'string') messages.push('must be a string');
  else if (value.includes('\0')) messages.push('must not contain NUL');
  else if (Buffer.byteLength(value) > METADATA_VALUE_BYTES_MAX) messages.push(`must be at most ${METADATA_VALUE_BYTES_MAX} bytes of UTF-8`);
  return messages.map((message) => ({ pointer, message }));
}

/** Everything wrong with a dispatch's ticket, which becomes metadata of the run. contract 4. */
export function ticketProblems(ticket: Readonly<{ ticket_ref?: string; ticket_url?: string }>): RequestProblem[] {
  return Object.entries(ticket).flatMap(([member, value]) => (value === undefined ? [] : entryProblems(member, value, `/${member}`)));
}

/** Everything wrong with the form of a run's skill. contract 3 (AmbientAgentConfig: checked at create). */
export function skillProblems(skill: string | undefined, at: string): RequestProblem[] {
  if (skill === undefined || isSkillReference(skill)) return [];
  return [{ pointer: at, message: 'must be owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory' }];
}

/** Everything wrong with a request's configuration that its schema cannot state. contract 3 (AmbientAgentConfig). */
export function agentConfigProblems(config: Readonly<AmbientAgentConfig>, at = '/config'): RequestProblem[] {
  const servers = Object.entries(config.mcp_servers ?? {});
  return [...skillProblems(config.skill_spec, `${at}/skill_spec`), ...servers.flatMap(([name, server]) => serverProblems(server, `${at}/mcp_servers/${escaped(name)}`))];
}

function serverProblems(server: unknown, pointer: string): RequestProblem[] {
  const { command, url } = (server ?? {}) as { command?: unknown; url?: unknown };
  if ((command === undefined) !== (url === undefined)) return [];
  return [{ pointer, message: command === undefined ? 'must have command or url' : 'must have only one of command and url' }];
}

/** Everything wrong with a request's attachments: number, names, encoding. contract 3 (Create). */
export function attachmentProblems(
  attachments: readonly { file_name: string; data?: string }[],
  at = '/attachments',
): RequestProblem[] {
  const problems: RequestProblem[] = [];
  if (attachments.length > ATTACHMENTS_MAX) {
    problems.push({ pointer: at, message: `has ${attachments.length} files, at most ${ATTACHMENTS_MAX} are allowed` });
  }
  const seen = new Set<string>();
  attachments.forEach(({ file_name, data }, index) => {
    const name = fileNameProblem(file_name, seen);
    if (name !== undefined) problems.push({ pointer: `${at}/${index}/file_name`, message: name });
    if (data !== undefined && !BASE64.test(data)) problems.push({ pointer: `${at}/${index}/data`, message: 'must be base64 with padding' });
    // Compared without case: two names must stay two files on every file system.
    seen.add(file_name.toLowerCase());
  });
  return problems;
}

/** Whether a name may become a file in a run's workspace. contract 3 (Create). */
export function isAttachmentName(name: string): boolean {
  return fileNameProblem(name, new Set()) === undefined;
}

function fileNameProblem(name: string, seen: ReadonlySet<string>): string | undefined {
  if (!FILE_NAME.test(name)) return 'must be 1 to 128 characters of A-Z, a-z, 0-9, ".", "_" and "-", not starting with "."';
  if (RESERVED_FILE_NAMES.includes(name.toLowerCase())) return 'is a reserved name: the service writes this file itself';
  if (seen.has(name.toLowerCase())) return 'is used by another attachment of this request';
  return undefined;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
