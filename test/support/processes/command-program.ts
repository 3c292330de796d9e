/**
 * Starts one command in the best sandbox as a service of its own would: argument 1 is its data folder, argument 2 the
 * script.
 */
import { sandboxHere, startSandboxed } from '../agents/sandboxed-command.ts';
import type { SandboxKind } from '../../../apps/server/execution/sandbox/sandboxes.ts';

const [kind = 'bare', base = '', script = ''] = process.argv.slice(2);
const sandbox = await sandboxHere(kind as SandboxKind);
if (sandbox === undefined) throw new Error(`the sandbox ${kind} does not work here`);
const command = await startSandboxed(sandbox, base, { script });
await command.finished;
console.log(command.text('stdout'));
