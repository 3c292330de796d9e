/** What build servers run of ours holds no secret and asks for none. contract §2.4 (Exchange). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ciFile, CI_HOSTS } from '../starter/ci-jobs.ts';

const OWN = { version: '1.2.3', sha256: 'a'.repeat(64), text: '', scripts: {} } as never;

const shipped = readdirSync(import.meta.dirname)
  .filter((name) => /\.(yml|md)$/.test(name))
  .map((name) => [name, readFileSync(join(import.meta.dirname, name), 'utf8')] as const);
const written = CI_HOSTS.flatMap((host) =>
  host === 'none'
    ? []
    : [undefined, OWN].map(
        (own) => [`init --ci ${host} (${own ? 'file' : 'checkout'})`, ciFile(host, own).text] as const,
      ),
);

describe('a workflow of ours', () => {
  it.each([...shipped, ...written])('%s holds no secret and names none', (_name, text) => {
    expect(text).not.toMatch(/\bsecrets\.|mw_|API_KEY|PASSWORD/);
  });

  // Jobs of Gitea have none.
  it.each(written.filter(([name]) => !name.includes('gitea')))('%s lets its job have a token', (_name, text) => {
    expect(text).toMatch(
      /^ {2}id-token: write$|^ {2}id_tokens:\n {4}MILLWRIGHT_ID_TOKEN:\n {6}aud: \$MILLWRIGHT_SERVER$/m,
    );
  });
});
