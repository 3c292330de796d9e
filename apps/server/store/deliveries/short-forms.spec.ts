/** What the log stores short comes back as it was. contract §5.9 (Log). */
import { createHash, randomUUID } from 'node:crypto';
import { fullRevision, fullUuid, shortRevision, shortUuid } from './short-forms.ts';

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

it('a digest as a revision comes back from 50 characters', () => {
  for (const text of ['', 'a', 'b', 'c']) {
    const revision = `sha256:${digestOf(text)}`;
    expect(shortRevision(revision)).toMatch(/^sha256~[\w-]{43}$/);
    expect(fullRevision(shortRevision(revision))).toBe(revision);
    expect(fullRevision(revision)).toBe(revision); // as versions of before have written it
  }
});

it.each([
  '',
  'main@sha1:2fd4e1c67a2d28fced849ee1bb76e7391b93eb12',
  `sha256:${digestOf('a').toUpperCase()}`,
  `sha256:${digestOf('a').slice(1)}`,
  `sha256:${digestOf('a')}0`,
  `sha256:${digestOf('a')}\n`,
  `main@sha256:${digestOf('a')}`,
  `sha256~${digestOf('a')}`,
])('a revision of another form stays as it is: %j', (revision) => {
  expect(shortRevision(revision)).toBe(revision);
  expect(fullRevision(revision)).toBe(revision);
});

it('a UUID comes back from 22 characters', () => {
  for (const uuid of [randomUUID(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
    expect(shortUuid(uuid)).toMatch(/^[\w-]{22}$/);
    expect(fullUuid(shortUuid(uuid) ?? '')).toBe(uuid);
  }
  for (const other of ['', 'x', randomUUID().toUpperCase(), `${randomUUID()} `, randomUUID().replaceAll('-', '')])
    expect(shortUuid(other)).toBeUndefined();
});
