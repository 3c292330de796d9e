/** What becomes of an answer to a request for permission. */
import type { PermissionOption } from '#agents';
import { answerDecision, type AnswerSituation } from './index.ts';

const ALL = (['reject_always', 'allow_always', 'allow_once', 'reject_once'] as const).map((kind): PermissionOption => ({
  optionId: kind,
  name: `Name of ${kind}`,
  kind,
}));

describe('an answer', () => {
  const rows: [wanted: string, situation: Partial<AnswerSituation>, outcome: string, why: string][] = [
    ['allow_once', {}, 'new', 'it is waited for'],
    ['other', {}, 'unknown-option', 'it was not offered'],
    ['allow_once', { isClosed: true, optionId: 'allow_once' }, 'same', 'it was given before'],
    [
      'allow_once',
      { isClosed: true, optionId: 'allow_once', run: { state: 'SUCCEEDED', cancelRequested: false } },
      'same',
      'it was given before, and the run has ended',
    ],
    ['allow_once', { isClosed: true, optionId: 'reject_once' }, 'answered-otherwise', 'another one was given'],
    ['allow_once', { isClosed: true }, 'closed', 'nobody waits for it any more'],
    ['other', { isClosed: true }, 'unknown-option', 'what is wrong is said first'],
    [
      'allow_once',
      { run: { state: 'BLOCKED', cancelRequested: true } },
      'cancel-under-way',
      'the run is being cancelled',
    ],
    ['allow_once', { run: { state: 'FAILED', cancelRequested: false } }, 'not-blocked', 'the run has ended'],
    ['allow_once', { run: { state: 'QUEUED', cancelRequested: false } }, 'not-blocked', 'its execution was lost'],
  ];
  it.each(rows)('%s is %p → %s: %s', (wanted, situation, outcome) => {
    const decision = answerDecision(wanted, {
      options: ALL,
      isClosed: false,
      run: { state: 'BLOCKED', cancelRequested: false },
      ...situation,
    });
    expect(decision.ok ? (decision.isNew ? 'new' : 'same') : decision.reason).toBe(outcome);
  });
});
