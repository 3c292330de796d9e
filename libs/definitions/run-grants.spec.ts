/** Which runs may be given a secret, and which files may name it: what a request names is named by no file. */
import { mayBeInside, mayBeNamedIn, mayGiveToRun, RUN_GRANT_ENTRY, type RunGrant, type SecretNaming } from './index.ts';

describe('a secret for runs', () => {
  const triage: SecretNaming = { automation: 'triage', environment: 'build', namedBy: 'file' };
  it.each<{ grant: RunGrant; run: SecretNaming; may: boolean; why: string }>([
    { grant: 'files', run: triage, may: true, why: 'its automation names it' },
    { grant: 'files', run: { environment: 'build', namedBy: 'file' }, may: true, why: 'its environment names it' },
    { grant: 'files', run: { namedBy: 'request' }, may: false, why: 'whoever may start runs could read it' },
    { grant: 'files', run: { environment: 'build', namedBy: 'request' }, may: false, why: 'no file names it there' },
    { grant: '*', run: { namedBy: 'request' }, may: true, why: 'somebody has allowed that' },
    { grant: ['automation/triage'], run: triage, may: true, why: 'it is a run of the automation' },
    { grant: ['environment/build'], run: triage, may: true, why: 'it is a run in the environment' },
    { grant: ['automation/deploy'], run: triage, may: false, why: 'it is for another automation' },
    { grant: ['automation/build'], run: triage, may: false, why: 'kinds are apart' },
    { grant: ['environment/triage'], run: triage, may: false, why: 'kinds are apart' },
    { grant: ['automation/triage'], run: { environment: 'build', namedBy: 'file' }, may: false, why: 'nobody’s run' },
    { grant: ['environment/build'], run: { environment: 'build', namedBy: 'request' }, may: false, why: 'a request' },
    { grant: [], run: triage, may: false, why: 'it is for none' },
  ])('granted for $grant goes to $run: $may, because $why', ({ grant, run, may }) => {
    expect(mayGiveToRun(grant, run)).toBe(may);
  });

  it.each<{ grant: RunGrant; file: Parameters<typeof mayBeNamedIn>[1]; may: boolean }>([
    { grant: 'files', file: { kind: 'automation', slug: 'a' }, may: true },
    { grant: ['automation/a'], file: { kind: 'automation', slug: 'a' }, may: true },
    { grant: ['automation/a'], file: { kind: 'automation', slug: 'b' }, may: false },
    { grant: ['environment/e'], file: { kind: 'automation', slug: 'b', environment: 'e' }, may: true },
    { grant: ['environment/e'], file: { kind: 'automation', slug: 'b' }, may: false },
    { grant: ['automation/a'], file: { kind: 'environment', slug: 'e' }, may: true },
    { grant: ['environment/e'], file: { kind: 'environment', slug: 'f' }, may: false },
    { grant: [], file: 'factory', may: true },
  ])('granted for $grant may be named in $file: $may', ({ grant, file, may }) => {
    expect(mayBeNamedIn(grant, file)).toBe(may);
  });

  it.each([
    ['automation/triage', true],
    ['environment/a-1', true],
    ['automation/', false],
    ['automation/A', false],
    ['webhook/a', false],
    ['automation/a/b', false],
    ['automation/a\n', false],
  ])('entry %j: %p', (entry, is) => expect(RUN_GRANT_ENTRY.test(entry)).toBe(is));
});

it.each<{ grant: RunGrant; automation: boolean; request: boolean }>([
  { grant: 'files', automation: true, request: false },
  { grant: ['environment/build'], automation: true, request: false },
  { grant: '*', automation: true, request: true },
])('granted as $grant, a value may be inside runs of automations, and of requests: $request', (row) => {
  expect([mayBeInside(row.grant, 'automation'), mayBeInside(row.grant, 'request')]).toEqual([
    row.automation,
    row.request,
  ]);
});
