/** What a genuine notice asks for: only what certainly concerns nothing that is followed asks for no pass. */
import { judgePush, type PushHint } from './index.ts';

const cases: [why: string, hint: PushHint, branch: string | undefined, reason: string][] = [
  ['the branch that is followed', { event: 'push', body: { ref: 'refs/heads/main' } }, 'main', 'push'],
  ['another branch', { event: 'push', body: { ref: 'refs/heads/feature' } }, 'main', 'other-branch'],
  ['a branch whose name ends like it', { event: 'push', body: { ref: 'refs/heads/x/main' } }, 'main', 'other-branch'],
  [
    'a branch of the same letters in another case',
    { event: 'push', body: { ref: 'refs/heads/Main' } },
    'main',
    'other-branch',
  ],
  ['a tag', { event: 'push', body: { ref: 'refs/tags/v1' } }, 'main', 'other-branch'],
  ["GitLab's tag event", { event: 'Tag Push Hook', body: { ref: 'refs/tags/v1' } }, 'main', 'other-branch'],
  ["GitLab's push event", { event: 'Push Hook', body: { ref: 'refs/heads/main' } }, 'main', 'push'],
  [
    'its deletion',
    { event: 'push', body: { ref: 'refs/heads/main', deleted: true, after: '0'.repeat(40) } },
    'main',
    'push',
  ],
  ['any branch where HEAD is followed', { event: 'push', body: { ref: 'refs/heads/feature' } }, undefined, 'push'],
  ['a short name, which could be anything', { event: 'push', body: { ref: 'feature' } }, 'main', 'push'],
  ['no ref', { body: {} }, 'main', 'push'],
  ['a ref that is no text', { body: { ref: ['refs/heads/feature'] } }, 'main', 'push'],
  [
    'a ref that is inherited, not sent',
    { body: Object.create({ ref: 'refs/heads/feature' }) as unknown },
    'main',
    'push',
  ],
  ['no body, no event', {}, 'main', 'push'],
  ['a body that is an array', { body: ['refs/heads/feature'] }, 'main', 'push'],
  ['a body that is null', { body: null }, 'main', 'push'],
  ['a test of the connection', { event: 'ping', body: { zen: 'x' } }, 'main', 'not-a-push'],
  [
    'an event of another kind about the branch',
    { event: 'pull_request', body: { ref: 'refs/heads/main' } },
    'main',
    'not-a-push',
  ],
  ['a kind that only inherited names know', { event: 'constructor', body: {} }, 'main', 'not-a-push'],
];

it.each(cases)('%s', (_why, hint, branch, reason) => {
  expect(judgePush(hint, { branch, suspended: false })).toBe(reason);
  expect(judgePush(hint, { branch, suspended: true })).toBe(reason === 'push' ? 'suspended' : reason);
});
