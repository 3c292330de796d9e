/** Whether a service runs on the data folder, whether one could listen at the port, and whether the clocks agree. */
import { createServer } from 'node:net';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDataFolderUsed, sqliteFileOf } from '../process/data-folder.ts';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, type Remark } from './findings.ts';

export async function service({ config: { dataDir, port, host, publicUrl } }: DoctorTarget): Promise<Remark[]> {
  if (isDataFolderUsed(dataDir))
    return [ok(`a service runs on this data folder; it should answer at ${publicUrl}/ (--server URL asks it)`)];
  const code = await refusal(port, host);
  if (code === undefined) return [ok(`no service runs on this data folder; port ${port} is free for one`)];
  if (code === 'EADDRINUSE')
    return [
      problem(
        `no service runs on this data folder, and another program has port ${port}`,
        'stop that program, or set MILLWRIGHT_PORT',
      ),
    ];
  if (code === 'EACCES')
    return [problem(`this user may not open port ${port}`, 'set MILLWRIGHT_PORT to one above 1023')];
  return [
    problem(
      `no service could listen at MILLWRIGHT_HOST, port ${port} (${code})`,
      'set MILLWRIGHT_HOST to an address of this machine',
    ),
  ];
}

/** Why nobody can listen there now; undefined: one can. */
function refusal(port: number, host: string): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'unknown'));
    server.listen({ port, host, exclusive: true }, () => server.close(() => done(undefined)));
  });
}

/** A second of rounding, and a little for a clock that is being set. */
const TOLERANCE_MS = 60_000;

export function clock({ config: { dataDir }, nowMs }: DoctorTarget): Remark[] {
  const now = nowMs();
  const written = [sqliteFileOf(dataDir), `${sqliteFileOf(dataDir)}-wal`, fileURLToPath(import.meta.url)].filter(
    (path) => existsSync(path),
  );
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
