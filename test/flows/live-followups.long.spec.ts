/** What people say to an agent while it works, and what it knows of what was said before. contract §3.8, §3.1. */
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { patternOf } from '../support/patterns.ts';
import { script, scriptedProfile, scriptedProfiles } from '../support/agents/scripted-profile.ts';
import { talks, type Talks } from '../support/agents/agent-talks.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

let service: TestService;
let talk: Talks;
let live: Talks;
let forgetful: Talks;
let loading: Talks;
let builtIn: Talks;
beforeAll(async () => {
  service = await bootService({
    profiles: scriptedProfiles(
      scriptedProfile(),
      scriptedProfile('live', { concurrentPrompt: true }),
      scriptedProfile('forgetful', {}, 'none'),
      scriptedProfile('loading', {}, 'load'),
    ),
    environment: { MILLWRIGHT_AGENT_DEMO_STEPS: 'true', MILLWRIGHT_RUN_CONCURRENCY: '8' },
  });
  const as = (harness: string): Talks => talks(service.api, service.dataDir, harness);
  [talk, live, forgetful, loading, builtIn] = [
    as('scripted'),
    as('live'),
    as('forgetful'),
    as('loading'),
    as('builtin'),
  ];
});
afterAll(() => service.stop());

const statusTexts = async (runId: string): Promise<(string | undefined)[]> =>
  (await talk.events(runId)).filter(({ event_type: kind }) => kind === 'status').map(({ payload }) => payload.text);
const executionsOf = async (runId: string): Promise<number> =>
  new Set((await talk.events(runId)).map(({ execution_id: id }) => id)).size;

describe('follow-ups to an agent that works', () => {
  it('are the next things that it is told, in its session, each turn with its own answer', async () => {
    const runId = await talk.start(script({ say: 'first' }, { await_file: 'go' }, { say: ' answer' }));
    await talk.heard(runId, 'first');
    const file = { file_name: 'notes.txt', mime_type: 'text/plain', data: Buffer.from('the notes').toString('base64') };
    expect(await talk.followup(runId, 'second', { attachments: [file] })).toBe('queue_pending');
    expect(await talk.followup(runId, script({ say: 'half' }, { await_file: 'on' }, { echo: true }))).toBe(
      'queue_pending',
    );
    await talk.put(runId, 'go');
    await talk.heard(runId, 'half');
    expect(await readFile(join(service.dataDir, 'runs', runId, 'inputs', 'attachments', 'notes.txt'), 'utf8')).toBe(
      'the notes',
    );
    expect(await talk.followup(runId, 'third')).toBe('queue_pending');
    await talk.put(runId, 'on');
    const item = await talk.until(runId, 'SUCCEEDED');
    expect(item).toMatchObject({ prompt: expect.stringContaining('first') });
    const turns = await talk.turns(runId);
    expect(turns.map(({ asked, said }) => [asked.length, said])).toEqual([
      [1, 'first answer'],
      [
        2,
        expect.stringMatching(/^halfheard: second\n\nDo this[^]*Files that came with this: attachments\/notes\.txt$/),
      ],
      [1, 'heard: third'],
    ]);
    expect(turns[2]?.asked).toEqual(['third']);
    expect(new Set(turns.map(({ id }) => id)).size).toBe(3);
    expect(await executionsOf(runId)).toBe(1);

    // The conversation in pages of one turn is the same.
    const paged: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await service.api('GET', `/agent/runs/${runId}/conversation?limit=1${cursor}`);
      paged.push(...(body['steps'] as { id: string }[]).map(({ id }) => id));
      const page = body['page_info'] as { has_next_page: boolean; next_cursor?: string };
      if (!page.has_next_page) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(turns.map(({ id }) => id));
  }, 240_000);

  it('reach an agent at once that takes prompts while it works; its turn ends when all are answered', async () => {
    const runId = await live.start(script({ say: 'one;' }, { await_file: 'go' }, { say: 'one ends;' }));
    await live.heard(runId, 'one;');
    expect(await live.followup(runId, script({ say: 'two;' }, { await_file: 'later' }, { say: 'two ends;' }))).toBe(
      'live_session',
    );
    await live.heard(runId, 'two;');
    await live.put(runId, 'go');
    await live.heard(runId, 'one ends;');
    expect(await live.run(runId)).toMatchObject({ state: 'INPROGRESS' });
    await live.put(runId, 'later');
    await live.until(runId, 'SUCCEEDED');
    expect(await live.said(runId)).toBe('one;two;one ends;two ends;');
    expect((await live.turns(runId)).map(({ asked }) => asked.length)).toEqual([1, 1]);
    expect(await executionsOf(runId)).toBe(1);
  }, 240_000);

  it('that came between the last look and the end queue the run again', async () => {
    // The store refuses to be looked into: as if the follow-up had come one moment later.
    const { runs } = service.service;
    const take = runs.takeFollowups.bind(runs);
    const runId = await talk.start(script({ say: 'first' }, { await_file: 'go' }));
    await talk.heard(runId, 'first');
    runs.takeFollowups = async (claim) => (claim.runId === runId ? undefined : take(claim));
    try {
      expect(await talk.followup(runId, 'too late')).toBe('queue_pending');
      await talk.put(runId, 'go');
      await talk.heard(runId, 'heard: too late');
      await talk.until(runId, 'SUCCEEDED');
    } finally {
      runs.takeFollowups = take;
    }
    expect(await executionsOf(runId)).toBe(2);
    expect((await talk.turns(runId)).map(({ asked, said }) => [asked.at(-1), said]).at(1)).toEqual([
      'too late',
      'heard: too late',
    ]);
    expect(await statusTexts(runId)).toContain('the agent goes on with its session');
  }, 240_000);

  it('are told also when a turn ended for another reason than that it was done', async () => {
    const runId = await talk.start(script({ say: 'first' }, { await_file: 'go' }, { stop: 'max_turn_requests' }));
    await talk.heard(runId, 'first');
    await talk.followup(runId, 'go on');
    await talk.put(runId, 'go');
    await talk.until(runId, 'SUCCEEDED');
    expect(await talk.said(runId)).toBe('firstheard: go on');
  }, 240_000);
});

