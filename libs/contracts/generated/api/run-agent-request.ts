/** Generated from schemas/ by test/support/generate.ts; do not edit. */

/**
 * How the agent is asked to work. plan: in its own mode for planning where it has one, else it is asked for a plan and to change nothing. A command finds it in the variable MILLWRIGHT_RUN_MODE.
 */
export type RunMode = 'normal' | 'plan' | 'orchestrate';

/**
 * Creates a run. Members that are not served are ignored, and named in the answer.
 */
export interface RunAgentRequest {
  /**
   * What the agent has to do; required unless a skill is named, or a conversation to go on with.
   */
  prompt?: string;
  /**
   * Title; by default the first line of the prompt.
   */
  title?: string;
  config?: AmbientAgentConfig;
  /**
   * Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory; wins over config.skill_spec.
   */
  skill?: string;
  /**
   * Conversation that the run continues; by default its own, under its own ID.
   */
  conversation_id?: string;
  /**
   * Run that this one was started by.
   */
  parent_run_id?: string;
  /**
   * Up to 20 entries of the caller's own: keys of 1 to 64 of A–Z a–z 0–9 . _ -, values of at most 256 bytes.
   */
  metadata?: {
    [k: string]: string;
  };
  /**
   * Files for the agent; at most 5 together with images.
   *
   * @maxItems 5
   */
  attachments?: Attachment[];
  /**
   * Images for the agent, the older form of attachments.
   *
   * @maxItems 5
   */
  images?: ImageAttachment[];
  mode?: RunMode;
  /**
   * Whether somebody will watch and answer: what the agent asks permission for is then put to people while the run is BLOCKED, instead of being allowed. Handed to a command in the variable MILLWRIGHT_INTERACTIVE.
   */
  interactive?: boolean;
  /**
   * Factory whose defaults and rights apply; required for a key that is limited to factories.
   */
  factory_uid?: string;
  /**
   * Whether the run is the team's. Every run is the installation's: false is ignored.
   */
  team?: boolean;
  /**
   * Agent identity whose settings hold where the run says nothing, before those of its factory.
   */
  agent_identity_uid?: string | null;
  /**
   * Not supported here: answered with 422.
   */
  on_behalf_of?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What the run says about its agent; everything else comes from the factory and the server.
 */
export interface AmbientAgentConfig {
  /**
   * Label for grouping and filtering; by default the name of the skill, else of the automation.
   */
  name?: string;
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
   * Several skills in order, each written as in skill_spec, which must not stand beside it; the texts of all are the base prompt, one behind the other.
   *
   * @maxItems 10
   */
  skills?: string[];
  /**
   * MCP servers by name; a level's servers replace those of the levels below it.
   */
  mcp_servers?: {
    [k: string]: MCPServerConfig;
  };
  harness?: AgentHarness;
  /**
   * Minutes that an interactive run waits for the answer to what its agent asks permission for, before that is refused; 0: it does not wait; 10 unless said.
   */
  idle_timeout_minutes?: number;
  /**
   * Whether the agent may use a desktop; there is none here, so that true is ignored.
   */
  computer_use_enabled?: boolean;
  /**
   * Machine that works on the run: what its service is called (MILLWRIGHT_WORKER_HOST). The run waits until that one has a place; without it, or with `warp`, any machine will do.
   */
  worker_host?: string;
  /**
   * Managed secrets of the run: added outside of its sandbox, or inside as environment variables; a level's list replaces those of the levels below it.
   *
   * @maxItems 100
   */
  secrets?: {
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
 * A file of a request; the execution that takes the request finds it in the folder `attachments` of its workspace.
 */
export interface Attachment {
  /**
   * Name in the workspace: 1 to 128 letters, digits, blanks and . _ - ( ) [ ] + , = @ & # % ~, 240 bytes at most, no leading dot or blank, unique in the request, not prompt.md or event-payload.json. A later file of the same name gets a number: notes.txt, notes-2.txt.
   */
  file_name: string;
  /**
   * Media type, such as text/plain.
   */
  mime_type: string;
  /**
   * Content in base64 with padding.
   */
  data: string;
  [k: string]: unknown;
}
/**
 * An image of a request, as older clients send it; it becomes the attachment image-1.png, image-2.jpg and so on.
 */
export interface ImageAttachment {
  /**
   * Media type of the image.
   */
  mime_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
  /**
   * Content in base64 with padding.
   */
  data: string;
  [k: string]: unknown;
}
