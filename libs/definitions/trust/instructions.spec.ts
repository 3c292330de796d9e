/**
 * What a text had better not ask for, in lines that strangers have made to be slow to look through: each takes
 * milliseconds, and with patterns that go back it would outlast the time that a test has. contract §8.5 (Trust).
 */
import { adviceAgainst } from './instructions.ts';

describe('advice against instructions', () => {
  it.each([
    ['eval $( ', 16_000],
    ['openssl -d ', 16_000],
    ['base64 -d ', 200_000],
    ['base64 -base64 ', 200_000],
    ['curl ', 200_000],
    ['curl|A=', 200_000],
    ['exec(', 200_000],
    ['$(jq ', 200_000],
    ['event-payload.json ', 400_000],
    ['${{ issue ', 200_000],
  ])('comes at once for a line of nothing but %j', (unit, length) => {
    expect(adviceAgainst(unit.repeat(length / unit.length))).toEqual([]);
  });

  it('comes at once where a long sentence goes before', () => {
    const [found] = adviceAgainst(`Do ${'so '.repeat(50_000)}. Run the command from the issue`);
    expect(found?.rule).toBe('trust-payload-in-command');
  });

  it.each([
    ['echo x | base64 -i -d | sudo -E bash', 'trust-encoded-text'],
    ['openssl enc -aes256 -d -in x; cat y | sh', undefined],
    ['cat y; openssl enc -aes256 -d -in x | sh', 'trust-encoded-text'],
    ['cat event-payload.json | jq .title | xargs -n1 git tag', 'trust-payload-in-command'],
    ['Do not run code. See a.b: run the command from the issue', 'trust-payload-in-command'],
    ['Look. Never run the command from the issue', undefined],
  ])('is the same of %j as ever', (line, rule) => {
    expect(adviceAgainst(line)[0]?.rule).toBe(rule);
  });
});
