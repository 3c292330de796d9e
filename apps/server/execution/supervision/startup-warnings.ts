/**
 * What a run's owner should know of the machine and the model before reading its result. explanation: Built-in agent;
 * contract §10.
 */
import { BUILT_IN_HARNESS, COMMAND_HARNESS, modelChoice, type AmbientAgentConfig, type LaunchProfile } from '#agents';
import type { Config } from '../../config/config.ts';
import type { RunEnd } from '#runs';
import { missingGuarantees, type Isolation } from '../executor.ts';

interface Fitted {
  config: AmbientAgentConfig;
  profile?: LaunchProfile;
  sandbox: Isolation;
}

/** Sentences for the beginning of a run's log; none on a machine where nothing is missing. */
export function startupWarnings(fitted: Fitted, config: Config): string[] {
  return [
    ...isolation(fitted.sandbox),
    ...(isDemo(fitted, config) ? ['no model is configured: the demo model answers'] : []),
    ...unheeded(fitted),
  ];
}

/** What the run's configuration says and nothing here can heed. */
function unheeded({ profile, config: { harness, computer_use_enabled: desktop } }: Fitted): string[] {
  const isIgnored = harness?.reasoning_level !== undefined && profile?.id !== BUILT_IN_HARNESS;
  return [
    ...(isIgnored
      ? [`reasoning_level is not heeded: the harness ${profile?.id ?? COMMAND_HARNESS} has no such setting`]
      : []),
    ...(desktop === true ? ['computer_use_enabled is not heeded: there is no desktop here'] : []),
  ];
}

/** A run with the user of the service is no worse off where everything else is kept apart. */
function isolation({ guarantees }: Isolation): string[] {
  const missing = missingGuarantees({ ...guarantees, uid: true });
  return missing.length === 0
    ? []
    : [
        `this run is NOT isolated: ${missing.join('; ')}; install bubblewrap where the service runs ` +
          '(millwright doctor says what else is missing)',
      ];
}

/** The end of a run, with how to get a real model where the demo model answered. */
export function withModelRemark(ending: RunEnd, fitted: Fitted, config: Config): RunEnd {
  if (ending.state !== 'SUCCEEDED' || !isDemo(fitted, config)) return ending;
  return {
    ...ending,
    message:
      'the demo model has answered, because no model is configured; set MILLWRIGHT_AGENT_BASE_URL, ' +
      'MILLWRIGHT_AGENT_MODEL and MILLWRIGHT_AGENT_API_KEY where the service runs, to have a real one',
  };
}

function isDemo({ profile, config: { model_id: model } }: Fitted, { agentEnvironment }: Config): boolean {
  return (
    profile?.id === BUILT_IN_HARNESS &&
    (model === undefined || model === 'demo') &&
    modelChoice(agentEnvironment).kind === 'demo'
  );
}
