/**
 * What agents are told of MCP servers: where their programs are, which secrets they get, and what is refused; and which
 * values are kept out of logs.
 */
import { literalSecretsOf, mcpServersOf } from './agent-mcp-servers.ts';

const SECRETS = { TOKEN: 'value-of-the-token', OTHER: '${TOKEN}' };

describe('servers', () => {
  it('get the secrets that they name, once, in variables and headers alone', async () => {
    const servers = await mcpServersOf(
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
      SECRETS,
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
    const refusal = await mcpServersOf({ mcp_servers: servers }, SECRETS).then(
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
    expect((await mcpServersOf({ mcp_servers: { one: { command } } }, {}))[0]).toMatchObject({
      command: expect.stringMatching(expected),
    });
  });
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
