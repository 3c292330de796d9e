/** The line of a run's log that says where its secrets go. contract §10.2 (Execution and sandbox). */
import { describeSecrets, type SecretUses } from './secret-reach.ts';

const uses = (more: Partial<SecretUses>): SecretUses => ({
  outside: [],
  inside: [],
  models: [],
  remotes: [],
  servers: [],
  ...more,
});

it('names each secret with its hosts, methods and paths, and what is inside', () => {
  const given = uses({
    outside: [
      { name: 'FORGE', host: 'api.test', header: 'Authorization' },
      { name: 'FORGE', host: 'up.test:8443', header: 'X-Key', methods: ['POST'], paths: ['/a/*', '/b'] },
    ],
    inside: ['DEPLOY', 'OTHER'],
    models: ['models.test', 'models.test'],
    remotes: ['git.test'],
    servers: [{ name: 'ti"ny', host: 'mcp.test:9' }],
  });
  expect(describeSecrets(given)).toEqual([
    'secrets: FORGE goes to api.test (GET, HEAD); FORGE goes to up.test:8443 (POST of /a/*, /b); the key of its ' +
      'model goes to models.test; credentials of its repositories go to git.test; headers of the MCP server ' +
      '"ti\\"ny" go to mcp.test:9; inside, as variables: DEPLOY, OTHER',
  ]);
});

it('says nothing of a run without secrets, and is bounded', () => {
  expect(describeSecrets(uses({}))).toEqual([]);
  const names = Array.from({ length: 25 }, (_, index) => `S${index}`);
  const [line = ''] = describeSecrets(
    uses({ inside: names, outside: names.map((name) => ({ name, host: 'a.test', header: 'X' })) }),
  );
  expect(line).toContain('S19 goes to a.test (GET, HEAD); 5 more; inside, as variables: S0');
  expect(line).toMatch(/S19, 5 more$/);
});
