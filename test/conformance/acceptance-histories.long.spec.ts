/** The same as `acceptance-histories.spec.ts`, with as many histories as a release is judged by. */
await import('./acceptance-histories.spec.ts');