describe('a plan', () => {
  it('is asked for in words where the agent has no mode for it, and only in that turn', async () => {
    const runId = await talk.start('what would you do?', { mode: 'plan' });
    await talk.until(runId, 'SUCCEEDED');
    expect(await talk.said(runId)).toMatch(/^heard: Make a plan[^]*Change nothing[^]*what would you do\?$/);
    expect(await talk.followup(runId, 'do it')).toBe('handoff_execution');
    await talk.heard(runId, 'heard: do it');
  }, 240_000);
});

describe('what an agent knows of what was said before', () => {
  it('is told to one that has lost its session', async () => {
    const runId = await forgetful.start('remember the number 4711');
    await forgetful.until(runId, 'SUCCEEDED');
    await forgetful.followup(runId, 'which number was it?');
    await forgetful.heard(runId, 'which number was it?');
    await forgetful.until(runId, 'SUCCEEDED');
    expect((await forgetful.turns(runId))[1]?.said).toMatch(
      patternOf(
        /^heard: This was said so far[^]*You were told:\nremember the number 4711\n\n/,
        /You answered:\nheard: remember the number 4711[^]*which number was it\?$/,
      ),
    );
    expect(await statusTexts(runId)).toContain('the agent could not find its session and was told what was said');
  }, 240_000);

  it('is not told again to one that loads it', async () => {
    const runId = await loading.start('remember this');
    await loading.until(runId, 'SUCCEEDED');
    await loading.followup(runId, 'and now?');
    await loading.heard(runId, 'heard: and now?');
    expect(await statusTexts(runId)).toContain('the agent has loaded its session');
  }, 240_000);

  it('survives a session file that is damaged, and one that names no session', async () => {
    const runId = await talk.start('the first task');
    await talk.until(runId, 'SUCCEEDED');
    for (const [text, followup] of [
      ['{"sessionId":', 'second'],
      ['{"sessionId":"../../elsewhere","told":["prompt"]}', 'third'],
    ] as const) {
      await writeFile(join(service.dataDir, 'runs', runId, 'session'), text);
      await talk.followup(runId, followup);
      await eventually(
        'it is told',
        async () =>
          (await talk.turns(runId)).some(({ said }) => said.includes('the first task') && said.endsWith(followup))
            ? true
            : undefined,
        60_000,
      );
      await talk.until(runId, 'SUCCEEDED');
    }
  }, 240_000);

  it('comes along into another run of the conversation', async () => {
    const first = await talk.start('the colour is green');
    await talk.until(first, 'SUCCEEDED');
    const second = await talk.start('which colour?', { conversation_id: first });
    await talk.until(second, 'SUCCEEDED');
    expect(await talk.said(second)).toMatch(/This was said so far[^]*the colour is green[^]*which colour\?$/);
    const factory = (await service.api('POST', '/factory', { slug: 'apart', source: { kind: 'dashboard' } })).body[
      'uid'
    ];
    const third = await talk.start('and here?', { conversation_id: first, factory_uid: factory });
    await talk.until(third, 'SUCCEEDED');
    // what was said outside of its factory is not for those who see only that
    expect(await talk.said(third)).toBe('heard: and here?');
  }, 240_000);
});

