/**
 * Real coding agents and their keys: each works with a placeholder, its model gets the key, and the key is in nothing
 * of the sandbox. contract §10.3 (Model calls).
 */
import { randomBytes } from 'node:crypto';
import { delimiter, join } from 'node:path';
import { profilesWith, type OwnProfile } from '#agents';
import { startFakeModelServer, type FakeModelServer } from '../support/models/fake-model-server.ts';
import { searchRun } from '../support/processes/canary-search.ts';
import { ENDED, logOf, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** Folder with the agents' programs, from run.mjs beside this file. */
const PROGRAMS = process.env['MILLWRIGHT_TEST_AGENTS'];
if (PROGRAMS === undefined) throw new Error('start these tests with npm run test:agents');

/** In no file of the machine. */
const KEY = `sk-canary-${randomBytes(16).toString('hex')}`;

describe.each<{ id: string; model: string; header: string; profile: (url: string) => Partial<OwnProfile> }>([
  {
    id: 'opencode',
    model: 'anthropic/claude-haiku-4-5',
    header: 'x-api-key',
    profile: (url) => ({ env: { ANTHROPIC_BASE_URL: `${url}/v1` }, secretEnv: { ANTHROPIC_API_KEY: KEY } }),
  },
  {
    id: 'gemini',
    model: 'gemini-2.5-pro',
    header: 'x-goog-api-key',
    profile: (url) => ({ env: { GOOGLE_GEMINI_BASE_URL: url }, secretEnv: { GEMINI_API_KEY: KEY } }),
  },
  {
    id: 'claude',
    model: 'claude-sonnet-4-5',
    header: 'x-api-key',
    profile: (url) => ({ env: { ANTHROPIC_BASE_URL: url }, secretEnv: { ANTHROPIC_API_KEY: KEY } }),
  },
  {
    id: 'qwen',
    model: 'qwen3-coder-plus',
    header: 'authorization',
    profile: (url) => ({ env: { OPENAI_BASE_URL: `${url}/v1` }, secretEnv: { OPENAI_API_KEY: KEY } }),
  },
])('$id', ({ id, model: modelId, header, profile }) => {
  let model: FakeModelServer;
  let service: TestService;
  beforeAll(async () => {
    // Requests without tools are no turns: titles and the like.
    model = await startFakeModelServer(({ tools }) =>
      tools.length === 0 ? { text: 'A title' } : { fault: 'stall', text: 'Let me think about the heron' },
    );
    service = await bootService({
      profiles: profilesWith([{ id, ...profile(model.url) }]),
      environment: { PATH: [PROGRAMS, process.env['PATH']].join(delimiter) },
    });
  });
  afterAll(async () => {
    await service.stop();
    await model.close();
  });

  it('works with a placeholder, and its key is in no variable, word, file or memory', async () => {
    const runId = await startedRun(service, 'Think.', { config: { harness: { type: id }, model_id: modelId } });
    await eventually(
      `${id} asks its model`,
      async () => {
        const { body } = await service.api('GET', `/agent/runs/${runId}`);
        if (ENDED.includes(String(body['state'])))
          throw new Error(JSON.stringify([body['status_message'], await logOf(service, runId)]));
        return model.requests.some(({ tools }) => tools.length > 0) ? true : undefined;
      },
      120_000,
    );
    for (const { headers } of model.requests) expect(String(headers[header])).toContain(KEY);
    const searched = await searchRun(runId, join(service.dataDir, 'runs', runId), KEY);
    expect(searched.found).toEqual([]);
    expect(searched.memoryBytes).toBeGreaterThan(10_000_000);
    await service.api('POST', `/agent/runs/${runId}/cancel`);
    const log = JSON.stringify(await logOf(service, runId));
    expect(log).not.toContain('model call refused');
    console.log(
      `${id}: 0 found in ${searched.processes} processes, ${Math.round(searched.memoryBytes / 1_048_576)} MiB, ` +
        `${searched.files} files`,
    );
  }, 180_000);
});
