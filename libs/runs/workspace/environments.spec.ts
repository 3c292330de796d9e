/** Where the repositories of an environment are, and which folders they get. */
import { declaredRepositories } from '../index.ts';

const FORGE = 'https://forge.example';
const of = (...listed: unknown[]): unknown => {
  const declared = declaredRepositories(listed, FORGE);
  return declared.ok ? declared.repositories : declared.reason;
};

describe('the repositories of an environment', () => {
  it.each([
    {
      listed: ['acme/tools'],
      repositories: [{ url: 'https://forge.example/acme/tools', folder: 'tools' }],
      why: 'at the forge',
    },
    {
      listed: ['acme/.github'],
      repositories: [{ url: 'https://forge.example/acme/.github', folder: '.github' }],
      why: 'a name with a dot in front',
    },
    {
      listed: ['https://other.example:8443/a/b/tools.git'],
      repositories: [{ url: 'https://other.example:8443/a/b/tools.git', folder: 'tools' }],
      why: 'an address stays as it is',
    },
    {
      listed: ['https://other.example/tools.git'],
      repositories: [{ url: 'https://other.example/tools.git', folder: 'tools' }],
      why: 'nobody owns it',
    },
    {
      listed: ['ssh://git@other.example/acme/tools.git'],
      repositories: [{ url: 'ssh://git@other.example/acme/tools.git', folder: 'tools' }],
      why: 'over ssh',
    },
    {
      listed: [{ owner: 'acme', name: 'tools', branch: 'next' }],
      repositories: [{ url: 'https://forge.example/acme/tools', branch: 'next', folder: 'tools' }],
      why: 'a mapping',
    },
    {
      listed: [{ url: 'https://o.example/a/b', credentialSecret: 's' }],
      repositories: [{ url: 'https://o.example/a/b', credentialSecret: 's', folder: 'b' }],
      why: 'a mapping with an address',
    },
    {
      listed: ['acme/tools', 'other/Tools', 'acme/site'],
      repositories: [
        { url: 'https://forge.example/acme/tools', folder: 'acme-tools' },
        { url: 'https://forge.example/other/Tools', folder: 'other-Tools' },
        { url: 'https://forge.example/acme/site', folder: 'site' },
      ],
      why: 'names that meet have their owners in front, all of them',
    },
  ])('$why', ({ listed, repositories }) => {
    expect(of(...listed)).toEqual(repositories);
  });

  it.each([
    { listed: ['acme/artifacts'], message: '"artifacts"', why: 'a folder of the run' },
    { listed: ['acme/Attachments'], message: '"Attachments"', why: 'also in other letters' },
    { listed: ['acme/prompt.md'], message: '"prompt.md"', why: 'a file of the run' },
    { listed: [{ owner: 'acme', name: 'event-payload.json' }], message: '"event-payload.json"', why: 'the payload' },
    { listed: ['https://o.example/a/.git'], message: 'no name', why: 'nothing is left of it' },
    { listed: ['acme/..'], message: 'no name', why: 'a way up' },
    { listed: [{ owner: 'acme', name: '../x' }], message: 'no name', why: 'a path' },
    { listed: [{ owner: '..', name: 'x' }], message: 'no name', why: 'a path in the address' },
    { listed: ['https://o.example/a/b%2f..'], message: 'no name', why: 'an encoded path' },
    { listed: ['https://o.example/'], message: 'no name', why: 'no path' },
    { listed: ['acme/tools', 'acme/tools'], message: 'list it once', why: 'twice the same' },
    {
      listed: ['a-b/c', 'a/b-c', 'x/c', 'y/b-c'],
      message: 'list it once',
      why: 'two that meet only with their owners',
    },
    { listed: [{ owner: 'acme', name: 'x'.repeat(256) }], message: 'rename', why: 'longer than a name of a file' },
  ])('no folder: $why', ({ listed, message }) => {
    expect(of(...listed)).toEqual(expect.stringContaining(message));
  });

  it('are nowhere without a forge, unless they say where', () => {
    expect(declaredRepositories(['acme/tools'], undefined)).toEqual({
      ok: false,
      reason: expect.stringContaining('MILLWRIGHT_FORGE_URL'),
    });
    expect(declaredRepositories(['https://o.example/acme/tools'], undefined)).toMatchObject({ ok: true });
    expect(declaredRepositories(undefined, undefined)).toEqual({ ok: true, repositories: [] });
  });
});
