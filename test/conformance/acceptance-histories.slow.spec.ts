/** The same as `acceptance-histories.spec.ts`, with ten times the histories. */
await import('./acceptance-histories.spec.ts');
