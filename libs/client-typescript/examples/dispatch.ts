/** Dispatches a ticket to a factory, unless its run is there already. Usage: dispatch SLUG TICKET PROMPT */
import { Millwright } from '@millwright/client';

if (!process.env['MILLWRIGHT_API_KEY']) end('set MILLWRIGHT_API_KEY to a key of the service');
const [slug = 'orders', ticket = 'ORD-7', prompt = 'Count the open orders.'] = process.argv.slice(2);
const client = new Millwright();
const factory = await bySlug(slug);
// The same key for the same ticket: whoever dispatches it twice within a day gets the first run.
const { run_id, state, run_url } = await client.factories.dispatch(
  factory.uid,
  { prompt, ticket_ref: ticket },
  { idempotencyKey: `dispatch-${ticket}` },
);
console.log(`${run_id} ${state} ${run_url}`);

async function bySlug(wanted: string) {
  for await (const found of client.factories.list({ search: wanted })) if (found.slug === wanted) return found;
  return end(`there is no factory ${wanted} that this key may see`);
}

function end(words: string): never {
  console.error(words);
  process.exit(2);
}
