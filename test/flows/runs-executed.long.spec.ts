/**
 * Runs as they are worked on: output, endings, follow-ups, cancel of a whole process tree, secrets, restarts. spec:
 * States and transitions; contract §2, §3.
 */
import { spawnSync } from 'node:child_process';
import { StoreError } from '../support/services/built-service.ts';
import { readdirSync, readFileSync } from 'node:fs';
import {
  automationFile,
  automationPath,
  deliver,
  runIn,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { factoryFolder } from '../support/factories/factory-folder.ts';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** The command is a shell and the prompt its script: each test writes the agent that it needs. */
const SHELL = { MILLWRIGHT_RUN_COMMAND: '["/bin/sh"]' };
let service: TestService;
let git: GitServer;

beforeAll(async () => {
  git = await startGitServer();
  service = await bootService({
    environment: {
      ...SHELL,
      MILLWRIGHT_RUN_CONCURRENCY: '3',
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
    },
  });
});

afterAll(async () => {
  await service.stop();
  await git.close();
});

const ENDED = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];

async function started(prompt: string, more: Record<string, unknown> = {}, on = service): Promise<string> {
  const answer = await on.api('POST', '/agent/runs', { prompt, ...more });
  expect(answer.status).toBe(200);
  return String(answer.body['run_id']);
}

interface Event {
  seq: number;
  event_type: string;
  execution_id: string;
  payload: { text?: string; state?: string };
}

const eventsOf = async (runId: string, query = 'limit=1000', on = service): Promise<Event[]> =>
  (await on.api('GET', `/agent/runs/${runId}/events?${query}`)).body['events'] as Event[];
const outputOf = (events: readonly Event[], kind = 'stdout'): string =>
  events
    .filter(({ event_type: type }) => type === kind)
    .map(({ payload }) => payload.text)
    .join('');

/** Waits for the marker that the command prints when it is where the test wants it. */
const printed = (runId: string, marker: string, on = service): Promise<true> =>
  eventually(`the run prints ${marker}`, async () =>
    outputOf(await eventsOf(runId, 'limit=1000', on)).includes(marker) ? (true as const) : undefined,
  );

/** Processes of this machine whose command line has the words. */
function processesWith(words: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(words);
      } catch {
        return false;
      }
    });
}

describe('the end of the command', () => {
  it.each([
    [0, 'SUCCEEDED'],
    [1, 'FAILED'],
    [42, 'FAILED'],
    [127, 'FAILED'],
  ])('exit code %s is %s', async (code, state) => {
    const run = await runIn(service, await started(`exit ${code}`), ...ENDED);
    expect(run).toMatchObject({
      state,
      status_message: { message: `the command ended with exit code ${code}` },
      is_sandbox_running: false,
      is_run_type_cancellable: true,
    });
    expect(run['run_time']).toMatch(/^PT[\d.]+S$/);
    expect(run['session_link']).toBe(`${service.url}/runs/${String(run['run_id'])}`);
    expect(new Date(String(run['finished_at'])).getTime()).toBeGreaterThanOrEqual(
      new Date(String(run['started_at'])).getTime(),
    );
  });

  it('by a signal of its own is FAILED', async () => {
    expect((await runIn(service, await started('kill -KILL $$'), ...ENDED))['state']).toBe('FAILED');
  });

  it('that does not come within the time limit is made: FAILED, and nothing is left', async () => {
    const impatient = await bootService({ environment: { ...SHELL, MILLWRIGHT_RUN_TIMEOUT: '1' } });
    const run = await runIn(impatient, await started('sleep 987001', {}, impatient), ...ENDED);
    expect(run).toMatchObject({
      state: 'FAILED',
      status_message: {
        message: 'it did not end within 1 s, which is all the time that runs have here (MILLWRIGHT_RUN_TIMEOUT)',
      },
    });
    expect(processesWith('sleep 987001')).toEqual([]);
    await impatient.stop();
  });

  it('of a command that does not exist is FAILED, with a message for the operator', async () => {
    const mistaken = await bootService({ environment: { MILLWRIGHT_RUN_COMMAND: '["/no/such/program"]' } });
    const run = await runIn(mistaken, await started('x', {}, mistaken), ...ENDED);
    expect(run).toMatchObject({
      state: 'FAILED',
      status_message: { error_code: 'environment_setup_failed', retryable: false },
    });
    expect(JSON.stringify(run['status_message'])).toContain('/no/such/program');
    await mistaken.stop();
  });

  it('of a harness that is not here is FAILED and names the harness', async () => {
    const run = await runIn(service, await started('x', { config: { harness: { type: 'nobody' } } }), ...ENDED);
    expect(run).toMatchObject({
      state: 'FAILED',
      status_message: { error_code: 'environment_setup_failed', message: expect.stringContaining('"nobody"') },
    });
  });
});

