#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// The installed command: runs the built program.
import { existsSync } from 'node:fs';

const built = new URL('../../dist/apps/cli/main.js', import.meta.url);
if (existsSync(built)) {
  // Reading a map for every module takes as long as checking a small factory: `validate` goes without.
  if (process.argv[2] !== 'validate') process.setSourceMapsEnabled(true);
  const { main } = await import(built.href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write(
    'millwright: not built yet; run `npm start` or `npm test` once, or `node .ci/tasks.mjs build`\n',
  );
  process.exitCode = 3;
}
