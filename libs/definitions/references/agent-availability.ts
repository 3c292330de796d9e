/**
 * Whether runs can have the agents and models that files name, on the machine where they are worked on: what is not to
 * be had is told before the first run fails with it. contract §8.4.
 */
import { labelOf } from '#contracts';
import type { AgentDefaults } from '../types.ts';
import { isFaulty, report, type Check } from './check.ts';

/** What runs get on a server. */
export interface AgentsHere {
  /** Harness of a run that names none. */
  harness: string;
  /** Names of the agent that comes with the service. */
  builtIn: ReadonlySet<string>;
  /** It has the demo model and no other. */
  hasDemoModelOnly: boolean;
  /** Harnesses that can be named and not be had → what brings them. */
  missing: ReadonlyMap<string, string>;
  /** Those that can be had. */
  installed: readonly string[];
}

/** The facts as an interface tells them. */
export function agentsHere(
  said:
    | ({ builtIn: readonly string[]; missing: Readonly<Record<string, string>> } & Omit<
        AgentsHere,
        'builtIn' | 'missing'
      >)
    | undefined,
): AgentsHere | undefined {
  return said && { ...said, builtIn: new Set(said.builtIn), missing: new Map(Object.entries(said.missing)) };
}

/** A level of the agent's keys, and those that hold where it says nothing. */
export interface AgentLevels {
  path: string;
  pointer: string;
  own: AgentDefaults;
  /** Of the factory, for what an automation says. */
  inherited?: AgentDefaults | undefined;
}

/** Models that the built-in agent takes for its own. contract §8.6 (Definitions of the hosted format). */
const ITS_OWN = /^(?:demo$|auto$|auto-)/;

/** Tells of what this level names, or makes of what it inherits, and what no run can have. */
export function checkAvailability(check: Check, { path, pointer, own, inherited = {} }: AgentLevels): void {
  const { agentsHere: here } = check.known;
  if (here === undefined) return;
  const harness = own.harness?.type;
  const wayOut = harness === undefined ? undefined : here.missing.get(harness);
  if (wayOut !== undefined) {
    const message =
      `${labelOf(`${pointer}/harness/type`)} ${JSON.stringify(harness)} is not to be had here: a run with it fails; ` +
      `${wayOut}, or name one that is here: ${here.installed.join(', ')}`;
    return report(check, path, `${pointer}/harness/type`, 'harness-missing', message);
  }
  if (['model', 'harness/modelId'].some((key) => isFaulty(check, path, `${pointer}/${key}`))) return;
  if (!here.hasDemoModelOnly || !here.builtIn.has(harness ?? inherited.harness?.type ?? here.harness)) return;
  const named = modelNamed(own, pointer) ?? (harness === undefined ? undefined : modelNamed(inherited));
  if (named === undefined || ITS_OWN.test(named.model)) return;
  const message =
    `the model ${JSON.stringify(named.model)} is not to be had here: the built-in agent has the demo model alone, ` +
    'and a run with another fails; write auto to have the one that there is, or let the operator configure a model ' +
    '(MILLWRIGHT_AGENT_MODEL)';
  report(check, path, named.at ?? `${pointer}/harness/type`, 'model-missing', message);
}

/** Of one level the harness's own model is the more specific. `pointer`: where the level stands in the file checked. */
function modelNamed({ model, harness }: AgentDefaults, pointer?: string): { model: string; at?: string } | undefined {
  const found = harness?.modelId ?? model;
  if (found === undefined) return undefined;
  const key = harness?.modelId === undefined ? '/model' : '/harness/modelId';
  return { model: found, ...(pointer === undefined ? {} : { at: pointer + key }) };
}
