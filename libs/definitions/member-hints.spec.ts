/** Which member of a request was meant by one that nothing knows. contract §3.10 (Unknown members). */
import { memberHint } from './index.ts';

const TRIGGER = ['provider', 'webhook_uids', 'payload', 'name', 'cron'];
const KEY = ['name', 'role', 'principal', 'principal_uid', 'factories', 'expires_at', 'expires_in_days'];
const AUTOMATION = ['name', 'triggers', 'prompt', 'agent', 'concurrency'];
const INNER = ['agent.model_id', 'agent.environment_id', 'agent.secrets', 'concurrency.when_busy'];

const hintOf = (found: string, candidates: readonly string[], inner: readonly string[] = []): string =>
  memberHint({ pointer: `/${found}`, kind: 'unknown-key', message: '', found, candidates, inner });

describe('the hint about an unknown member', () => {
  it.each<{ found: string; of: readonly string[]; inner?: readonly string[]; meant: string; why: string }>([
    { found: 'expires_in_day', of: KEY, meant: 'expires_in_days', why: 'a letter is missing' },
    { found: 'factory', of: KEY, meant: 'factories', why: 'there are several' },
    { found: 'factory_uids', of: KEY, meant: 'factories', why: 'they are named by their UIDs' },
    { found: 'principal_id', of: KEY, meant: 'principal_uid', why: 'it is nearer than principal' },
    { found: 'enable', of: ['enabled', 'description'], meant: 'enabled', why: 'a letter is missing' },
    { found: 'authMode', of: ['name', 'auth_mode'], meant: 'auth_mode', why: 'files spell it so' },
    { found: 'auth-mode', of: ['name', 'auth_mode'], meant: 'auth_mode', why: 'options spell it so' },
    { found: 'filter', of: TRIGGER, meant: 'payload', why: 'files call it so' },
    { found: 'schedule', of: TRIGGER, meant: 'cron', why: 'files call it so' },
    { found: 'webhooks', of: TRIGGER, meant: 'webhook_uids', why: 'it is about the same' },
    { found: 'webhookIds', of: TRIGGER, meant: 'webhook_uids', why: 'it is about the same in the spelling of files' },
    { found: 'secrets', of: AUTOMATION, inner: INNER, meant: 'agent.secrets', why: 'it stands inside of agent' },
    { found: 'environmentId', of: AUTOMATION, inner: INNER, meant: 'agent.environment_id', why: 'files have it here' },
    { found: 'model', of: AUTOMATION, inner: INNER, meant: 'agent.model_id', why: 'files have it here' },
    { found: 'when_busy', of: AUTOMATION, inner: INNER, meant: 'concurrency.when_busy', why: 'it stands inside' },
  ])('$found names $meant: $why', ({ found, of, inner, meant }) => {
    expect(hintOf(found, of, inner)).toBe(`; did you mean "${meant}"?`);
  });

  it('says of a letter that only looks right what it is', () => {
    expect(hintOf('enаbled', ['enabled'])).toMatch(/^ \(a character of it .*\); did you mean "enabled"\?$/);
  });

  it.each([
    ['filter', ['value', 'grants'], '; expected one of value, grants'],
    ['colour', ['plan'], '; expected plan'],
    ['x'.repeat(100_000), ['plan'], '; expected plan'],
    ['toString', ['plan'], '; expected plan'],
    ['colour', Array.from({ length: 13 }, (_, index) => `member_${index}`), ''],
    ['colour', [], ''],
  ])('about %.20s beside %j is what is known, where that is little', (found, candidates, hint) => {
    expect(hintOf(found, candidates)).toBe(hint);
  });

  it('is none about other errors', () => {
    expect(memberHint({ pointer: '/role', kind: 'wrong-value', message: '', found: 'x', candidates: ['y'] })).toBe('');
  });
});
