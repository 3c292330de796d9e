/** Where a request may go: addresses people type are checked before anything secret is sent there. contract §1, §11. */
import { isLoopback } from '#client';
import { UsageError } from '../command.ts';

/**
 * A whole http(s) address without user, query or fragment. `subject` is what the message calls it; the text itself is
 * never repeated.
 */
export function readAddress(
  text: string,
  subject: string,
  environment: Readonly<Record<string, string | undefined>>,
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError(`${subject} must be an address that starts with http:// or https://`);
  if (url.username !== '' || url.password !== '') throw new UsageError(`${subject} must hold no user or password`);
  if (url.search !== '' || url.hash !== '') throw new UsageError(`${subject} must hold no query and no fragment`);
  if (url.protocol === 'http:' && !isLoopback(url) && environment['MILLWRIGHT_ALLOW_HTTP'] !== 'true') {
    throw new UsageError(
      `${subject} must be https: keys and tokens would travel readable (MILLWRIGHT_ALLOW_HTTP=true allows it)`,
    );
  }
  return url;
}
