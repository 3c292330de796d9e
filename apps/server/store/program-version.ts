/** Which program this is: its version, and what it expects of the database. contract §1. */
import { existsSync, readFileSync } from 'node:fs';
import { MIGRATION_NAMES } from './database/migrations.ts';

/** The package's file lies three folders up in the source and four in the built program. */
const PLACES = ['../../../package.json', '../../../../package.json'];

/**
 * Version of the package, and the last migration that it knows: two builds of one version may differ in what they
 * expect of the database.
 */
export function programVersion(): string {
  const place = PLACES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  const { version } =
    place === undefined ? { version: 'unknown' } : (JSON.parse(readFileSync(place, 'utf8')) as { version: string });
  return `${version}/${MIGRATION_NAMES.at(-1) ?? ''}`;
}
