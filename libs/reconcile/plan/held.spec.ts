/** Which objects a pass holds back. contract §4.1 (status). */
import type { Problem } from '#definitions';
import { heldOf, type Change } from '../index.ts';

const problem = (path: string, severity: Problem['severity'] = 'error'): Problem =>
  ({ path, line: 1, column: 1, severity, rule: 'r', message: 'm' }) as Problem;
const object = (kind: string, slug: string, path = `${kind}s/${slug}.yaml`) => ({
  kind,
  slug,
  uid: `uid_${slug}`,
  path,
});

describe('an object', () => {
  it.each<[string, ReturnType<typeof object>, boolean]>([
    ['whose file is in error is held', object('webhook', 'bad'), true],
    ['whose file has a warning is not', object('webhook', 'warned'), false],
    ['whose deletion waits is held', object('automation', 'gone'), true],
    [
      'that is a skill with an error in any of its files is held',
      object('skill', 'review', 'skills/review/SKILL.md'),
      true,
    ],
    ['that shares a name with such a skill is not', object('environment', 'review'), false],
    ['that nothing is said of is not', object('webhook', 'good'), false],
  ])('%s', (_what, one, isHeld) => {
    const held = [{ uid: 'uid_gone' } as Change];
    expect(
      heldOf({
        problems: [
          problem('webhooks/bad.yaml'),
          problem('webhooks/warned.yaml', 'warning'),
          problem('skills/review/notes.md'),
        ],
        held,
      })(one),
    ).toBe(isHeld);
  });
});
