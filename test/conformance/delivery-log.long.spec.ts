/** The same as `delivery-log.spec.ts`, with as many histories as a release is judged by. */
await import('./delivery-log.spec.ts');
