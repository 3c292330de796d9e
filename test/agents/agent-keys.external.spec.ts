/**
 * Real coding agents and forty secrets of their runs: each uses them all from outside of its sandbox, and none is in
 * anything of the sandbox. contract §10.3 (Model calls), §10.4 (Declared injections), §10.5, §10.6.
 */
import { delimiter } from 'node:path';
import { profilesWith, type OwnProfile } from '#agents';
import { Canaries, EXPOSED, MODEL_KEY, type CanaryOptions } from '../support/agents/canaries.ts';
import { IS_PART } from '../support/tier.ts';

/** Folder with the agents' programs, from run.mjs beside this file. */
const PROGRAMS = process.env['MILLWRIGHT_TEST_AGENTS'];
if (PROGRAMS === undefined) throw new Error('start these tests with npm run test:agents');

interface AgentCase {
  id: string;
  model: string;
  header: string;
  profile(url: string): Partial<OwnProfile>;
  shell: CanaryOptions['shell'];
}

const SHELL_COMMAND = {
  tool: 'run_shell_command',
  input: (command: string) => ({ command, description: 'Look around', is_background: false }),
};

const CASES: readonly AgentCase[] = [
  {
    id: 'opencode',
    model: 'anthropic/claude-haiku-4-5',
    header: 'x-api-key',
    profile: (url) => ({ env: { ANTHROPIC_BASE_URL: `${url}/v1` }, secretEnv: { ANTHROPIC_API_KEY: MODEL_KEY } }),
    shell: { tool: 'bash', input: (command) => ({ command, description: 'Look around' }) },
  },
  {
    id: 'gemini',
    model: 'gemini-2.5-pro',
    header: 'x-goog-api-key',
    profile: (url) => ({ env: { GOOGLE_GEMINI_BASE_URL: url }, secretEnv: { GEMINI_API_KEY: MODEL_KEY } }),
    shell: SHELL_COMMAND,
  },
  {
    id: 'claude',
    model: 'claude-sonnet-4-5',
    header: 'x-api-key',
    profile: (url) => ({ env: { ANTHROPIC_BASE_URL: url }, secretEnv: { ANTHROPIC_API_KEY: MODEL_KEY } }),
    shell: { tool: 'Bash', input: (command) => ({ command, description: 'Look around' }) },
  },
  {
    id: 'codex',
    model: 'gpt-5.2-codex',
    header: 'authorization',
    profile: (url) => ({ env: { OPENAI_BASE_URL: `${url}/v1` }, secretEnv: { OPENAI_API_KEY: MODEL_KEY } }),
    shell: { tool: 'exec_command', input: (command) => ({ cmd: command }) },
  },
  {
    id: 'qwen',
    model: 'qwen3-coder-plus',
    header: 'authorization',
    profile: (url) => ({ env: { OPENAI_BASE_URL: `${url}/v1` }, secretEnv: { OPENAI_API_KEY: MODEL_KEY } }),
    shell: SHELL_COMMAND,
  },
];

/** A fork of gemini: its key is carried as codex carries it. */
const FORK = 'qwen';
describe.each(CASES.filter(({ id }) => id !== FORK))('$id', (agent) => {
  usesItsSecrets(agent);
});
(IS_PART ? describe.skip : describe).each(CASES.filter(({ id }) => id === FORK))('$id', (agent) => {
  usesItsSecrets(agent);
});

function usesItsSecrets({ id, model, header, profile, shell }: AgentCase): void {
  let canaries: Canaries;
  beforeAll(async () => {
    canaries = await Canaries.start({
      environment: () => ({ PATH: [PROGRAMS, process.env['PATH']].join(delimiter) }),
      profiles: (url) => profilesWith([{ id, ...profile(url) }]),
      shell,
      // Requests without tools are no turns: titles and the like.
      isTurn: (asked) => asked.tools.length > 0 && !asked.model.includes('luna'),
    });
  }, 60_000);
  afterAll(async () => {
    await canaries.stop();
  });

  it('uses what it was given, and has none of it but what is exposed', async () => {
    const { searched, outside, inside, log, unused } = await canaries.search({
      harness: { type: id },
      model_id: model,
    });
    for (const { headers } of canaries.model.requests) expect(String(headers[header])).toContain(MODEL_KEY);
    expect([unused, outside]).toEqual([[], []]);
    expect(searched.memoryBytes).toBeGreaterThan(10_000_000);
    for (const name of EXPOSED) {
      const places = inside.get(name);
      expect([name, places]).toEqual([name, expect.arrayContaining([expect.stringMatching(/^environ of/)])]);
      expect([name, places]).toEqual([name, expect.arrayContaining([expect.stringMatching(/env\.txt$/)])]);
    }
    expect(log).not.toMatch(/model call refused|canary-|control-/);
    console.log(
      `${id}: 0 of 40 found in ${searched.processes} processes, ${Math.round(searched.memoryBytes / 1_048_576)} MiB, ` +
        `${searched.files} files`,
    );
  }, 300_000);
}
