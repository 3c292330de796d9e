/**
 * A service that is killed while its agent has a secret in its transcript: the next one takes it out as it starts, also
 * where the run never works again. contract §10.2 (Execution and sandbox).
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { eventually } from '../support/services/service.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const SECRET = `canary-${randomBytes(16).toString('hex')}`;
const ENVIRONMENT = {
  MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
  MILLWRIGHT_RUN_NETWORK: 'open',
  MILLWRIGHT_RUN_COMMAND: '',
  MILLWRIGHT_ALLOW_LOCAL_SOURCES: 'true',
};
const PROMPT = `Do this.\n\n\`\`\`demo\n${JSON.stringify([
  { tool: 'bash', input: { command: 'echo "it is $INSIDE"' } },
  { tool: 'bash', input: { command: 'sleep 600' } },
])}\n\`\`\`\n`;

let dataDir: string;
let folder: FactoryFolder;
const services: ServiceProcess[] = [];
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-transcripts-'));
  folder = await factoryFolder({ webhooks: {}, automations: {} });
  await folder.writeFile('factory.yaml', 'name: Shop\n');
});
afterAll(async () => {
  for (const service of services) service.signal('SIGKILL');
  await Promise.all(services.map(({ ended }) => ended));
  await folder.remove();
  await rm(dataDir, { recursive: true, force: true });
});

async function begun(more: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startServiceProcess(dataDir, { ...ENVIRONMENT, ...more });
  services.push(service);
  return service;
}

const transcripts = (runId: string): string => {
  const place = join(dataDir, 'runs', runId, 'home/.millwright-agent');
  if (!existsSync(place)) return '';
  // Beside them lie those that are just redacted, which take their place.
  return readdirSync(place)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(place, name), 'latin1'))
    .join('\n');
};

it('the transcript of a killed execution is redacted at the next start', async () => {
  const first = await begun();
  const grants = { factories: '*', uses: ['run'], runs: '*' };
  for (const name of ['INSIDE', 'OUTSIDE']) await first.api('PUT', `/secrets/${name}`, { value: SECRET, grants });
  const { uid } = await first.api('POST', '/factory', { slug: 'shop', source: folder.source });
  const { run_id: runId } = await first.api('POST', '/agent/runs', {
    factory_uid: uid,
    prompt: PROMPT,
    config: {
      harness: { type: 'builtin' },
      secrets: [
        { name: 'INSIDE', expose: 'env' },
        { name: 'OUTSIDE', host: 'api.example.com', header: 'Authorization' },
      ],
    },
  });
  await eventually('it is noted', async () => transcripts(String(runId)).includes(SECRET), 60_000);
  first.signal('SIGKILL');
  await first.ended;
  expect(transcripts(String(runId))).toContain(SECRET);

  // With the network of the machine a secret cannot be outside: the run never begins again.
  const second = await begun({ MILLWRIGHT_RUN_NETWORK: 'host' });
  // Behind listening, and before any agent begins.
  await eventually('it is redacted', async () => !transcripts(String(runId)).includes(SECRET), 60_000);
  expect(transcripts(String(runId))).toContain('it is [redacted]');
  const run = await eventually('it fails', async () => {
    const item = await second.api('GET', `/agent/runs/${String(runId)}`);
    return item['state'] === 'FAILED' ? item : undefined;
  });
  expect(JSON.stringify(run)).toContain('is added outside of the sandbox');
  expect(readdirSync(join(dataDir, 'runs', String(runId)))).not.toContain('transcript-secrets');
}, 240_000);
