/** What is said of a secret whose value was written into a file; the words never hold it. contract §8.4. */
import type { RuleId } from '../rules/rules.ts';
import { secretLikeness } from './secret-likeness.ts';

/** Keys that hold values of secrets in other programs. */
const VALUE_KEYS: ReadonlySet<string> = new Set(
  (
    'secret token password passwd passphrase secretvalue signingsecret webhooksecret sharedsecret apikey apitoken ' +
    'accesstoken authtoken bearer bearertoken privatekey clientsecret value'
  ).split(' '),
);

/** Whether a key that no file has was meant to hold the value of a secret. */
export function isSecretValueKey(key: string): boolean {
  return VALUE_KEYS.has(key.replace(/[-_ ]/g, '').toLowerCase());
}

const SET = 'give it its value with "millwright secrets set NAME"';
const REPLACE = '; replace this value: whoever reads the repository has it';

/** A key that holds a value; `nameKey` is the one that names a secret in its place. */
export function valueKeyWords(label: string, value: unknown, nameKey: string): string {
  const isValue = typeof value === 'string' && secretLikeness(value) !== undefined;
  return (
    `${label} is no key, for files hold no values of secrets; write ${nameKey} with the name of a secret, and ${SET}` +
    (isValue ? REPLACE : '')
  );
}

/** What is wrong with the name of a secret that looks like its value. */
export function secretNameDoubt(label: string, name: string): [rule: RuleId, message: string] | undefined {
  const likeness = secretLikeness(name);
  if (likeness === undefined) return undefined;
  return likeness.kind === 'issued'
    ? ['secret-value', `${label} is ${likeness.what} where a name belongs; name a secret, and ${SET}${REPLACE}`]
    : [
        'secret-value-suspected',
        `${label} looks like the value of a secret where a name belongs; if it is one, name a secret, and ${SET}` +
          REPLACE,
      ];
}
