/** Whether this machine's clock can be right: it is not before what was written already. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SQLITE_FILE } from './database-check.ts';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, type Remark } from './findings.ts';

/** A second of rounding, and a little for a clock that is being set. */
const TOLERANCE_MS = 60_000;

export function clock({ config: { dataDir }, nowMs }: DoctorTarget): Remark[] {
  const now = nowMs();
  const written = [
    join(dataDir, SQLITE_FILE),
    join(dataDir, `${SQLITE_FILE}-wal`),
    fileURLToPath(import.meta.url),
  ].filter((path) => existsSync(path));
  const latest = Math.max(...written.map((path) => statSync(path).mtimeMs));
  if (now + TOLERANCE_MS < latest)
    return [
      problem(
        `the clock says ${iso(now)}, which is before files of this installation were written (${iso(latest)})`,
        'set the clock, and let it follow time servers (NTP): signatures with a time are refused while it is wrong',
      ),
    ];
  return [ok(`${iso(now)} (UTC); the time zone makes no difference`)];
}

function iso(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
