/** Rules of a run request that a schema cannot state: bytes, reserved words, uniqueness. contract §3.2 (Create). */
import { isSkillReference } from '#definitions';
import { attachmentProblems, FOLLOWUP_ATTACHMENTS_MAX } from './workspace/attachments.ts';
import type { RequestProblem } from './types.ts';

/** Entries of one run's metadata: labels, not a data store. contract §3. */
export const METADATA_ENTRIES_MAX = 20;

/** UTF-8 bytes of one metadata value. contract §3. */
export const METADATA_VALUE_BYTES_MAX = 256;

/** Metadata that the service itself writes from columns. contract §3. */
export const RESERVED_METADATA_KEYS: readonly string[] = [
  'automation_id',
  'webhook_uid',
  'delivery_id',
  'definition_revision',
];

const METADATA_KEY = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Everything wrong with a request to create a run that its schema cannot state, each by its pointer. The body may be
 * anything:
 * members of a wrong type are the schema's to name, and are passed over. contract §3.2 (Create).
 */
export function runRequestProblems(body: unknown): RequestProblem[] {
  const request = membersOf(body);
  if (request === undefined) return [];
  return [
    ...promptProblems(request),
    ...metadataProblems(request['metadata']),
    ...skillProblems(request['skill'], '/skill'),
    ...ownSkillProblems(request),
    ...agentConfigProblems(request['config']),
    ...attachmentProblems(request),
  ];
}

/** The same for a dispatch, whose ticket becomes metadata of the run. contract §4. */
export function dispatchProblems(body: unknown): RequestProblem[] {
  const request = membersOf(body);
  if (request === undefined) return [];
  const { prompt, metadata, config, attachments } = request;
  return [
    ...blankPromptProblems(prompt),
    ...metadataProblems(metadata),
    ...ticketProblems(request),
    ...agentConfigProblems(config),
    ...attachmentProblems({ attachments }),
  ];
}

/** The same for a follow-up. contract §3.8 (Follow-up). */
export function followupProblems(body: unknown): RequestProblem[] {
  const request = membersOf(body);
  if (request === undefined) return [];
  const { message, attachments } = request;
  const isEmpty = (message === undefined || message === '') && isEmptyList(attachments);
  return [
    ...(isEmpty ? [{ pointer: '/message', message: 'is required unless there are attachments' }] : []),
    ...followupFileProblems(attachments),
    ...attachmentProblems({ attachments }, FOLLOWUP_ATTACHMENTS_MAX),
  ];
}

/** A file of a follow-up is sent along, or is one that is here, by its ID. */
function followupFileProblems(attachments: unknown): RequestProblem[] {
  const files: readonly unknown[] = Array.isArray(attachments) ? attachments : [];
  return files.flatMap((file, index) => {
    const { attachment_id: id, ...sent } = membersOf(file) ?? {};
    if (membersOf(file) === undefined) return [];
    const pointer = `/attachments/${index}`;
    if (id !== undefined)
      return sent['data'] === undefined ? [] : [{ pointer, message: 'must have only one of attachment_id and data' }];
    return ['file_name', 'mime_type', 'data'].flatMap((name) =>
      sent[name] === undefined
        ? [{ pointer: `${pointer}/${name}`, message: 'is required unless attachment_id is given' }]
        : [],
    );
  });
}

function promptProblems({ prompt, skill, config, conversation_id: conversationId }: Members): RequestProblem[] {
  const { skill_spec: one, skills } = membersOf(config) ?? {};
  const isSaid = [prompt, skill, one, conversationId].some((member) => member !== undefined) || !isEmptyList(skills);
  const blank = blankPromptProblems(prompt);
  if (isSaid || blank.length > 0) return blank;
  const message = 'is required unless skill, config.skill_spec, config.skills or conversation_id is given';
  return [{ pointer: '/prompt', message }];
}

/** Blanks alone say nothing. What is empty is the schema's to name. */
export function blankPromptProblems(prompt: unknown): RequestProblem[] {
  const isBlank = typeof prompt === 'string' && prompt !== '' && prompt.trim() === '';
  return isBlank ? [{ pointer: '/prompt', message: 'is empty; write what the agent shall do' }] : [];
}

