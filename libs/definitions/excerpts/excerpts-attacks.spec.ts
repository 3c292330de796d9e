/**
 * Texts in which somebody has written a secret where it does not belong: whichever line a problem points at, and
 * wherever in a file they stand, no excerpt shows it. contract §2.
 */
import { withExcerpts, type Problem } from '../index.ts';

const MARKDOWN = 'automations/a/automation.md';

const TEXTS: [name: string, text: string, ...secrets: string[]][] = [
  ['password plain', 'env:\n  DB_PASSWORD: hunter2\n', 'hunter2'],
  ['PASS key', 'env:\n  DB_PASS: hunter2hunter2\n', 'hunter2hunter2'],
  ['passwort', 'env:\n  PASSWORT: correcthorse\n', 'correcthorse'],
  ['dsn', 'env:\n  DATABASE_URL: postgres://user:pa55w0rd@db/x\n', 'pa55w0rd'],
  ['dsn pw with slash', 'env:\n  DATABASE_URL: postgres://user:pa/55w0rd@db/x\n', 'pa/55w0rd'],
  ['dsn pw with @', 'env:\n  DATABASE_URL: postgres://user:p@55w0rd@db/x\n', '55w0rd'],
  ['connection string pwd;', 'env:\n  CONN: Server=db;User Id=sa;Password=Geheim!1;Database=x\n', 'Geheim!1'],
  ['connection string Pwd', 'env:\n  CONN: "Server=db;Uid=sa;Pwd=Geheim!1"\n', 'Geheim!1'],
  [
    'azure AccountKey',
    'env:\n  C: DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcDEF123+/==;EndpointSuffix=core\n',
    'abcDEF123+/==',
  ],
  ['SAS sig', 'env:\n  U: https://a.blob.core.windows.net/c?sv=2020&sig=aBcD1234eFgH%2BxY%3D\n', 'aBcD1234eFgH'],
  ['url ?auth=', 'u: https://x.example/h?auth=s3cr3tvalue\n', 's3cr3tvalue'],
  ['url ?code=', 'u: https://x.azurewebsites.net/api/f?code=Qx1Yz2Ab3Cd4Ef5==\n', 'Qx1Yz2Ab3Cd4Ef5'],
  ['url ?api_key', 'u: https://x.example/h?api_key=abc123def\n', 'abc123def'],
  ['curl -u', 'setup:\n  - curl -u admin:hunter2 https://x\n', 'hunter2'],
  ['curl --user', 'setup:\n  - curl --user admin:hunter2 https://x\n', 'hunter2'],
  ['mysql -phunter2', 'setup:\n  - mysql -uroot -phunter2 db\n', 'hunter2'],
  ['sshpass -p', 'setup:\n  - sshpass -p hunter2 ssh x\n', 'hunter2'],
  ['docker login -p', 'setup:\n  - docker login -u bob -p hunter2zz\n', 'hunter2zz'],
  ['echo | pipe', 'setup:\n  - echo hunter2zz | docker login --password-stdin\n', 'hunter2zz'],
  ['export PGPASSWORD', 'setup:\n  - export PGPASSWORD=hunter2zz; psql\n', 'hunter2zz'],
  ['export quoted spaces', 'setup:\n  - export TOKEN="two words here" && x\n', 'words here'],
  ['PAT key', 'env:\n  MY_PAT: abcdefgh12345\n', 'abcdefgh12345'],
  ['basic auth header', 'headers:\n  X-Auth: Zm9vOmJhcmJheg==\n', 'Zm9vOmJhcmJheg=='],
  ['Authorization Basic', 'headers:\n  Authorization: Basic Zm9vOmJhcmJheg==\n', 'Zm9vOmJhcmJheg=='],
  ['auth key', 'auth: hunter2hunter\n', 'hunter2hunter'],
  ['creds', 'creds: bob/hunter2hunter\n', 'hunter2hunter'],
  ['pin', 'pin: 84920174\n', '84920174'],
  ['seed phrase', 'mnemonic: abandon ability able about above absent\n', 'abandon ability'],
  ['block scalar', 'secret: |\n  line one hidden\n  line two hidden\nnext: 1\n', 'line one hidden', 'line two hidden'],
  ['block scalar blank-line inside', 'token: |\n  aaa\n\n  bbbhidden\nnext: x\n', 'bbbhidden'],
  ['flow map', 'env: {A: 1, DB_PASSWORD: hunter2, B: 2}\n', 'hunter2'],
  ['flow map quoted comma', 'env: {DB_PASSWORD: "hun,ter2", B: 2}\n', 'ter2'],
  ['plain scalar in flow w/ spaces', 'env: {DB_PASSWORD: two words, B: 2}\n', 'words'],
  ['multi-line plain', 'password:\n  hunter2hunter\nx: 1\n', 'hunter2hunter'],
  ['multi-line double quoted no indent', 'password: "abc\nhunter2rest"\nx: 1\n', 'hunter2rest'],
  ['multi-line single quoted same indent in flow', "env: {password: 'abc\nhunter2rest'}\nx: 1\n", 'hunter2rest'],
  ['explicit key', '? password\n: hunter2hunter\n', 'hunter2hunter'],
  ['anchor', 'password: &p hunter2hunter\n', 'hunter2hunter'],
  ['name/value env list', 'env:\n  - name: DB_PASSWORD\n    value: hunter2hunter\n', 'hunter2hunter'],
  ['name/value inline', 'env:\n  - {name: DB_PASSWORD, value: hunter2hunter}\n', 'hunter2hunter'],
  ['value before name', 'env:\n  - value: hunter2hunter\n    name: DB_PASSWORD\n', 'hunter2hunter'],
  ['key=value list', 'env:\n  - DB_PASSWORD=hunter2hunter\n', 'hunter2hunter'],
  ['commented', '# old password was hunter2hunter\nx: 1\n', 'hunter2hunter'],
  ['prose markdown', 'Login with the password hunter2hunter at x.\n', 'hunter2hunter'],
  ['prose colon', 'The password is: hunter2hunter\n', 'hunter2hunter'],
  ['markdown table', '| user | password |\n|---|---|\n| bob | hunter2hunter |\n', 'hunter2hunter'],
  ['markdown bold', '**Password:** hunter2hunter\n', 'hunter2hunter'],
  ['markdown code', 'Use `password` `hunter2hunter`\n', 'hunter2hunter'],
  ['md bullet', '* Password: hunter2hunter\n', 'hunter2hunter'],
  ['md bullet + quote', '> password: hunter2hunter\n', 'hunter2hunter'],
  [
    'markdown fence ini',
    '```\n[default]\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n```\n',
    'wJalrXUtnFEMI',
  ],
  ['aws secret bare', 'x: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n', 'wJalrXUtnFEMI'],
  [
    'slack webhook',
    'u: https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX\n',
    'XXXXXXXXXXXXXXXXXXXXXXXX',
  ],
  [
    'discord webhook',
    'u: https://discord.com/api/webhooks/123456789012345678/abcdefABCDEF-123_456\n',
    'abcdefABCDEF-123_456',
  ],
  [
    'teams webhook',
    'u: ' +
      'https://x.webhook.office.com/webhookb2/0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f@0a1b2c3d-0000-4000-8000-0a1b' +
      '2c3d4e5f/IncomingWebhook/3f2e1d0c9b8a7f6e5d4c3b2a19080706/0a1b\n',
    '3f2e1d0c9b8a7f6e',
  ],
  [
    'telegram bot',
    'u: https://api.telegram.org/bot123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc/sendMessage\n',
    'AAEhBOweik6ad9r_QXMENQjcrGbqCr4K',
  ],
  ['hex16', 'x: 9f86d081884c7d65\n', '9f86d081884c7d65'],
  ['hex 31', 'x: 9f86d081884c7d659a2feaa0c55ad01\n', '9f86d081884c7d659a2feaa0c55ad01'],
  ['base32 TOTP', 'otp: JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP\n', 'JBSWY3DPEHPK3PXP'],
  ['jwt', 'x: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123\n', 'abc-DEF_123'],
  ['jwt broken line', 'x: >\n  eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.\n  abc-DEF_123ghi\n', 'abc-DEF_123ghi'],
  ['google oauth secret', 'x: GOCSPX-abcdefghijklmnopqrst\n', 'GOCSPX-abcdefghijkl'],
  ['stripe sk_live', 'x: sk_live_abcdefgh1234\n', 'abcdefgh1234'],
  ['anthropic', 'x: sk-ant-api03-abcd\n', 'api03-abcd'],
  ['vault token', 'x: hvs.CAESIJabcdefghij\n', 'CAESIJabcdefghij'],
  ['age key', 'x: AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ\n', '1QQQQQQQQQ'],
  ['digitalocean', 'x: dop_v1_abcdef0123456789\n', 'abcdef0123456789'],
  ['sendgrid', 'x: SG.abcdefg.hijklmn\n', 'hijklmn'],
  ['mailgun', 'x: key-3ax6xnjp29jd6fds4gc373sgvjxteol0\n', '3ax6xnjp29jd6fds4gc373sgvjxteol0'],
  ['linear', 'x: lin_api_abcdefghijklmnop\n', 'abcdefghijklmnop'],
  ['notion', 'x: ntn_abcdefghijklm123\n', 'abcdefghijklm123'],
  ['grafana', 'x: glsa_abcdEFGH1234\n', 'abcdEFGH1234'],
  ['atlassian', 'x: ATATT3xFfGF0abcd\n', 'ATATT3xFfGF0abcd'],
  ['sentry dsn', 'x: https://examplePublicKey@o0.ingest.sentry.io/0\n', 'examplePublicKey'],
  [
    'pem partial (error in middle, begin >200 lines above)',
    `k: |\n  -----BEGIN RSA PRIVATE KEY-----\n${'  MIIEowIBAAKCAQEAabcdefgh\n'.repeat(210)}  -----END RSA ` +
      `PRIVATE KEY-----\n`,
    'MIIEowIBAAKCAQEAabcdefgh',
  ],
  [
    'pem in quoted string \\n',
    'k: "-----BEGIN PRIVATE KEY-----\\nMIIEvabcd\\n-----END PRIVATE KEY-----"\n',
    'MIIEvabcd',
  ],
  [
    'pgp line',
    'k: |\n  -----BEGIN PGP PRIVATE KEY BLOCK-----\n\n  lQdGBGabcdefgh\n  =abcd\n  -----END PGP PRIVATE KEY ' +
      'BLOCK-----\n',
    'lQdGBGabcdefgh',
  ],
  ['putty', 'k: |\n  Private-Lines: 2\n  AAAAgQDabcd\n', 'AAAAgQDabcd'],
  ['npmrc', 'f: |\n  //packages.example.com/:_authToken=abcd1234efgh\n', 'abcd1234efgh'],
  ['npmrc _auth', 'f: |\n  _auth=Ym9iOmh1bnRlcg==\n', 'Ym9iOmh1bnRlcg=='],
  ['netrc', 'f: |\n  machine x login bob password hunter2hunter\n', 'hunter2hunter'],
  ['json docker auths', 'f: |\n  {"auths":{"x":{"auth":"Ym9iOmh1bnRlcg=="}}}\n', 'Ym9iOmh1bnRlcg=='],
  ['secret_name harmless w/ pasted value', 'webhook:\n  secret_name: hunter2-really-value9\n', 'hunter2-really-value9'],
  ['secrets: list pasted', 'secrets:\n  - hunter2hunter\n', 'hunter2hunter'],
  ['secrets: map pasted', 'secrets:\n  FOO: hunter2hunter\n', 'hunter2hunter'],
  ['tokens:', 'tokens: hunter2hunter\n', 'hunter2hunter'],
  ['hidden unicode in key', 'pass\u200bword: hunter2hunter\n', 'hunter2hunter'],
  ['unicode-escaped quoted key', '"pass\\u0077ord": hunter2hunter\n', 'hunter2hunter'],
  ['key with spaces', '"db password": hunter2hunter\n', 'hunter2hunter'],
  ['key with slash', 'db/password: hunter2hunter\n', 'hunter2hunter'],
  ['long indent >1000 chars', `${' '.repeat(1001)}password: hunter2hunter\n`, 'hunter2hunter'],
  ['deep list dash', '- - - password: hunter2hunter\n', 'hunter2hunter'],
  ['tab before', '\tpassword: hunter2hunter\n', 'hunter2hunter'],
  ['CR only line break', 'x: 1\rpassword: hunter2hunter\rz: 1\n', 'hunter2hunter'],
  ['no colon space error', 'password hunter2hunter\n', 'hunter2hunter'],
  ['password; wrong separator', 'password => hunter2hunter\n', 'hunter2hunter'],
  ['typo passwrod', 'passwrod: hunter2hunter\n', 'hunter2hunter'],
  [
    'webhook token url',
    'u: https://mw.example/webhooks/w/wh_abc/3f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c\n',
    '3f9a8b7c6d5e4f3a',
  ],
  ['cookie header', 'h: "Cookie: session=abcdefghijk"\n', 'abcdefghijk'],
  ['Set secret as arg list', 'args: ["--password", "hunter2hunter"]\n', 'hunter2hunter'],
  ['args split lines non adjacent', 'args:\n  - --password\n  # c\n  - hunter2hunter\n', 'hunter2hunter'],
  ['args flow multi-line', 'args: ["--password",\n  "hunter2hunter"]\n', 'hunter2hunter'],
  ['continuation backslash', 'run: |\n  curl --password \\\n    hunter2hunter x\n', 'hunter2hunter'],
  ['value beyond comma', 'password: a,hunter2hunter\n', 'hunter2hunter'],
  ['inner value beyond comma', 'run: tool password=abc,hunter2hunter\n', 'hunter2hunter'],
  ['inner single unclosed quote', "run: tool password='abc def hunter2hunter\n", 'hunter2hunter'],
  ['double-nested yaml string', 'x: "{\\"password\\": \\"hunter2hunter\\"}"\n', 'hunter2hunter'],
  [
    'merge long line - secret truncated at 1000',
    'x: a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a password: hunter2hunter\n',
    'hunter2hunter',
  ],
  ['block under list item 200+ lines above', `token: |\n${'  hunter2hunter\n'.repeat(300)}`, 'hunter2hunter'],
];

