/** The door of `#runs`: what runs are called, told, allowed to become and allowed to print. */
export * from './types.ts';
export * from './states.ts';
export * from './steering.ts';
export * from './takeover.ts';
export * from './envelope.ts';
export * from './titles.ts';
export * from './identifiers.ts';
export * from './cursors.ts';
export * from './pages.ts';
export * from './requests.ts';
export * from './agent-config.ts';
export * from './injection.ts';
export * from './redaction.ts';
