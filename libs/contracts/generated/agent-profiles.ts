/** Generated from schemas/ by test/support/generate.ts; do not edit. */

export type Variable = string;

/**
 * The file of MILLWRIGHT_AGENT_PROFILES_FILE: coding agents of the operator's own, and changes of the built-in ones.
 */
export interface AgentProfilesFile {
  /**
   * @maxItems 100
   */
  profiles: Profile[];
}
export interface Profile {
  /**
   * What harness.type names; that of a built-in profile changes it: what is left out stays as it is.
   */
  id: string;
  /**
   * Program (a name in PATH, or an absolute path) and arguments; it speaks the Agent Client Protocol on its stdio.
   *
   * @minItems 1
   * @maxItems 100
   */
  command?: string[];
  env?: Variables;
  envFiles?: Variables1;
  /**
   * Variables of which one must be set; [] for an agent that needs none.
   *
   * @maxItems 20
   */
  credentials?: Variable[];
  /**
   * ID of the method of authentication that is chosen where the agent offers it; without it the agent finds its credentials by itself.
   */
  auth?: string;
  /**
   * Session mode in which it works without asking.
   */
  mode?: string;
  /**
   * How it is told its model: a session option, a flag of its command line, or a variable.
   */
  modelVia?:
    | string
    | {
        [k: string]: unknown;
      };
  /**
   * What it can do with a session of an earlier process.
   */
  resume?: 'resume' | 'load' | 'none';
  /**
   * Whether a prompt in the middle of its work is one more message to it.
   */
  concurrentPrompt?: boolean;
  /**
   * Whether it takes a system prompt of ours, or the base prompt stands before the first prompt.
   */
  systemPromptVia?: 'capability' | 'prefix';
  /**
   * Folders below HOME in which it looks for skills.
   *
   * @maxItems 10
   */
  skillFolders?: string[];
  /**
   * Further files and folders of the machine that it reads.
   *
   * @maxItems 50
   */
  readOnly?: string[];
  /**
   * Hosts of its models, which also runs of the strict tier reach: host, *.domain or address, with :port where it is not 80 or 443.
   *
   * @maxItems 50
   */
  endpoints?: string[];
  /**
   * Variables that hold the URL of its models' endpoint: its host is reached in place of the built-in ones.
   *
   * @maxItems 20
   */
  endpointVariables?: Variable[];
  /**
   * Models that runs may use of it beside the one that they name; * stands for any letters.
   *
   * @maxItems 100
   */
  models?: string[];
  /**
   * Providers of an agent of your own whose keys stay outside of its sandbox; the built-in profiles have theirs.
   *
   * @maxItems 10
   */
  modelEndpoints?: {
    /**
     * Part of its path beside the sandbox.
     */
    id: string;
    /**
     * Interfaces that the agent speaks to it.
     *
     * @minItems 1
     * @maxItems 3
     */
    apis: ('openai' | 'anthropic' | 'gemini')[];
    /**
     * Variables in which the agent looks for its key.
     *
     * @minItems 1
     * @maxItems 10
     */
    keys: Variable[];
    /**
     * Variable in which the agent looks for its address.
     */
    addressVariable: string;
    /**
     * Where it is, unless that variable says otherwise.
     */
    address: string;
  }[];
  /**
   * What calls of its models cost, so that the service counts money itself in place of what the agent tells; the first entry that names the model counts, and the dearest where none does.
   *
   * @minItems 1
   * @maxItems 50
   */
  prices?: {
    /**
     * A model; * stands for any letters.
     */
    models: string;
    /**
     * Money per million tokens that the model reads.
     */
    input: number;
    /**
     * The same for tokens that it has cached; without it those cost as others.
     */
    cachedInput?: number;
    /**
     * The same for tokens that it writes.
     */
    output: number;
    /**
     * USD unless said; of all entries the same.
     */
    currency?: string;
  }[];
  /**
   * What installs it, for people.
   */
  install?: string;
}
/**
 * Variables of every execution.
 */
export interface Variables {
  [k: string]: string;
}
/**
 * Variables whose values are the contents of files, without one final line break: for keys. No log shows them.
 */
export interface Variables1 {
  [k: string]: string;
}
