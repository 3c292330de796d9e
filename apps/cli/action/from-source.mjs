// The command without a build, for a Node.js that reads TypeScript by itself.
import { main } from '../main.ts';

process.exitCode = await main(process.argv.slice(2));
