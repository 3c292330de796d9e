/** The same as `delivery-log.spec.ts`, with ten times the histories. */
await import('./delivery-log.spec.ts');
