/**
 * Members of a request that this service knows and cannot do anything with: they are ignored, and told of in the answer
 * and in the run's log. contract §3.2 (Create).
 */
import { escapeSegment, membersOf } from '#contracts';

/** What a run is worked on by, as far as it decides what means something. */
export interface IgnoredMembersOptions {
  /** Whether it is the agent that comes with the service. */
  isBuiltIn: boolean;
  /** Whether it is the operator's command, which is handed the mode. */
  isCommand: boolean;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * JSON pointers of the members of a request to create a run that mean nothing here. The body has passed its schema.
 * `configName`: the member that holds its configuration.
 */
export function ineffectiveMembers(body: object, options: IgnoredMembersOptions, configName = 'config'): string[] {
  const { [configName]: config, mode, team, interactive } = body as Members;
  const {
    mcp_servers: servers,
    computer_use_enabled: desktop,
    idle_timeout_minutes: idle,
    harness,
  } = membersOf(config);
  return [
    ...(team === false ? ['/team'] : []),
    ...ineffectiveMode(mode, options),
    ...Object.entries(membersOf(servers)).flatMap(([name, server]) =>
      isReference(server) ? [`/${configName}/mcp_servers/${escapeSegment(name)}`] : [],
    ),
    ...(desktop === true ? [`/${configName}/computer_use_enabled`] : []),
    ...(typeof idle === 'number' && interactive !== true ? [`/${configName}/idle_timeout_minutes`] : []),
    ...(hasText(membersOf(harness)['reasoning_level']) && !options.isBuiltIn
      ? [`/${configName}/harness/reasoning_level`]
      : []),
  ];
}

/** The same of a follow-up's mode. */
export function ineffectiveMode(mode: unknown, { isCommand }: Pick<IgnoredMembersOptions, 'isCommand'>): string[] {
  return mode === 'orchestrate' && !isCommand ? ['/mode'] : [];
}

/** The sentence for a run's log; `what`: the request that has them. */
export function ignoredSaid(what: 'request' | 'follow-up' | 'schedule', pointers: readonly string[]): string {
  return `ignored of the ${what}, because it is not served here: ${pointers.join(', ')}`;
}

/** An MCP server that the hosted service keeps, by its ID. */
function isReference(server: unknown): boolean {
  return hasText(membersOf(server)['warp_id']);
}

function hasText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
