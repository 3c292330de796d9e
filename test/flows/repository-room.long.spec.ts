/**
 * Repositories of one factory take neither the service's disk nor another factory's time and runs. contract §8.1
 * (environments), §10.
 */
import { jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DiskWatch } from '../support/services/built-service.ts';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { bootService, eventually, type ApiAnswer, type TestService } from '../support/services/service.ts';

let git: GitServer;
let service: TestService;
let factories: string[];

beforeAll(async () => {
  git = await startGitServer();
  git.createRepository('acme/big').commit({ 'big.bin': randomBytes(12 * 1_048_576).toString('base64') });
  git.createRepository('acme/app').commit({ 'file.txt': 'x' });
  for (const name of ['a', 'b'])
    git.createRepository(`${name}/factory`).commit({
      'environments/big.yaml': 'repositories: [acme/big]\n',
      'environments/app.yaml': 'repositories: [acme/app]\n',
    });
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_RUN_COMMAND: JSON.stringify(['/bin/sh', '-c', 'sh prompt.md']),
      MILLWRIGHT_RUN_DISK_MB: '40',
    },
  });
  factories = await Promise.all(
    ['a', 'b'].map((name) => service.factory(name, { kind: 'git', url: git.urlOf(`${name}/factory`), branch: 'main' })),
  );
}, 120_000);
afterAll(async () => {
  await service.stop();
  await git.close();
});
afterEach(() => jest.restoreAllMocks());

const copies = (): string[] => readdirSync(join(service.dataDir, 'repositories'));
const create = (factory: number, environment: string | undefined, prompt: string): Promise<ApiAnswer> =>
  service.api('POST', '/agent/runs', {
    prompt,
    factory_uid: factories[factory],
    config: environment === undefined ? {} : { environment_id: environment },
  });
async function inState(runId: unknown, ...states: string[]): Promise<ApiAnswer['body']> {
  return eventually(
    `${String(runId)} in ${states.join()}`,
    async () => {
      const { body } = await service.api('GET', `/agent/runs/${String(runId)}`);
      return states.includes(String(body['state'])) ? body : undefined;
    },
    120_000,
  );
}

it('a disk that runs low takes copies that nobody uses, and no run of another factory', async () => {
  const made = await create(0, 'app', 'true');
  await inState(made.body['run_id'], 'SUCCEEDED');
  expect(copies()).toHaveLength(1);
  const go = join(service.dataDir, 'runs');
  const other = await create(
    1,
    undefined,
    'head -c 20000000 /dev/zero > large; touch written; while [ -e written ]; do sleep 0.2; done',
  );
  const written = join(go, String(other.body['run_id']), 'workspace', 'written');
  await eventually('what it writes', () => existsSync(written));
  let looks = 0;
  jest.spyOn(DiskWatch.prototype, 'isLow').mockImplementation(() => copies().length > 0);
  jest
    .spyOn(DiskWatch.prototype, 'isLowNow')
    .mockImplementation(() => Promise.resolve((looks += 1) > 0 && copies().length > 0));
  expect((await create(1, undefined, 'true')).status).toBe(503);
  await eventually('room', () => copies().length === 0);
  const next = await create(1, undefined, 'true');
  await inState(next.body['run_id'], 'SUCCEEDED');
  expect(looks).toBeGreaterThan(0);
  expect((await service.api('GET', `/agent/runs/${String(other.body['run_id'])}`)).body['state']).toBe('INPROGRESS');
  await service.api('POST', `/agent/runs/${String(other.body['run_id'])}/cancel`);
  await inState(other.body['run_id'], 'CANCELLED');
}, 120_000);

it('a repository over the bound fails the set-up of its run, and nothing else', async () => {
  await service.stop({ keepData: true });
  const { dataDir } = service;
  service = await bootService({
    dataDir,
    environment: {
      MILLWRIGHT_ADMIN_KEY: service.adminKey,
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_RUN_COMMAND: JSON.stringify(['/bin/sh', '-c', 'sh prompt.md']),
      MILLWRIGHT_RUN_DISK_MB: '5',
    },
  });
  const big = await create(0, 'big', 'true');
  const ended = await inState(big.body['run_id'], 'FAILED');
  expect(ended['status_message']).toMatchObject({ error_code: 'environment_setup_failed' });
  expect((ended['status_message'] as { message: string }).message).toMatch(
    /acme\/big is too large: \d+ MB of it had come; a repository may take at most 5 MB \(MILLWRIGHT_RUN_DISK_MB\)/,
  );
  expect(copies()).toEqual([]);
  const next = await create(1, 'app', 'test -e app/file.txt');
  await inState(next.body['run_id'], 'SUCCEEDED');
}, 120_000);
