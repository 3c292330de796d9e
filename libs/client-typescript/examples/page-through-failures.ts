/** Counts the failed runs of the last days by what was wrong. Usage: page-through-failures [DAYS] */
import { Millwright } from '@millwright/client';

if (!process.env['MILLWRIGHT_API_KEY']) end('set MILLWRIGHT_API_KEY to a key of the service');
const days = Number(process.argv[2] ?? 7);
const client = new Millwright();
const counts = new Map<string, number>();
for await (const run of client.agent.runs.list({
  state: ['FAILED', 'ERROR'],
  created_after: new Date(Date.now() - days * 86_400_000),
  limit: 100,
})) {
  const reason = run.status_message?.error_code ?? run.status_message?.message ?? 'no reason given';
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}
for (const [reason, count] of [...counts].sort((one, other) => other[1] - one[1])) console.log(`${count}\t${reason}`);
console.log(`${[...counts.values()].reduce((sum, count) => sum + count, 0)} failed in ${days} days`);

function end(words: string): never {
  console.error(words);
  process.exit(2);
}
