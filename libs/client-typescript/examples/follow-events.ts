/**
 * Prints what a run writes, as it writes it, until its end. Usage: follow-events [RUN_ID]; without one it starts a run.
 */
import { Millwright } from '@millwright/client';

if (!process.env['MILLWRIGHT_API_KEY']) end('set MILLWRIGHT_API_KEY to a key of the service');
const client = new Millwright();
const runId = process.argv[2] ?? (await client.agent.runs.create({ prompt: 'Say hello.' })).run_id;
const events = client.agent.runs.events(runId);
for await (const { seq, event_type, payload } of events) {
  console.log(`${seq} ${event_type}: ${payload.text?.trimEnd() ?? payload.title ?? payload.state ?? ''}`);
}
console.log(`ended ${events.runState} behind entry ${events.lastSeq}`);

function end(words: string): never {
  console.error(words);
  process.exit(2);
}
