/** What a secret's mark tells, and what it does not. contract §12.1 (Plan). */
import type { Secret, SecretStore } from '../store/secrets/secrets.ts';
import type { Installation } from '../keys/installation.ts';
import { SecretFingerprints } from './secret-reader.ts';
import { Vault } from './vault.ts';

const vault = new Vault(new Uint8Array(32).fill(1));
const UID_KEY = new Uint8Array(32).fill(2);
const VALUES: Record<string, string | undefined> = {
  first: 'the-same-value-twice',
  second: 'the-same-value-twice',
  third: 'another-value',
  unset: undefined,
  damaged: 'x',
};

const store = {
  visibleTo: async () => new Map(Object.keys(VALUES).map((name) => [name, { id: name, name } as Secret])),
  newest: async (id: string) => {
    const value = VALUES[id];
    if (value === undefined) return undefined;
    return { secretId: id, version: 3, ...vault.seal(Buffer.from(value), id === 'damaged' ? 'elsewhere' : id, 3) };
  },
} as unknown as SecretStore;
const marks = async (factoryUid = 'fac_a', key = UID_KEY) =>
  Object.fromEntries(
    await new SecretFingerprints(store, vault, { uidKey: key } as Installation).marks(factoryUid, [
      ...Object.keys(VALUES),
      'unheard',
      'first',
    ]),
  );

it('are equal for equal values of a factory, whatever their names', async () => {
  const { first, second, third } = await marks();
  expect(first).toEqual({ name: 'first', version: 3, fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/) });
  expect(second?.fingerprint).toBe(first?.fingerprint);
  expect(third?.fingerprint).not.toBe(first?.fingerprint);
});

it('tell nothing across factories, nor to who has not the key', async () => {
  const { first } = await marks();
  for (const other of [await marks('fac_b'), await marks('fac_a', new Uint8Array(32).fill(3))])
    expect(other['first']?.fingerprint).not.toBe(first?.fingerprint);
});

it('of what is not set, not there or damaged name no value', async () => {
  const { unset, unheard, damaged } = await marks();
  expect([unset, unheard]).toEqual([
    { name: 'unset', version: 0 },
    { name: 'unheard', version: 0 },
  ]);
  expect(damaged).toEqual({ name: 'damaged', version: 3, fingerprint: undefined });
});
