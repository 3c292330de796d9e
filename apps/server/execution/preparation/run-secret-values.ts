/** Values of the secrets that a run names, or why it cannot have them. contract §2.2 (Managed secrets). */
import { isInjectableEnvName, isInjectableValue } from '#isolation';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';
import { SetupError } from '../executor.ts';
import type { RunEnvironment } from './environments.ts';

/**
 * Whoever asks for a run can have its agent tell what is inside: what files name for it may be used from outside.
 * Throws SetupError.
 */
export async function requireInside(
  reader: Pick<SecretReader, 'givenToRequests'>,
  { factoryUid, automationUid }: Pick<ClaimedRun, 'factoryUid' | 'automationUid'>,
  inside: readonly string[],
): Promise<void> {
  if (factoryUid === undefined || automationUid !== undefined) return;
  const given = await reader.givenToRequests(factoryUid, inside);
  const name = inside.find((one) => !given.has(one));
  if (name !== undefined)
    throw new SetupError(
      `the secret ${name} would be inside this run, where whoever asked for the run can have it told; let its ` +
        'definition add it to requests outside of the sandbox (host and header), have the run started by an ' +
        `automation, or let runs of requests have it (millwright secrets grant ${name} --runs '*')`,
    );
}

/**
 * Named secrets as environment variables of the agent's process; one that is not granted looks like one that does not
 * exist.
 */
export async function secretsOf(
  reader: SecretReader,
  { factoryUid, automationUid }: ClaimedRun,
  environment: RunEnvironment | undefined,
  names: readonly string[],
): Promise<Record<string, string>> {
  const named = environment && { name: environment.name, secretNames: environment.secrets.map(({ name }) => name) };
  const values =
    factoryUid === undefined
      ? new Map<string, Uint8Array>()
      : await reader.valuesForRun({ factoryUid, automationUid, environment: named }, names);
  return Object.fromEntries(
    names.map((name): [string, string] => {
      const value = values.get(name);
      if (value === undefined || !isInjectableEnvName(name))
        throw new SetupError(
          `the secret ${name} cannot be given to this run: it must exist, be granted for runs and be named ` +
            'like an environment variable, and a file of the factory must name it for this run (its automation, its ' +
            'environment or factory.yaml), unless it is granted to requests too (grants.runs)',
        );
      const text = Buffer.from(value).toString('utf8');
      if (!isInjectableValue(text))
        throw new SetupError(
          `the secret ${name} cannot be given to this run: only values of 8 characters to 16 KiB can be kept ` +
            'out of its log',
        );
      return [name, text];
    }),
  );
}
