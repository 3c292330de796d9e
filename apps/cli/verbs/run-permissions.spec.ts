/** Following and answering a run that asks permission, with an agent that asks what its prompt says. */
import { Writable } from 'node:stream';
import { talks, type Talks } from '../../../test/support/agents/agent-talks.ts';
import { call, type Call } from '../../../test/support/services/recorded-io.ts';
import { script, scriptedProfiles } from '../../../test/support/agents/scripted-profile.ts';
import { bootService, type TestService } from '../../../test/support/services/service.ts';
import { LogPrinter } from '../run-log/log-printer.ts';

let service: TestService;
let talk: Talks;
beforeAll(async () => {
  service = await bootService({ profiles: scriptedProfiles() });
  talk = talks(service.api, service.dataDir);
});
afterAll(() => service.stop());

const millwright = (...argv: string[]): Promise<Call> =>
  call(['runs', ...argv], { environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: service.adminKey } });

it('shows the commands that answer, and says what a follow-up made of the question', async () => {
  const runId = await talk.start(script({ ask: ['first'] }, { ask: ['second'] }, { ask: ['third'] }), {
    interactive: true,
  });
  const following = millwright('events', runId, '--follow');
  const [question] = await talk.asked(runId);
  const answered = await millwright('followup', runId, '--message', 'yes');
  expect(answered).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^live_session: .*\nfirst: allowed with yes-once \(Do it\)\n$/),
  });
  await talk.asked(runId);
  expect((await millwright('followup', runId, '--message', 'no')).out).toMatch(
    /\nsecond: refused with no-once \(Leave it\)\n$/,
  );
  await talk.asked(runId);
  expect((await millwright('followup', runId, '--message', script({ say: 'other' }))).out).toMatch(
    /\nthird: refused, because the message names no answer; it is what the agent is told next\n$/,
  );
  await talk.until(runId, 'SUCCEEDED');
  const { code, err } = await following;
  expect(code).toBe(0);
  expect(err).toContain(`\n   | Do it: millwright runs answer ${runId} ${question?.permission_id} --option yes-once\n`);
}, 240_000);

it('a command to copy is never cut', () => {
  let text = '';
  const narrow = Object.assign(
    new Writable({ write: (chunk: Buffer, _encoding, done) => (done(), void (text += chunk.toString())) }),
    { isTTY: true, columns: 20 },
  );
  const payload = { permission_id: 'p', title: 'x', options: [{ option_id: 'once', name: 'Allow' }] };
  new LogPrinter(narrow, narrow, { environment: { NO_COLOR: '1' } }, 'r').print([
    { event_type: 'permission', payload },
  ]);
  expect(text).toBe('-- permission: x\n   | Allow: millwright runs answer r p --option once\n');
});
