/**
 * Where each secret of a run is: inside as a variable, or outside, with a placeholder in its place. contract §10.4
 * (Declared injections).
 */
import { runSecretFault, type RunSecret } from '#definitions';

export interface SecretPlacement {
  /** Those that are added outside. */
  outside: readonly RunSecret[];
  /** Names of those that a definition wants inside, whatever they are. */
  exposed: ReadonlySet<string>;
}

export type PlacementResult = { ok: true; placement: SecretPlacement } | { ok: false; reason: string };

/** Several lists may name the same secret: what keeps it outside wins over silence, and contradicts `expose`. */
export function placeSecrets(secrets: readonly RunSecret[]): PlacementResult {
  const fault = secrets.map(runSecretFault).find((found) => found !== undefined);
  if (fault !== undefined) return { ok: false, reason: fault.message };
  const outside = secrets.filter(({ host }) => host !== undefined);
  const exposed = new Set(secrets.flatMap(({ name, expose }) => (expose === undefined ? [] : [name])));
  const both = outside.find(({ name }) => exposed.has(name));
  return both === undefined
    ? { ok: true, placement: { outside, exposed } }
    : {
        ok: false,
        reason:
          `the secret ${both.name} is to be inside (expose: env) and outside (host ${both.host}) of the same run; ` +
          'its environment and its own list have to agree',
      };
}

/** What a run has of its secrets as variables: values of those inside, placeholders of those outside. */
export function placedVariables(
  { outside }: SecretPlacement,
  values: Readonly<Record<string, string>>,
  newPlaceholder: () => string,
): Record<string, string> {
  const names = new Set(outside.map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, names.has(name) ? newPlaceholder() : value]),
  );
}
