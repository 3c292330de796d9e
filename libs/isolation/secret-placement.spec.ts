/** Which secrets of a run are inside, and which are not. */
import type { RunSecret } from '#definitions';
import { placedVariables, placeSecrets } from './secret-placement.ts';

const OUTSIDE: RunSecret = { name: 'FORGE', host: 'api.test', header: 'Authorization' };
const placed = (...secrets: RunSecret[]): unknown => {
  const result = placeSecrets(secrets);
  if (!result.ok) return result.reason;
  return placedVariables(result.placement, { FORGE: 'forge-value', NPM: 'npm-value' }, () => 'placeholder');
};

it.each<{ secrets: RunSecret[]; variables: Record<string, string>; why: string }>([
  { secrets: [{ name: 'NPM' }], variables: { FORGE: 'forge-value', NPM: 'npm-value' }, why: 'nothing else is said' },
  { secrets: [OUTSIDE], variables: { FORGE: 'placeholder', NPM: 'npm-value' }, why: 'it goes to a host' },
  { secrets: [{ name: 'FORGE' }, OUTSIDE], variables: { FORGE: 'placeholder', NPM: 'npm-value' }, why: 'a host wins' },
  {
    secrets: [{ name: 'NPM', expose: 'env' }, OUTSIDE],
    variables: { FORGE: 'placeholder', NPM: 'npm-value' },
    why: 'each is for itself',
  },
])('$secrets is $variables, because $why', ({ secrets, variables }) => {
  expect(placed(...secrets)).toEqual(variables);
});

it.each<RunSecret[]>([
  [{ name: 'FORGE', expose: 'env' }, OUTSIDE],
  [{ ...OUTSIDE, expose: 'env' }],
  [{ name: 'FORGE', host: 'api.test' }],
  [{ name: 'FORGE', paths: ['/x'] }],
  [{ name: 'FORGE', host: 'api.test', header: 'Host' }],
])('%j, %j is refused in words', (...secrets) => {
  expect(placed(...secrets)).toMatch(/FORGE/);
});