/** How a text may stand in a file. */
const PLACES: [path: string, frame: (text: string) => string][] = [
  ['webhooks/a.yaml', (text) => text],
  ['environments/a.yaml', (text) => `description: x\nsecrets:\n  - name: TOKEN\nsetupCommands:\n${indented(text, 2)}`],
  [MARKDOWN, (text) => `---\n${text}---\nDo it.\n`],
  [MARKDOWN, (text) => `---\n${text}`],
  [MARKDOWN, (text) => `---\ntriggers: []\n---\n${text}`],
  [MARKDOWN, (text) => text],
  [MARKDOWN, (text) => `---\nmcpServers:\n  docs:\n    command: x\n${indented(text, 4)}---\nx\n`],
  [
    MARKDOWN,
    (text) => `---\ntriggers:\n  - provider: webhook\n    filter:\n      payload:\n${indented(text, 8)}---\nx\n`,
  ],
];

it.each(TEXTS)('%s', (_name, text, ...secrets) => {
  for (const [path, frame] of PLACES) {
    const file = frame(text);
    const problems = file.split('\n').map((_, index): Problem => ({
      path,
      line: index + 1,
      column: 1,
      severity: 'error',
      rule: 'unknown-key',
      code: 'FF_X',
      message: 'm',
    }));
    const shown = problems.flatMap(
      (problem) =>
        withExcerpts([problem], { readFiles: new Map([[path, { text: file, reading: undefined }]]) })[0]?.excerpt
          ?.lines ?? [],
    );
    expect(shown.length).toBeGreaterThan(0);
    for (const secret of secrets)
      expect({ path, file, shown: shown.filter((line) => line.includes(secret)) }).toEqual({ path, file, shown: [] });
  }
});

function indented(text: string, columns: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(columns));
}
