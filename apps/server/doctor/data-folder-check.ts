/** The folder of the service's data and the disk below it, also where it is still to be made. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DoctorTarget } from './doctor.ts';
import { megabytes, ok, problem, warning, type Remark } from './findings.ts';

/** A reserve and so much more: below it the first large run meets the reserve. */
const COMFORT_BYTES = 1_024 * 1_048_576;

const ELSEWHERE = 'set MILLWRIGHT_DATA_DIR to a folder of the user that runs the service';

export function dataFolder({ config: { dataDir } }: DoctorTarget): Remark[] {
  if (!existsSync(dataDir)) return [toBeMade(dataDir)];
  if (!statSync(dataDir).isDirectory()) return [problem(`${dataDir} is no folder`, ELSEWHERE)];
  const refused = refusal(dataDir);
  if (refused !== undefined) return [problem(`${dataDir} cannot be written by this user (${refused})`, ELSEWHERE)];
  const others = statSync(dataDir).mode & 0o077;
  if (others !== 0)
    return [
      warning(
        `${dataDir} is open to other users of this machine`,
        `run: chmod 700 ${dataDir} (the start of the service does it too)`,
      ),
    ];
  return [ok(`${dataDir}, for this user only`)];
}

function toBeMade(folder: string): Remark {
  const parent = existing(folder);
  if (!statSync(parent).isDirectory())
    return problem(`${folder} cannot be made, because ${parent} is no folder`, ELSEWHERE);
  const refused = refusal(parent);
  if (refused !== undefined)
    return problem(
      `${folder} cannot be made, because ${parent} cannot be written by this user (${refused})`,
      ELSEWHERE,
    );
  return ok(`${folder} will be made at the first start`);
}

function refusal(folder: string): string | undefined {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

/** Free space against the reserve that the service keeps. */
export async function disk({ config: { dataDir, diskReserveBytes } }: DoctorTarget): Promise<Remark[]> {
  const { bavail, bsize, files, ffree } = await statfs(existing(dataDir));
  const free = bavail * bsize;
  const reserve = megabytes(diskReserveBytes);
  const room =
    'free some space (folders of ended runs lie in runs/ of the data folder), or set MILLWRIGHT_DATA_DIR to a larger disk';
  if (files > 0 && ffree === 0) return [problem('the disk of the data folder can hold no more files', room)];
  if (free < diskReserveBytes)
    return [
      problem(
        `${megabytes(free)} are free, less than the reserve of ${reserve} (MILLWRIGHT_DISK_RESERVE_MB): deliveries are answered 503`,
        room,
      ),
    ];
  if (free < diskReserveBytes + COMFORT_BYTES)
    return [warning(`${megabytes(free)} are free, not much more than the reserve of ${reserve}`, room)];
  return [ok(`${megabytes(free)} are free; the service keeps a reserve of ${reserve}`)];
}

/** The folder itself, or the nearest one above it that is there. */
function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}
