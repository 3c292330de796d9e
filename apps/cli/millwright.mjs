#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --enable-source-maps
// The installed command: runs the built program.
import { existsSync } from 'node:fs';

const built = new URL('../../dist/apps/cli/main.js', import.meta.url);
if (existsSync(built)) {
  const { main } = await import(built.href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write('millwright: not built yet; run `npm start` or `npm test` once, or `node apps/setup.mjs build`\n');
  process.exitCode = 3;
}
