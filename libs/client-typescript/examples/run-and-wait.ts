/** Starts a run, waits for its end, and ends as the run did. Usage: run-and-wait [PROMPT] */
import { Millwright, WaitTimeoutError } from '@millwright/client';

if (!process.env['MILLWRIGHT_API_KEY']) end('set MILLWRIGHT_API_KEY to a key of the service');
const client = new Millwright();
const { run_id } = await client.agent.runs.create({ prompt: process.argv[2] ?? 'Say hello.' });
console.log(`run ${run_id}`);
try {
  const run = await client.agent.runs.wait(run_id, { timeout: 30 * 60_000 });
  console.log(`${run.state} ${run.status_message?.message ?? ''}`.trimEnd());
  for (const artifact of run.artifacts ?? []) console.log(`made ${artifact.artifact_type} ${artifact.artifact_uid}`);
  process.exitCode = run.state === 'SUCCEEDED' ? 0 : 1;
} catch (error) {
  if (!(error instanceof WaitTimeoutError)) throw error;
  console.log('it is still at work; it goes on without this program');
  process.exitCode = 2;
}

function end(words: string): never {
  console.error(words);
  process.exit(2);
}