describe('a follow-up to a run that cannot be set up', () => {
  it('fails as the run did, once, and is told with the next message when the cause is mended', async () => {
    const factory = await factoryFolder({});
    const uid = await service.factory('mended', factory.source);
    const runId = await started('echo the prompt', {
      factory_uid: uid,
      config: { secrets: [{ name: 'MENDED_LATER' }] },
    });
    await runIn(service, runId, 'FAILED');
    expect(
      (await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'echo first message' })).body['outcome'],
    ).toBe('handoff_execution');
    const again = await eventually('the second failure', async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}/timeline`);
      return (body['events'] as { event_type: string }[]).filter(({ event_type: type }) => type === 'oz_run_failed')
        .length >= 2
        ? body
        : undefined;
    });
    expect(again).toBeDefined();
    expect((await runIn(service, runId, 'FAILED'))['state']).toBe('FAILED');
    expect(
      (
        await service.api('PUT', `/factory/${uid}/secrets/MENDED_LATER`, {
          value: 'long-enough-value',
          grants: { uses: ['run'], runs: '*' },
        })
      ).status,
    ).toBe(200);
    expect(
      (await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'echo second message' })).status,
    ).toBe(200);
    await runIn(service, runId, 'SUCCEEDED');
    expect(outputOf(await eventsOf(runId))).toBe('the prompt\nfirst message\nsecond message\n');
    await factory.remove();
  });
});

describe('what a run sees and says', () => {
  it('gets the prompt on stdin and its own folder, and nothing of the service', async () => {
    const runId = await started(
      'pwd; env | cut -d= -f1 | sort; echo "id $MILLWRIGHT_RUN_ID"; echo words >&2; ls -a; exit 0',
    );
    await runIn(service, runId, 'SUCCEEDED');
    const events = await eventsOf(runId);
    expect(outputOf(events)).toContain(`id ${runId}`);
    for (const name of ['MILLWRIGHT_ADMIN_KEY', 'MILLWRIGHT_MASTER_KEY_FILE', 'MILLWRIGHT_DATA_DIR'])
      expect(outputOf(events)).not.toContain(name);
    expect(outputOf(events, 'stderr')).toContain('words');
  });

  it('its output is in the log in order, and can be read on from any point', async () => {
    const runId = await started('i=0; while [ $i -lt 300 ]; do echo "line $i"; i=$((i+1)); done');
    await runIn(service, runId, 'SUCCEEDED');
    const events = await eventsOf(runId);
    expect(outputOf(events)).toBe(Array.from({ length: 300 }, (_, n) => `line ${n}\n`).join(''));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, position) => position + 1));
    expect(events.at(-1)).toMatchObject({ event_type: 'status', payload: { state: 'SUCCEEDED' } });
    const [first] = events;
    const rest = await eventsOf(runId, `after=${first?.seq}&limit=1000`);
    expect(rest).toEqual(events.slice(1));
    expect(await eventsOf(runId, 'limit=1')).toEqual([first]);
  });

  it('gets the exact bytes of the delivery that started it', async () => {
    await service.secret('hook-token', 'a-token-of-sixteen-or-more');
    const repository = git.createRepository('payload');
    repository.commit({
      [webhookPath('orders')]: webhookFile('hook-token'),
      [automationPath('check')]: automationFile(['orders'], 'cat event-payload.json; exit 0'),
    });
    const uid = await service.factory('payload', { kind: 'git', url: git.urlOf('payload'), branch: 'main' });
    const bytes = '{ "a" : 1.0,\n  "a": "\\u0000\\ud800", "__proto__": null }  ';
    const answer = await fetch(service.ingressUrl('payload', 'orders'), {
      method: 'POST',
      headers: { authorization: 'Bearer a-token-of-sixteen-or-more' },
      body: bytes,
    });
    expect(answer.status).toBe(202);
    const [run] = (await service.api('GET', `/agent/runs?factory_uid=${uid}`)).body['runs'] as { run_id: string }[];
    await runIn(service, String(run?.run_id), 'SUCCEEDED');
    expect(outputOf(await eventsOf(String(run?.run_id)))).toContain(bytes);
  });
});

describe('a follow-up', () => {
  it('to a run under way waits for its next execution, which has it as its prompt', async () => {
    const runId = await started('echo "begun"; sleep 1; exit 0');
    await printed(runId, 'begun');
    const answer = await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'echo "second words"' });
    expect(answer.body['outcome']).toBe('queue_pending');
    await printed(runId, 'second words');
    const run = await runIn(service, runId, 'SUCCEEDED');
    expect(run['run_id']).toBe(runId);
    const events = await eventsOf(runId);
    expect(new Set(events.map(({ execution_id: id }) => id)).size).toBe(2);
    expect(outputOf(events).match(/begun/g)).toHaveLength(1); // the first prompt is not done again
  });

  it('to an ended run is a new execution of the same run, and its last end counts', async () => {
    const runId = await started('exit 1');
    const first = await runIn(service, runId, 'FAILED');
    const answer = await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'echo "better"; exit 0' });
    expect(answer.body['outcome']).toBe('handoff_execution');
    const second = await runIn(service, runId, 'SUCCEEDED');
    expect(second).toMatchObject({
      run_id: runId,
      prompt: 'exit 1',
      created_at: first['created_at'],
      started_at: first['started_at'],
    });
    expect(String(second['finished_at']) > String(first['finished_at'])).toBe(true);
    expect(outputOf(await eventsOf(runId))).toContain('better');
  });
});

describe('cancelling a run under way', () => {
  it('kills the whole tree, a daemonised grandchild too, and only then is it CANCELLED', async () => {
    const runId = await started(
      '(setsid sh -c "trap \\"\\" TERM HUP; sleep 987002; sleep 987002" </dev/null >/dev/null 2>&1 &) ; trap "" ' +
        'TERM; sleep 987003 & echo "begun"; wait; wait; sleep 987003',
    );
    await printed(runId, 'begun');
    await eventually('the grandchild lives', () => (processesWith('sleep 987002').length > 0 ? true : undefined));
    const answer = await service.api('POST', `/agent/runs/${runId}/cancel`);
    expect(answer.status).toBe(200);
    expect((await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'x' })).status).toBe(409);
    expect((await service.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200); // repeated
    const run = await runIn(service, runId, ...ENDED);
    expect(processesWith('sleep 98700')).toEqual([]);
    expect(run).toMatchObject({ state: 'CANCELLED', status_message: { message: 'cancelled on request' } });
    expect((await service.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
  });

  it('that ends well on TERM is CANCELLED all the same', async () => {
    const runId = await started('trap "exit 0" TERM; echo "begun"; while :; do sleep 0.1; done');
    await printed(runId, 'begun');
    await service.api('POST', `/agent/runs/${runId}/cancel`);
    expect((await runIn(service, runId, ...ENDED))['state']).toBe('CANCELLED');
  });

  it('that has ended is 400', async () => {
    const runId = await started('exit 0');
    await runIn(service, runId, 'SUCCEEDED');
    expect(await service.api('POST', `/agent/runs/${runId}/cancel`)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  it('races with the end of many: after a 200 the only end is CANCELLED, after a 400 it is the other', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => started('sleep 0.05; exit 0')));
    const answers = await Promise.all(
      ids.map(async (runId, n) => {
        await new Promise((resolve) => setTimeout(resolve, n * 60));
        return (await service.api('POST', `/agent/runs/${runId}/cancel`)).status;
      }),
    );
    const ends = await Promise.all(ids.map(async (runId) => (await runIn(service, runId, ...ENDED))['state']));
    expect(ends).toEqual(answers.map((status) => (status === 200 ? 'CANCELLED' : 'SUCCEEDED')));
  });
});

describe('a database that is away while a command runs', () => {
  it('loses neither its output nor its end, and takes nothing else down', async () => {
    const { runs } = service.service;
    const append = runs.append.bind(runs);
    const finish = runs.finish.bind(runs);
    let failures = 0;
    const away = async (): Promise<never> => {
      failures += 1;
      throw new StoreError('unavailable', 'ECONNREFUSED');
    };
    const runId = await started('for n in 1 2 3 4 5; do echo "line $n"; sleep 0.15; done');
    await runIn(service, runId, 'INPROGRESS');
    runs.append = away;
    runs.finish = away;
    await eventually('some writes have failed', () => (failures >= 3 ? true : undefined));
    runs.append = append;
    runs.finish = finish;
    await runIn(service, runId, 'SUCCEEDED');
    expect(outputOf(await eventsOf(runId))).toBe('line 1\nline 2\nline 3\nline 4\nline 5\n');
  });
});

describe('a run that the service cannot supervise', () => {
  const away = (): Promise<never> => Promise.reject(new StoreError('unavailable', 'ECONNRESET'));
  const sleeping = (seconds: string): string =>
    spawnSync('pgrep', ['-f', `^sleep ${seconds}$`], { encoding: 'utf8' }).stdout;

  it.each(['prepare', 'begin', 'noteProcess'] as const)(
    'because the database is away for a moment (%s) goes on when it is back',
    async (name) => {
      const { runs } = service.service;
      const original = runs[name];
      let failures = 0;
      Object.assign(runs, {
        [name]: (...args: unknown[]) =>
          (failures += 1) <= 2 ? away() : (original as (...all: unknown[]) => unknown).apply(runs, args),
      });
      try {
        const runId = await started('echo "said it"; sleep 0.5');
        expect(await runIn(service, runId, ...ENDED)).toMatchObject({ state: 'SUCCEEDED' });
        expect(outputOf(await eventsOf(runId))).toBe('said it\n');
      } finally {
        Object.assign(runs, { [name]: original });
      }
      expect(failures).toBeGreaterThanOrEqual(name === 'noteProcess' ? 1 : 3);
    },
  );

  it('whose begin was carried out though its answer was lost begins again, and is not cancelled', async () => {
    const { runs } = service.service;
    const { begin } = runs;
    let calls = 0;
    runs.begin = async (claim) => {
      const task = await begin.call(runs, claim);
      return (calls += 1) === 1 ? away() : task;
    };
    const runId = await started('echo "said once"');
    const run = await runIn(service, runId, ...ENDED);
    runs.begin = begin;
    expect(run['state']).toBe('SUCCEEDED');
    expect(outputOf(await eventsOf(runId))).toBe('said once\n');
  });

  it('because its process is not noted and its claim lost meanwhile is killed; nothing more is written', async () => {
    const { runs } = service.service;
    const { noteProcess, renew } = runs;
    const seconds = `7${process.pid}`;
    runs.noteProcess = away;
    const runId = await started(`exec sleep ${seconds}`);
    await eventually('it works', () => (sleeping(seconds) === '' ? undefined : true));
    runs.renew = (claim, leaseMs) =>
      claim.runId === runId ? Promise.resolve(undefined) : renew.call(runs, claim, leaseMs);
    await eventually('it is killed', () => (sleeping(seconds) === '' ? true : undefined));
    Object.assign(runs, { noteProcess, renew });
    expect((await service.api('GET', `/agent/runs/${runId}`)).body['state']).toBe('INPROGRESS');
  });

  it('because of a fault that does not go away is ended and ERROR, and nothing of it is left', async () => {
    const { runs } = service.service;
    const { noteProcess } = runs;
    const seconds = `8${process.pid}`;
    runs.noteProcess = () => Promise.reject(new StoreError('broken', 'SQLITE_CORRUPT'));
    const run = await runIn(service, await started(`exec sleep ${seconds}`), ...ENDED);
    runs.noteProcess = noteProcess;
    expect(run['state']).toBe('ERROR');
    expect(sleeping(seconds)).toBe('');
  });

  it('to its end because the database does not take it holds up no stop of the service', async () => {
    const leaseMs = 1_500;
    const stopping = await bootService({
      environment: { ...SHELL, MILLWRIGHT_DRAIN_SECONDS: '1' },
      composed: ({ engine }) => void ((engine as unknown as { deps: { leaseMs: number } }).deps.leaseMs = leaseMs),
    });
    let failures = 0;
    stopping.service.runs.finish = () => {
      failures += 1;
      return away();
    };
    await started('exit 0', {}, stopping);
    await eventually('its end is tried', () => (failures > 0 ? true : undefined));
    const began = performance.now();
    await stopping.stop();
    expect(performance.now() - began).toBeLessThan(12_000);
  }, 120_000);

  it('that fills the disk is ended with the reason, when it takes the most', async () => {
    const { engine } = service.service;
    const parts = (engine as unknown as { deps: { isDiskLow(): boolean } }).deps;
    const isDiskLow = parts.isDiskLow;
    const large = await started('head -c 40000000 /dev/zero > large; echo filled; sleep 30');
    const small = await started('echo small; sleep 3');
    await eventually('both have begun', async () =>
      outputOf(await eventsOf(large)).includes('filled') && outputOf(await eventsOf(small)).includes('small')
        ? true
        : undefined,
    );
    parts.isDiskLow = () => true;
    const ended = await runIn(service, large, ...ENDED);
    parts.isDiskLow = isDiskLow;
    expect(ended).toMatchObject({
      state: 'FAILED',
      status_message: { message: 'the disk was nearly full, and this run had taken the most of it' },
    });
    await runIn(service, small, 'SUCCEEDED');
  });
});

describe('a secret in a run', () => {
  const VALUE = 'run-secret-value-4711';

  async function factoryWith(slug: string): Promise<string> {
    const repository = git.createRepository(slug);
    repository.commit({ 'factory.yaml': `name: ${slug}\n` });
    return service.factory(slug, { kind: 'git', url: git.urlOf(slug), branch: 'main' });
  }

  it('is a variable of the agent and never in its log', async () => {
    const uid = await factoryWith('secrets');
    await service.api('PUT', '/secrets/DEPLOY_TOKEN', {
      value: VALUE,
      grants: { uses: ['run'], runs: '*', factories: [uid] },
    });
    const script =
      'test "$DEPLOY_TOKEN" = "run-secret-""value-4711" && echo "right"; echo "it is $DEPLOY_TOKEN"; printf %s ' +
      '"$DEPLOY_TOKEN" | cut -c1-10; printf run-secret-; sleep 0.3; echo value-4711';
    const runId = await started(script, { factory_uid: uid, config: { secrets: [{ name: 'DEPLOY_TOKEN' }] } });
    await runIn(service, runId, 'SUCCEEDED');
    const text = outputOf(await eventsOf(runId));
    expect(text).toContain('right');
    expect(text).not.toContain(VALUE);
    expect(JSON.stringify((await service.api('GET', `/agent/runs/${runId}`)).body)).not.toContain(VALUE);
    expect(service.logged.join('')).not.toContain(VALUE);
  });

  it('that is too short to be kept out of the log starts nothing, and says so', async () => {
    const uid = await factoryWith('short');
    // Set for something else, and granted to runs only then
    await service.api('PUT', '/secrets/SHORT_PIN', { value: '1234567', grants: { uses: ['git'] } });
    await service.api('PUT', '/secrets/SHORT_PIN', { grants: { uses: ['run'], runs: '*' } });
    const run = await runIn(
      service,
      await started('echo "it is $SHORT_PIN"', { factory_uid: uid, config: { secrets: [{ name: 'SHORT_PIN' }] } }),
      ...ENDED,
    );
    expect(run).toMatchObject({ state: 'FAILED', status_message: { error_code: 'environment_setup_failed' } });
    expect(JSON.stringify([run, await eventsOf(String(run['run_id'])), service.logged])).not.toContain('1234567');
  });

  it('that together with others is too long to be kept out of the log starts nothing, and says so', async () => {
    const names = ['LONG_A', 'LONG_B', 'LONG_C', 'LONG_D', 'LONG_E'];
    for (const name of names)
      await service.api('PUT', `/secrets/${name}`, { value: name.repeat(2_700), grants: { uses: ['run'] } });
    const repository = git.createRepository('too-long');
    const said = names.map((name) => `{name: ${name}}`).join(', ');
    repository.commit({ 'factory.yaml': `agentDefaults: {secrets: [${said}]}\n` });
    const uid = await service.factory('too-long', { kind: 'git', url: git.urlOf('too-long'), branch: 'main' });
    const run = await runIn(service, await started('echo ran', { factory_uid: uid }), ...ENDED);
    expect(run).toMatchObject({
      state: 'FAILED',
      status_message: {
        error_code: 'environment_setup_failed',
        message: expect.stringMatching(/have 81000 bytes together, and at most 65536 .* name fewer secrets/),
      },
    });
    expect(JSON.stringify([run, await eventsOf(String(run['run_id'])), service.logged])).not.toContain('LONG_ALONG_A');
  });

  it.each([
    ['only a request names, and is for what files name', 'OF_FILES', { uses: ['run'] }],
    ['is for one automation only', 'OF_ONE', { uses: ['run'], runs: ['automation/triage'] }],
    ['is not granted for runs', 'WEBHOOK_ONLY', { uses: ['webhook'] }],
    ['is not granted to the factory', 'ELSEWHERE', { uses: ['run'], runs: '*', factories: [] }],
    ['has no value', 'UNSET_ONE', undefined],
    ['does not exist', 'NO_SUCH', undefined],
    ['is named like a variable of the loader', 'LD_PRELOAD', { uses: ['run'], runs: '*' }],
    ['is named like no variable', 'lower-case', { uses: ['run'], runs: '*' }],
  ])('that %s starts nothing, with one and the same message', async (_what, name, grants) => {
    const uid = await factoryWith(`refused-${name.toLowerCase().replaceAll('_', '-')}`);
    if (grants !== undefined) await service.api('PUT', `/secrets/${name}`, { value: VALUE, grants });
    if (name === 'UNSET_ONE') await service.api('PUT', `/secrets/${name}`, { grants: { uses: ['run'], runs: '*' } });
    const run = await runIn(
      service,
      await started('echo ran', { factory_uid: uid, config: { secrets: [{ name }] } }),
      ...ENDED,
    );
    expect(run).toMatchObject({
      state: 'FAILED',
      status_message: {
        error_code: 'environment_setup_failed',
        message:
          `the secret ${name} cannot be given to this run: it must exist, be granted for runs and be named like ` +
          'an environment variable, and a file of the factory must name it for this run (its automation, its ' +
          'environment or factory.yaml), unless it is granted to requests too (grants.runs)',
      },
    });
    expect(outputOf(await eventsOf(String(run['run_id'])))).not.toContain('ran');
  });
});

describe('a restart of the service', () => {
  it('takes up what waits, ends what was begun, and leaves no process behind', async () => {
    const first = await bootService({ environment: { ...SHELL, MILLWRIGHT_RUN_CONCURRENCY: '1' } });
    const begun = await started('(setsid sleep 987004 >/dev/null 2>&1 &); echo "begun"; sleep 987004', {}, first);
    await printed(begun, 'begun', first);
    const waiting = await started('echo "done after all"', {}, first);
    expect((await first.api('GET', `/agent/runs/${waiting}`)).body['state']).toBe('QUEUED');
    await first.stop({ keepData: true });
    expect(processesWith('sleep 987004')).toEqual([]);
    const second = await bootService({
      dataDir: first.dataDir,
      environment: { ...SHELL, MILLWRIGHT_ADMIN_KEY: first.adminKey },
    });
    expect(await runIn(second, begun, ...ENDED)).toMatchObject({
      state: 'ERROR',
      status_message: {
        error_code: 'internal_error',
        retryable: true,
        message: expect.stringContaining('MILLWRIGHT_RUN_RESTARTABLE'),
      },
    });
    expect((await runIn(second, waiting, ...ENDED))['state']).toBe('SUCCEEDED');
    await second.stop();
  });

  it('starts again what the operator calls restartable', async () => {
    const environment = { ...SHELL, MILLWRIGHT_RUN_RESTARTABLE: 'true' };
    const first = await bootService({ environment });
    const runId = await started(
      'echo "epoch $MILLWRIGHT_EXECUTION_EPOCH"; test "$MILLWRIGHT_EXECUTION_EPOCH" != 1 || sleep 987005',
      {},
      first,
    );
    await printed(runId, 'epoch 1', first);
    await first.stop({ keepData: true });
    const second = await bootService({
      dataDir: first.dataDir,
      environment: { ...environment, MILLWRIGHT_ADMIN_KEY: first.adminKey },
    });
    expect((await runIn(second, runId, ...ENDED))['state']).toBe('SUCCEEDED');
    expect(outputOf(await eventsOf(runId, 'limit=1000', second))).toMatch(/epoch 1\n[\s\S]*epoch [23]\n/);
    await second.stop();
  });

  it('ends as CANCELLED what was asked to be cancelled', async () => {
    const first = await bootService({ environment: SHELL });
    const runId = await started('trap "" TERM; echo "begun"; while :; do sleep 1; done', {}, first);
    await printed(runId, 'begun', first);
    await first.api('POST', `/agent/runs/${runId}/cancel`);
    await first.stop({ keepData: true });
    const second = await bootService({
      dataDir: first.dataDir,
      environment: { ...SHELL, MILLWRIGHT_ADMIN_KEY: first.adminKey },
    });
    expect((await runIn(second, runId, ...ENDED))['state']).toBe('CANCELLED');
    await second.stop();
  });
});

describe('a burst of deliveries', () => {
  it('starts each run once, at most as many at a time as allowed', async () => {
    await service.secret('hook-token', 'a-token-of-sixteen-or-more');
    const repository = git.createRepository('burst');
    repository.commit({
      [webhookPath('orders')]: webhookFile('hook-token'),
      [automationPath('work')]: automationFile(['orders'], 'exit 0'),
    });
    const uid = await service.factory('burst', { kind: 'git', url: git.urlOf('burst'), branch: 'main' });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        deliver(service.ingressUrl('burst', 'orders'), 'a-token-of-sixteen-or-more', { n }),
      ),
    );
    expect(answers.every(({ status }) => status === 202)).toBe(true);
    await eventually(
      'all are done',
      async () => {
        const { body } = await service.api('GET', `/agent/runs?factory_uid=${uid}&limit=100`);
        const states = (body['runs'] as { state: string }[]).map(({ state }) => state);
        return states.length === 30 && states.every((state) => state === 'SUCCEEDED' || state === 'FAILED')
          ? true
          : undefined;
      },
      120_000,
    );
  }, 120_000);
});
