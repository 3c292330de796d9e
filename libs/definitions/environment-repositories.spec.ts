/** Repositories in the file of an environment: which forms there are, and what is said of others. */
import { readDefinitions } from './index.ts';

const problemsOf = (repository: string): string[] =>
  readDefinitions([
    { path: 'environments/build.yaml', content: Buffer.from(`repositories:\n  - ${repository}\n`) },
  ]).problems.map(({ line, column, message, rule }) => `${line}:${column} ${message} [${rule}]`);

describe('a repository of an environment', () => {
  it.each([
    'acme/tools',
    'https://forge.example/acme/tools',
    'ssh://git@forge.example/acme/tools',
    '{owner: acme, name: tools, branch: next}',
    '{url: "https://forge.example/acme/tools", branch: next}',
    '{url: "ssh://git@forge.example/acme/tools", credentialSecret: forge-key}',
    '{owner: acme, name: tools, credentialSecret: forge-token}',
  ])('may be %s', (repository) => {
    expect(problemsOf(repository)).toEqual([]);
  });

  it.each([
    { repository: '{owner: acme}', said: 'missing key "name"', why: 'half a name' },
    { repository: '{branch: next}', said: 'missing key "owner"', why: 'no name' },
    {
      repository: '{url: "https://forge.example/acme/tools", owner: acme}',
      said: 'repositories[0].owner is not allowed here',
      why: 'an address and half a name',
    },
    {
      repository: '{url: "http://forge.example/acme/tools"}',
      said: 'an https URL without a user, or an ssh URL',
      why: 'not private on its way',
    },
    {
      repository: '{url: "https://token@forge.example/acme/tools"}',
      said: 'an https URL without a user, or an ssh URL',
      why: 'a credential in the address',
    },
    {
      repository: '{url: /srv/git/tools}',
      said: 'an https URL without a user, or an ssh URL',
      why: 'a path of this machine',
    },
    {
      repository: '{owner: acme, name: tools, credentialSecret: "a b"}',
      said: 'the name of a managed secret',
      why: 'no name of a secret',
    },
    {
      repository: '{owner: acme, name: tools, credential: x}',
      said: 'credentialSecret',
      why: 'a key that nearly is one',
    },
  ])('may not be $repository: $why', ({ repository, said }) => {
    const problems = problemsOf(repository);
    expect(problems).not.toEqual([]);
    expect(problems.join('\n')).toContain(said);
  });
});
