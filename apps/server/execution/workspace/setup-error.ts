/** A run that cannot be started as it is asked for. contract 3 (environment_setup_failed). */

/** `message` tells the run's owner what to do; it holds no secret. */
export class SetupError extends Error {}
