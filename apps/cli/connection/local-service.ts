/** The service of this machine, found by what it left in its data folder. contract §11.8. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isLoopback } from '#client';
import type { CliIo } from '../command.ts';

const DEFAULT_DATA_DIR = '.millwright';

/** The data folder that is meant in this place. */
export function dataFolder({ environment, cwd }: Pick<CliIo, 'environment' | 'cwd'>): string {
  const named = environment['MILLWRIGHT_DATA_DIR'] ?? '';
  return resolve(cwd, named === '' ? DEFAULT_DATA_DIR : named);
}

/**
 * Address of the service that runs on the data folder; undefined where none does. Only addresses of this machine count:
 * a folder that came with a repository must not send keys elsewhere.
 */
export function localService(io: Pick<CliIo, 'environment' | 'cwd'>): URL | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(resolve(dataFolder(io), 'service.json'), 'utf8')) as Partial<
      Record<'url' | 'pid', unknown>
    >;
    if (typeof url !== 'string' || !Number.isInteger(pid) || !isAlive(Number(pid))) return undefined;
    const found = new URL(url);
    const isPlain = found.username === '' && found.password === '' && found.pathname === '/';
    return isPlain && /^https?:$/.test(found.protocol) && isLoopback(found) ? found : undefined;
  } catch {
    return undefined; // no service, or none that can be told from here
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}