describe('an agent that keeps to no protocol', () => {
  it('is refused what it may not ask of us, and is not heard where it should be silent', async () => {
    const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' as const }];
    const runId = await talk.start(
      script(
        { write: 'this is no message {' },
        { write: '[1,2]' },
        { write: '{"jsonrpc":"2.0","id":"never-asked-0815","result":{}}' },
        { write: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"<session>"}}' },
        {
          write:
            '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":' +
            '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"of another session"}}}}',
        },
        { request: ['fs/read_text_file', 'fs/write_text_file', 'terminal/create', 'no/such'] },
        { ask: ['of another session'], session: 'other', options },
        { say: ' done' },
        { late: 'after the end' },
      ),
    );
    await talk.heard(runId, 'done');
    await talk.until(runId, 'SUCCEEDED');
    expect((await talk.turns(runId))[0]?.said).toBe(
      'fs/read_text_file -32601;fs/write_text_file -32601;terminal/create -32601;no/such -32601;of another ' +
        'session: cancelled; done',
    );
    expect(await talk.permissions(runId)).toEqual([]);
    expect(service.logged.join('\n')).not.toContain('never-asked');
  }, 240_000);

  it('that answers after a cancel is cancelled all the same; one that leaves without an answer failed', async () => {
    const [late, gone] = [
      await talk.start(script({ say: 'working' }, { sleep_ms: 1_500 }, { say: 'after the cancel' })),
      await talk.start(script({ say: 'working' }, { exit: 0 })),
    ];
    await talk.heard(late, 'working');
    expect((await service.api('POST', `/agent/runs/${late}/cancel`)).status).toBe(200);
    await talk.until(late, 'CANCELLED');
    expect(await talk.until(gone, 'FAILED')).toMatchObject({
      status_message: { message: expect.stringContaining('ended before it had answered') },
    });
  }, 240_000);

  it('that ends its turn as cancelled without being asked has failed', async () => {
    const runId = await talk.start(script({ say: 'no more' }, { stop: 'cancelled' }));
    expect(await talk.until(runId, 'FAILED')).toMatchObject({
      status_message: { message: expect.stringContaining('nobody had asked for it') },
    });
  }, 240_000);
});

it('a follow-up while the built-in agent works is answered in the same execution', async () => {
  const demo = (steps: readonly unknown[]): string => `\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`;
  const runId = await builtIn.start(
    demo([
      { say: 'first' },
      { tool: 'bash', input: { command: 'while [ ! -e go ]; do sleep 0.05; done' } },
      { say: ' ends' },
    ]),
  );
  await builtIn.heard(runId, 'first');
  expect(await builtIn.followup(runId, demo([{ say: 'second' }]))).toBe('queue_pending');
  await builtIn.put(runId, 'go');
  await builtIn.until(runId, 'SUCCEEDED');
  expect((await builtIn.turns(runId)).map(({ said }) => said)).toEqual(['first ends', 'second']);
  expect(await executionsOf(runId)).toBe(1);
  expect((await readdir(join(service.dataDir, 'runs', runId))).filter((name) => name.startsWith('session'))).toEqual([
    'session',
  ]);
  await rm(join(service.dataDir, 'runs', runId, 'session'));
}, 240_000);