function isEmptyList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Everything wrong with a request's metadata. contract §3.2 (Create). */
export function metadataProblems(metadata: unknown, at = '/metadata'): RequestProblem[] {
  const entries = Object.entries(membersOf(metadata) ?? {});
  const problems = entries.flatMap(([key, value]) => entryProblems(key, value, `${at}/${escaped(key)}`));
  if (entries.length <= METADATA_ENTRIES_MAX) return problems;
  return [
    { pointer: at, message: `has ${entries.length} entries, at most ${METADATA_ENTRIES_MAX} are allowed` },
    ...problems,
  ];
}

function entryProblems(key: string, value: unknown, pointer: string): RequestProblem[] {
  const messages: string[] = [];
  if (!METADATA_KEY.test(key))
    messages.push('is not a valid name: names are 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-"');
  if (RESERVED_METADATA_KEYS.includes(key)) messages.push('is reserved: the service sets it itself');
  if (typeof value !== 'string') messages.push('must be a string');
  else if (value.includes('\0')) messages.push('must not contain NUL');
  else if (Buffer.byteLength(value) > METADATA_VALUE_BYTES_MAX)
    messages.push(`must be at most ${METADATA_VALUE_BYTES_MAX} bytes of UTF-8`);
  return messages.map((message) => ({ pointer, message }));
}

/** Everything wrong with a dispatch's ticket, which becomes metadata of the run. contract §4. */
export function ticketProblems({
  ticket_ref: ref,
  ticket_url: url,
}: Readonly<Record<string, unknown>>): RequestProblem[] {
  return Object.entries({ ticket_ref: ref, ticket_url: url }).flatMap(([member, value]) =>
    typeof value === 'string' ? entryProblems(member, value, `/${member}`) : [],
  );
}

/** Everything wrong with the form of a run's skill. contract §3.4 (checked at create). */
export function skillProblems(skill: unknown, at: string): RequestProblem[] {
  if (typeof skill !== 'string' || isSkillReference(skill)) return [];
  return [
    {
      pointer: at,
      message: 'must be owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory',
    },
  ];
}

/** A skill by its bare name is one of the factory's, so that there has to be one. */
function ownSkillProblems({
  skill,
  config,
  factory_uid: factoryUid,
}: Readonly<Record<string, unknown>>): RequestProblem[] {
  const named = { '/skill': skill, ...skillsNamed(config, '/config') };
  return Object.entries(named).flatMap(([pointer, reference]) =>
    factoryUid === undefined && typeof reference === 'string' && isSkillReference(reference) && !reference.includes(':')
      ? [
          {
            pointer,
            message:
              'must be owner/repo:skill-name or owner/repo:path/to/SKILL.md: a bare name is a skill of a ' +
              'factory, and none is named',
          },
        ]
      : [],
  );
}

/** Everything wrong with a request's configuration that its schema cannot state. contract §3.4 (AmbientAgentConfig). */
export function agentConfigProblems(config: unknown, at = '/config'): RequestProblem[] {
  const { skill_spec: skill, skills, mcp_servers: servers } = membersOf(config) ?? {};
  const both = skill !== undefined && !isEmptyList(skills);
  return [
    ...(both ? [{ pointer: `${at}/skills`, message: 'must not stand beside skill_spec: list every skill here' }] : []),
    ...Object.entries(skillsNamed(config, at)).flatMap(([pointer, named]) => skillProblems(named, pointer)),
    ...Object.entries(membersOf(servers) ?? {}).flatMap(([name, server]) =>
      serverProblems(server, `${at}/mcp_servers/${escaped(name)}`),
    ),
  ];
}

/** Skills of a configuration by their pointers. */
function skillsNamed(config: unknown, at: string): Record<string, unknown> {
  const { skill_spec: skill, skills } = membersOf(config) ?? {};
  const listed: readonly unknown[] = Array.isArray(skills) ? skills : [];
  return {
    [`${at}/skill_spec`]: skill,
    ...Object.fromEntries(listed.map((reference, index) => [`${at}/skills/${index}`, reference])),
  };
}

/** Of the hosted service's servers, `warp_id`, there are none here: they are ignored. */
function serverProblems(server: unknown, pointer: string): RequestProblem[] {
  const members = membersOf(server);
  if (members === undefined) return [];
  const given = ['command', 'url', 'warp_id'].filter((name) => members[name] !== undefined);
  if (given.length === 1) return [];
  const message = given.length === 0 ? 'must have command or url' : `must have only one of ${given.join(' and ')}`;
  return [{ pointer, message }];
}

type Members = Readonly<Record<string, unknown>>;

/** Members of a JSON object; undefined for any other value. */
function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
