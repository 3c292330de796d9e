#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --max-semi-space-size=8
// The installed command: runs the built program. Node.js reads the size of the young generation only when it starts:
// half of its own saves a busy service 20 MiB, and costs nothing that can be measured.
import { existsSync } from 'node:fs';

const built = new URL('../../dist/apps/cli/main.js', import.meta.url);
if (existsSync(built)) {
  // Without source maps, unless node is told: they take 15 MiB for as long as a service runs and a fifth of its start,
  // and a compiled line is as easily found (NODE_OPTIONS=--enable-source-maps).
  const { main } = await import(built.href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write(
    'millwright: not built yet; run `npm start` or `npm test` once, or `node .ci/tasks.mjs build`\n',
  );
  process.exitCode = 3;
}
