/** The same as `acceptance-calls.slow.spec.ts`, with as many histories as a release is judged by. */
await import('./acceptance-calls.slow.spec.ts');
