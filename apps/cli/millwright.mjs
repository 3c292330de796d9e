#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --enable-source-maps
// The installed command: runs the built program.
import { main } from '../../dist/apps/cli/main.js';

process.exitCode = await main(process.argv.slice(2));
