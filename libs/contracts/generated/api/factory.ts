/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * A managed group of agent capacity: webhooks, automations, environments and skills under one name.
 */
export interface Factory {
  /**
   * Stable identifier: `fac_` and 26 characters.
   */
  uid: string;
  /**
   * Permanent name.
   */
  slug: string;
  /**
   * Label for people.
   */
  name: string;
  /**
   * What the factory's own file says of it; may be empty.
   */
  description: string;
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed, by somebody or by a pass that applied something.
   */
  updated_at: string;
  source: FactorySource;
  /**
   * Whether reconciling is stopped; webhooks and automations serve on.
   */
  suspended: boolean;
  /**
   * Whether files decide its webhooks and automations, so that they are read-only here; false for a source of kind `dashboard`.
   */
  definitions_managed: boolean;
  /**
   * UID of the principal that creates the runs of its webhooks and schedules: what the list of runs filters as `creator`.
   */
  service_account: string;
  agent_defaults: FactoryAgentDefaults;
  sync_policy: SyncPolicy;
  /**
   * The same as slug.
   */
  alias: string;
  /**
   * Always NONE: no code forge is connected; its webhooks are files.
   */
  code_forge: 'NONE';
  /**
   * Always empty.
   */
  code_forges: 'NONE'[];
  /**
   * Always CREATOR: runs have the secrets that files name, whoever asks.
   */
  credential_strategy: 'CREATOR';
  /**
   * Repository that its definitions come from, where its address names one.
   */
  repositories: {
    /**
     * Owner of the repository.
     */
    owner: string;
    /**
     * Name of the repository.
     */
    repo: string;
    [k: string]: unknown;
  }[];
  /**
   * Always empty: no run is scored.
   */
  scorer_defaults: {
    [k: string]: unknown;
  };
  /**
   * Always empty: no run is scored.
   */
  scoring: {
    [k: string]: unknown;
  };
  /**
   * Team that it belongs to: the installation has one.
   */
  team_uid: 'team';
  [k: string]: unknown;
}
/**
 * Where a factory's definitions come from: a git repository, a directory of the server (where the operator allows it), or the dashboard, where they are managed over the API.
 */
export interface FactorySource {
  /**
   * `git`, `directory` or `dashboard`; the members below belong to git unless they say otherwise.
   */
  kind: 'git' | 'directory' | 'dashboard';
  /**
   * https or ssh address of the repository; required for git. Holds no user name and no password.
   */
  url?: string;
  /**
   * Branch; by default the one that the remote's HEAD names.
   */
  branch?: string;
  /**
   * Folder of the repository that is the factory's root (git), or the absolute path of the directory (directory; required there).
   */
  path?: string;
  /**
   * Seconds between looks; by default what the server is configured with.
   */
  interval?: number;
  /**
   * Name of the managed secret, granted for the use `git`, that the repository is read with.
   */
  credential_secret?: string;
  /**
   * Name of the managed secret, granted for the use `forge`, that push notices of the git host are proven with.
   */
  push_secret?: string;
  /**
   * What the repository is hosted by: its open pull requests are judged and answered with a status and a comment. Needs `forge_secret`. `gitea` is Forgejo, too.
   */
  forge?: 'github' | 'gitlab' | 'gitea';
  /**
   * Name of the managed secret, granted for the use `forge`, that holds the token for the interface of the forge.
   */
  forge_secret?: string;
  /**
   * ID or client ID of a GitHub App that is installed for the repository. `forge_secret` is its private key (PEM) then, and tokens of an hour are asked for with it.
   */
  forge_app?: string;
  /**
   * https address of the interface of the forge; by default derived from `url`.
   */
  forge_url?: string;
  /**
   * The repository as the forge names it, `owner/name`; by default derived from `url`.
   */
  forge_repository?: string;
}
/**
 * What runs of the factory take from it where they say nothing themselves.
 */
