/** Which version of Millwright this is. */
import { existsSync, readFileSync } from 'node:fs';

/** The package's file lies two folders up in the source and three in the built program. */
const PLACES = ['../../package.json', '../../../package.json'];

/** Version of the installed package. */
export function version(): string {
  const place = PLACES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  return place === undefined ? 'unknown' : (JSON.parse(readFileSync(place, 'utf8')) as { version: string }).version;
}
