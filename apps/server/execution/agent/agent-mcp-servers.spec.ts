/**
 * What agents are told of MCP servers: where their programs are, which secrets they get, and what is refused; and which
 * values are kept out of logs.
 */
import { literalSecretsOf, mcpServersOf, type McpSecrets } from './agent-mcp-servers.ts';

const SECRETS = { TOKEN: 'value-of-the-token', OTHER: '${TOKEN}' };
const INSIDE: McpSecrets = { values: SECRETS, placed: SECRETS, hosts: new Map() };

describe('servers', () => {
  it('get the secrets that they name, once, in variables and headers alone', async () => {
    const { servers } = await mcpServersOf(
      {
        mcp_servers: {
          local: {
            command: '/opt/tool',
            args: ['${TOKEN}'],
            env: { A: 'x ${TOKEN} ${TOKEN} $TOKEN ${a:-b}', B: '${OTHER}' },
          },
          remote: { url: 'https://mcp.example/${TOKEN}', headers: { Authorization: 'Bearer ${TOKEN}' } },
        },
      },
      INSIDE,
    );
    expect(servers).toEqual([
      {
        name: 'local',
        command: '/opt/tool',
        args: ['${TOKEN}'],
        env: [
          { name: 'A', value: 'x value-of-the-token value-of-the-token $TOKEN ${a:-b}' },
          { name: 'B', value: '${TOKEN}' },
        ],
      },
      {
        type: 'http',
        name: 'remote',
        url: 'https://mcp.example/${TOKEN}',
        headers: [{ name: 'Authorization', value: 'Bearer value-of-the-token' }],
      },
    ]);
  });

  it.each([
    [{ local: { command: 'x', env: { KEY: '${NOWHERE}' } } }, ['env.KEY', '"local"', 'NOWHERE']],
    [
      { remote: { url: 'https://x.example', headers: { Key: 'a ${toString}' } } },
      ['headers.Key', '"remote"', 'toString'],
    ],
  ])('that name what the run has not are refused with all names: %j', async (servers, names) => {
    const refusal = await mcpServersOf({ mcp_servers: servers }, INSIDE).then(
      () => 'taken',
      (error: unknown) => String(error),
    );
    for (const name of names) expect(refusal).toContain(name);
    expect(refusal).not.toContain(SECRETS.TOKEN);
  });

  it.each([
    ['sh', /^\/.*\/sh$/],
    ['no-such-program-here', /^no-such-program-here$/],
    ['./mine/tool', /^\.\/mine\/tool$/],
    ['mine/sh', /^mine\/sh$/],
  ])('begin with %s as %s', async (command, expected) => {
    expect((await mcpServersOf({ mcp_servers: { one: { command } } }, INSIDE)).servers[0]).toMatchObject({
      command: expect.stringMatching(expected),
    });
  });
});

describe('servers over HTTP beside a broker', () => {
  const OUTSIDE: McpSecrets = {
    values: SECRETS,
    placed: { TOKEN: 'placeholder-of-the-token', OTHER: 'other' },
    hosts: new Map([['TOKEN', ['mcp.example', 'other.example:8443']]]),
    newPlaceholder: () => 'new-placeholder',
  };

  it('are at the broker with a placeholder in each secret header, and their secrets are its own', async () => {
    const { servers, routes } = await mcpServersOf(
      {
        mcp_servers: {
          plain: { url: 'https://plain.example/mcp', headers: { 'X-Team': 'red' } },
          named: { url: 'https://mcp.example/a?b=c', headers: { Authorization: 'Bearer ${TOKEN}', 'X-Team': 'red' } },
          literal: { url: 'https://any.example/', headers: { 'X-Api-Key': 'a-literal-credential' } },
          local: { command: '/opt/tool', env: { KEY: '${TOKEN}' } },
        },
      },
      OUTSIDE,
    );
    expect(servers).toEqual([
      { type: 'http', name: 'plain', url: 'https://plain.example/mcp', headers: [{ name: 'X-Team', value: 'red' }] },
      {
        type: 'http',
        name: 'named',
        url: 'http://127.0.0.1:61128/mcp/1',
        headers: [
          { name: 'Authorization', value: 'new-placeholder' },
          { name: 'X-Team', value: 'red' },
        ],
      },
      {
        type: 'http',
        name: 'literal',
        url: 'http://127.0.0.1:61128/mcp/2',
        headers: [{ name: 'X-Api-Key', value: 'new-placeholder' }],
      },
      { name: 'local', command: '/opt/tool', args: [], env: [{ name: 'KEY', value: 'placeholder-of-the-token' }] },
    ]);
    expect(routes).toEqual([
      {
        id: '1',
        name: 'named',
        url: 'https://mcp.example/a?b=c',
        headers: [{ name: 'Authorization', placeholder: 'new-placeholder', value: 'Bearer value-of-the-token' }],
        secrets: ['value-of-the-token', 'Bearer value-of-the-token'],
      },
      {
        id: '2',
        name: 'literal',
        url: 'https://any.example/',
        headers: [{ name: 'X-Api-Key', placeholder: 'new-placeholder', value: 'a-literal-credential' }],
        secrets: ['a-literal-credential'],
      },
    ]);
  });

  it.each(['https://evil.example/', 'https://mcp.example:444/', 'https://other.example/'])(
    'at %s get no secret that is declared for other hosts',
    async (url) => {
      const wanted = { mcp_servers: { one: { url, headers: { A: '${TOKEN}' } } } };
      await expect(mcpServersOf(wanted, OUTSIDE)).rejects.toThrow(/TOKEN goes to mcp.example, other.example:8443 only/);
    },
  );
});

describe('literal values', () => {
  it(
    'are those called like credentials or looking like one, of eight characters and more, of headers also without ' +
      'their scheme, and never a reference',
    () => {
      expect(
        literalSecretsOf({
          mcp_servers: {
            local: {
              command: 'x',
              args: ['an-argument-that-is-long'],
              env: {
                SHORT_KEY: '1234567',
                LONG_KEY: '12345678',
                NODE_ENV: 'production',
                HOME_PAGE: 'https://x.example/a/long/path1',
                FOUND: 'ghx0123456789abcdefABCDEF',
                API_TOKEN: 'a-long-prefix-${TOKEN}-short',
              },
            },
            remote: {
              url: 'https://x.example',
              headers: { Authorization: 'Bearer abcdefgh', Reference: 'Bearer ${TOKEN}' },
            },
          },
        }),
      ).toEqual(['12345678', 'ghx0123456789abcdefABCDEF', 'a-long-prefix-', 'Bearer abcdefgh', 'abcdefgh']);
      expect(literalSecretsOf({})).toEqual([]);
    },
  );

  it('that are too long to be looked for are refused without being repeated', () => {
    expect(() =>
      literalSecretsOf({ mcp_servers: { local: { command: 'x', env: { BIG_KEY: 'y'.repeat(20_000) } } } }),
    ).toThrow(/^env\.BIG_KEY of the MCP server "local" [^y]+y?[^y]*$/);
  });
});