export interface FactoryAgentDefaults {
  /**
   * Language model.
   */
  model_id?: string;
  /**
   * Shapes the agent's behaviour.
   */
  base_prompt?: string;
  /**
   * Environment: its UID, or the name of one of the factory's.
   */
  environment_id?: string;
  /**
   * Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory.
   */
  skill_spec?: string;
  /**
   * MCP servers by name; a level's servers replace those of the levels below it.
   */
  mcp_servers: {
    [k: string]: MCPServerConfig;
  };
  harness?: AgentHarness;
  /**
   * Minutes that an interactive run waits for the answer to what its agent asks permission for, before that is refused; 0: it does not wait; 10 unless said.
   */
  idle_timeout_minutes?: number;
  /**
   * Managed secrets of its runs.
   */
  secrets: {
    /**
     * Name of a managed secret that is granted for runs.
     */
    name: string;
    /**
     * Host whose https requests carry it; the run has a placeholder, and the value is added outside of its sandbox.
     */
    host?: string;
    /**
     * Header that carries it, with a scheme behind a colon where it is not Bearer.
     */
    header?: string;
    /**
     * Methods of the requests; GET and HEAD unless said.
     *
     * @maxItems 10
     */
    methods?: ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[];
    /**
     * Paths of the requests; every one unless said. * stands for anything but a slash, ** for anything.
     *
     * @maxItems 20
     */
    paths?: string[];
    /**
     * env: it is inside the sandbox, as a variable.
     */
    expose?: 'env';
    [k: string]: unknown;
  }[];
  /**
   * Always empty: a run asks for its machine itself.
   */
  worker_host: '';
  /**
   * Always empty: there are no runners here.
   */
  default_runner_uid: '';
  [k: string]: unknown;
}
/**
 * One MCP server: a command that is started beside the agent, or a URL; exactly one of the two.
 */
export interface MCPServerConfig {
  /**
   * A server that the hosted service keeps, in place of command and url; there are none here: it is ignored.
   */
  warp_id?: string;
  /**
   * Program to start beside the agent.
   */
  command?: string;
  /**
   * Its arguments.
   *
   * @maxItems 1000
   */
  args?: string[];
  /**
   * Its environment variables.
   */
  env?: {
    [k: string]: string;
  };
  /**
   * Address of a server that is reached over HTTP.
   */
  url?: string;
  /**
   * Headers of each request.
   */
  headers?: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
/**
 * Program that drives the agent.
 */
export interface AgentHarness {
  /**
   * Kind of harness; `command` is the operator's command.
   */
  type?: string;
  /**
   * Model of the harness.
   */
  model_id?: string;
  /**
   * Reasoning level.
   */
  reasoning_level?: string;
  [k: string]: unknown;
}
/**
 * What is asked of commits before they may apply; empty where nothing is.
 */
export interface SyncPolicy {
  /**
   * Only a tip that one of these keys signed may apply; what was verified last serves on. Git sources only.
   */
  verify_commits?: {
    /**
     * OpenSSH public keys (`ssh-ed25519 AAAA… comment`, one a string) and armoured OpenPGP public key blocks.
     *
     * @minItems 1
     * @maxItems 50
     */
    keys: string[];
  };
  /**
   * Whether a tip that does not descend from the one before waits for an approval. Without it such a tip applies, and the condition HistoryRewritten says so. Git sources only.
   */
  fast_forward_only?: boolean;
  /**
   * Who has to approve a revision with which runs could do more than before: read what wider circles write, have a new secret, host, repository, tool or effect, or more budget. Without it such a revision applies, and plans show what grows.
   */
  growth_approval?: 'manager' | 'admin';
  /**
   * When definitions may apply, in UTC; secrets are always taken over. Inside of a `deny` window nothing applies; with `allow` windows, nothing applies outside of all of them.
   *
   * @maxItems 20
   */
  windows?: {
    /**
     * `allow` or `deny`.
     */
    kind: 'allow' | 'deny';
    /**
     * When it opens: five cron fields, in UTC.
     */
    schedule: string;
    /**
     * How long it stays open.
     */
    duration_minutes: number;
  }[];
}
