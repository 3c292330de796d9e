/** Whoever chooses a provider is told what to do there: no scheme that is served is without its steps. */
import definition from '../../../../../../schemas/webhook.schema.json' with { type: 'json' };
import { PROVIDERS, providerOfScheme, providersOf, setUpText } from './providers.ts';

const served = definition.properties.signatureScheme.enum;

it.each(served)('%s has steps of its own, with the address in them', (scheme) => {
  const known = PROVIDERS.filter((provider) => provider.scheme === scheme);
  expect(known.length).toBeGreaterThan(0);
  for (const { steps, secretPlace } of known) {
    expect(steps.length).toBeGreaterThan(2);
    expect(steps.filter((step) => step.includes('{url}'))).toHaveLength(1);
    expect(secretPlace).not.toBe('');
  }
});

it('none is of a scheme that is not served, and none has the identifier of another', () => {
  expect(PROVIDERS.filter(({ scheme }) => !served.includes(scheme))).toEqual([]);
  expect(new Set(PROVIDERS.map(({ id }) => id)).size).toBe(PROVIDERS.length);
});

it('a scheme that is not known here is offered by its name, with steps that fit any', () => {
  expect(providersOf([{ id: 'later', secret_origin: 'either' }])).toMatchObject([
    { id: 'later', label: 'later', scheme: 'later', secret: 'generated' },
  ]);
  expect(providerOfScheme('later').steps.join()).toContain('{url}');
});

it('the text to hand over has the address in its steps, and the secret only where it is given', () => {
  const github = providerOfScheme('github');
  expect(setUpText(github, 'https://a.example/in')).toContain('2. Payload URL: https://a.example/in');
  expect(setUpText(github, 'https://a.example/in')).not.toMatch(/^Secret: /m);
  expect(setUpText(github, 'https://a.example/in', 's-1')).toMatch(/^Secret: s-1$/m);
});
