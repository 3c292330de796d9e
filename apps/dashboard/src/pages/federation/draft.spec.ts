/** Claims as lines, and what of a change is sent. */
import { changeOf, claimLines, claimsOf, draftOf } from './draft.ts';
import type { FederatedCredential } from './queries.ts';

const BEFORE: FederatedCredential = {
  id: 'fed_1',
  name: 'ci',
  issuer: 'https://issuer.example',
  audience: 'mill',
  claims: { repository: ['acme/a', 'acme/b'], ref: ['x=y'] },
  role: 'viewer',
  factories: null,
  principal: { type: 'service_account', uid: 'sa_1', display_name: 'ci', email: null },
  created_at: '2026-01-01T00:00:00Z',
  created_by: null,
  updated_at: '2026-01-01T00:00:00Z',
  last_used_at: null,
};

it('reads claims as they are written', () => {
  expect(claimLines(BEFORE.claims)).toEqual(['repository=acme/a', 'repository=acme/b', 'ref=x=y']);
  expect(claimsOf(claimLines(BEFORE.claims).join('\r\n\n'))).toEqual(BEFORE.claims);
});

it('takes a line without a value for a claim without one', () => {
  expect(claimsOf('repository\n =v\nref=')).toEqual({ repository: [], '': ['v'], ref: [] });
});

it('sends what was changed alone', () => {
  const draft = draftOf(BEFORE);
  expect(changeOf(draft, BEFORE)).toEqual({});
  expect(changeOf({ ...draft, name: 'other', issuer: 'https://other.example' }, BEFORE)).toEqual({ name: 'other' });
  expect(changeOf({ ...draft, claims: 'ref=z', factories: ['fac_1'] }, BEFORE)).toEqual({
    claims: { ref: ['z'] },
    factories: ['fac_1'],
  });
  expect(changeOf(draft, { ...BEFORE, factories: ['fac_1'] })).toEqual({ factories: null });
});
