/** Whether what this program runs on has what the client needs. */
import { MillwrightError } from './errors.ts';

/** The oldest Node.js that is served. */
const NODE_OLDEST = 20;

/** Versions of a runtime, as `process.versions` has them; other runtimes than Node.js name themselves there. */
export type RuntimeVersions = Readonly<Record<string, string | undefined>>;

/** Throws MillwrightError that says which Node.js is needed, where this is an older one. */
export function checkRuntime(versions: RuntimeVersions | undefined = ownVersions()): void {
  const node = versions?.['node'];
  if (node === undefined || versions?.['bun'] !== undefined || versions?.['deno'] !== undefined) return;
  if (Number.parseInt(node, 10) >= NODE_OLDEST) return;
  throw new MillwrightError(`@millwright/client needs Node.js ${NODE_OLDEST} or newer; this is Node.js ${node}`);
}

function ownVersions(): RuntimeVersions | undefined {
  try {
    return (globalThis as { process?: { versions?: RuntimeVersions } }).process?.versions;
  } catch {
    return undefined;
  }
}
