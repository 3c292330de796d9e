/** The program: an ACP agent on standard input and output, configured by its environment. Ends with its input. */
import { existsSync, readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { serveAgent } from './agent.ts';
import { readConfig } from './config/config.ts';
import { captureConsole, oneLine, say } from './diagnostics.ts';
import { fetchOf } from './model/fetch.ts';

/** Milliseconds until the program ends although something that it started does not. */
const SHUTDOWN_MS_MAX = 8_000;

/** Characters of a fault's text on stderr. */
const FAULT_LENGTH_MAX = 200;

const EXIT_FAULT = 70;

captureConsole();
// It would print about settings that a provider does not know, for each call.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

const config = readConfig(process.env);
if (!config.ok) for (const problem of config.problems) say(problem);

const stream = ndJsonStream(
  Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
  Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
);
const served = serveAgent(stream, { config, fetch: await fetchOf(process.env), version: version() });

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => served.connection.close());
process.on('uncaughtException', (error) => void end(EXIT_FAULT, `fault: ${oneLine(error.message, FAULT_LENGTH_MAX)}`));
process.on('unhandledRejection', (reason) =>
  say(`fault: ${oneLine(reason instanceof Error ? reason.message : typeof reason, FAULT_LENGTH_MAX)}`),
);

await served.connection.closed;
await end(0);

async function end(code: number, lastWords?: string): Promise<void> {
  if (lastWords !== undefined) say(lastWords);
  setTimeout(() => process.exit(code), SHUTDOWN_MS_MAX).unref();
  await served.shutdown().catch(() => undefined);
  process.exit(code);
}

/** The package's file lies two folders up in the source and three in the built program. */
function version(): string {
  const place = ['../../package.json', '../../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(url));
  return place === undefined ? 'unknown' : (JSON.parse(readFileSync(place, 'utf8')) as { version: string }).version;
}
