/**
 * Forty secrets of a run of the built-in agent, looked for in everything that its sandbox has while it works. contract
 * §10.3 (Model calls), §10.4 (Declared injections), §10.5 (Brokered remotes), §10.6 (MCP servers).
 */
import { Canaries, EXPOSED, MODEL_KEY } from '../support/agents/canaries.ts';

let canaries: Canaries;
beforeAll(async () => {
  canaries = await Canaries.start({
    environment: (url) => ({
      MILLWRIGHT_AGENT_BASE_URL: `${url}/v1`,
      MILLWRIGHT_AGENT_MODEL: 'm-1',
      MILLWRIGHT_AGENT_API_KEY: MODEL_KEY,
    }),
    shell: { tool: 'bash', input: (command) => ({ command }) },
  });
}, 120_000);
afterAll(async () => {
  await canaries.stop();
});

it('none of them is in a variable, a word, a file or the memory of any process; what is exposed is', async () => {
  const { searched, outside, inside, log, unused } = await canaries.search({ harness: { type: 'builtin' } });
  expect(unused).toEqual([]);
  expect(outside).toEqual([]);
  expect(searched.processes).toBeGreaterThanOrEqual(3);
  expect(searched.memoryBytes).toBeGreaterThan(10_000_000);
  // The same search finds what is there.
  for (const name of EXPOSED) {
    const places = inside.get(name);
    expect([name, places]).toEqual([name, expect.arrayContaining([expect.stringMatching(/^environ of/)])]);
    expect([name, places]).toEqual([name, expect.arrayContaining([expect.stringMatching(/^memory of/)])]);
    expect([name, places]).toEqual([name, expect.arrayContaining([expect.stringMatching(/env\.txt$/)])]);
  }
  expect(log).not.toMatch(/canary-|control-/);
  console.log(
    `canaries: 0 found in ${searched.processes} processes, ${Math.round(searched.memoryBytes / 1_048_576)} MiB, ` +
      `${searched.files} files`,
  );
}, 300_000);
