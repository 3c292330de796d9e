/**
 * Every answer of the API that a test sees is compared with the API document: what departs from it fails the test that
 * saw it. `ANSWERS=print` only prints.
 */
import { builtModule } from '../processes/built-modules.ts';

const { departuresOf } = await builtModule('test/support/services/documented.js', () => import('./documented.ts'));

const bases = new Set<string>();
let isWatching = false;

/** Watches what `fetch` gets from the API of a service from now on. */
export function watchAnswers(publicUrl: string): void {
  bases.add(`${publicUrl}/api/v1`);
  if (isWatching) return;
  isWatching = true;
  const unwatched = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const answer = await unwatched(input, init);
    const url = input instanceof Request ? input.url : String(input);
    const base = [...bases].find(
      (candidate) => url === candidate || url.startsWith(`${candidate}/`) || url.startsWith(`${candidate}?`),
    );
    if (base !== undefined)
      await judge(init?.method ?? (input instanceof Request ? input.method : 'GET'), url.slice(base.length), answer);
    return answer;
  };
}

async function judge(method: string, target: string, answer: Response): Promise<void> {
  const [path = '', query = ''] = target.split('#')[0]?.split('?', 2) ?? [];
  const isJson = /^application\/([a-z.+-]+\+)?json\b/i.test(answer.headers.get('content-type') ?? '');
  const json = isJson && method.toUpperCase() !== 'HEAD' ? await answer.clone().text() : undefined;
  const departures = departuresOf({
    method: method.toUpperCase(),
    path,
    query,
    status: answer.status,
    headers: answer.headers,
    json,
  });
  if (departures.length === 0) return;
  const text =
    `${method} ${path} was answered ${answer.status}, which departs ` +
    `from the API document: ${departures.join('; ')}`;
  process.stderr.write(`${text}\n`);
  if (process.env['ANSWERS'] !== 'print') throw new Error(text);
}
