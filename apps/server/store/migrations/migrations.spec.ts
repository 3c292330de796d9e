/** Migrations as the program of before meets them: it goes on beside the new one. contract §1.8 (Upgrades). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { breakingReason, type SchemaStep } from '#management';
import { MIGRATIONS } from '../database/migrations.ts';
import { ShortDecisions1700000000020 } from './0020-short-decisions.ts';

type MigrationClass = (new () => MigrationInterface) & SchemaStep;

/** Since then a database says who can use it; those of before were for one version at a time. */
const SINCE = 1_700_000_000_011;

const numberOf = ({ name }: SchemaStep): number => Number(/\d{13}$/.exec(name)?.[0]);

/** What a migration would say to an empty database of this kind. */
async function statementsOf(migration: MigrationClass, dialect: 'sqlite' | 'postgres'): Promise<string[]> {
  const said: string[] = [];
  const type = dialect === 'sqlite' ? 'better-sqlite3' : 'postgres';
  const runner = {
    dataSource: { options: { type } },
    query: async (text: string) => {
      said.push(text);
      return [];
    },
  };
  await new migration().up(runner as unknown as QueryRunner);
  return said;
}

describe.each(['sqlite', 'postgres'] as const)('a migration on %s', (dialect) => {
  const all = MIGRATIONS as readonly MigrationClass[];

  it.each(all.filter((one) => numberOf(one) >= SINCE).map((one) => [one.name, one] as const))(
    '%s only adds, or says from which one on programs can use what it leaves',
    async (_name, migration) => {
      const reason = breakingReason(await statementsOf(migration, dialect));
      // What takes something away names itself at most: who knows it has stopped to use that before.
      if (reason === undefined || migration.oldestReader !== undefined) return;
      throw new Error(`${migration.name} ${reason}; add first, take away in the next version (static oldestReader)`);
    },
  );

  it('asks for no program that is newer than itself', async () => {
    for (const one of all) {
      const said = (await statementsOf(one, dialect)).map((text) =>
        /^UPDATE schema_reader SET oldest = (\d+)/.exec(text),
      );
      const oldest = [one.oldestReader ?? 0, ...said.map((found) => Number(found?.[1] ?? 0))];
      expect(Math.max(...oldest) + 1_700_000_000_000).toBeLessThanOrEqual(numberOf(one));
    }
  });
});

it('no statement of the store selects columns without naming them: a newer program may add some', () => {
  const folder = join(import.meta.dirname, '..');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !/^(backup|migrations)\//.test(file),
  );
  expect(files.length).toBeGreaterThan(50);
  const found = files.filter((file) =>
    /(SELECT|RETURNING) \* ?(FROM \w+|[`'"])(?!\(|\w)(?<!FROM unnest)/.test(readFileSync(join(folder, file), 'utf8')),
  );
  expect(found).toEqual([]);
});

it('programs that cannot read short decisions are kept from a SQLite file that may hold them', async () => {
  const said = await statementsOf(ShortDecisions1700000000020, 'sqlite');
  expect(said).toEqual(['UPDATE schema_reader SET oldest = 20 WHERE oldest < 20']);
  expect(await statementsOf(ShortDecisions1700000000020, 'postgres')).toEqual([]);
});
