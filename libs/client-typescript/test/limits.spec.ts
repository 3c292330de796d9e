/** What may take longer than other calls, and how long. */
import { APITimeoutError, Millwright, type RequestOptions } from '../src/index.ts';
import { World } from './wire-world.ts';

const MINUTE_MS = 60_000;

type Call = (client: Millwright, options?: RequestOptions) => PromiseLike<unknown>;

/** Milliseconds after which an attempt without an answer is given up. */
async function patienceOf(call: (client: Millwright) => PromiseLike<unknown>, timeout?: number): Promise<number> {
  const world = new World([{ fault: 'hang' }]);
  const client = new Millwright(
    {
      baseURL: 'http://127.0.0.1:9',
      apiKey: 'k'.repeat(20),
      fetch: world.fetch,
      logLevel: 'off',
      maxRetries: 0,
      totalTimeout: null,
      timeout,
    },
    world.clock,
  );
  const failure: unknown = await world.live(Promise.resolve(call(client)).catch((error: unknown) => error));
  expect(failure).toBeInstanceOf(APITimeoutError);
  expect(failure).toMatchObject({ limit: 'timeout', milliseconds: world.now * 1_000 });
  return world.now * 1_000;
}

describe.each<[string, number, Call]>([
  [
    'a sync whose pass is waited for',
    2.5 * MINUTE_MS,
    (client, options) => client.factories.sync('fac_1', { wait: true }, options),
  ],
  ['a sync that is only asked for', MINUTE_MS, (client, options) => client.factories.sync('fac_1', {}, options)],
  [
    'the download of a payload',
    10 * MINUTE_MS,
    (client, options) => client.factories.deliveries.payload('fac_1', 'wh_1', 'entry', options),
  ],
  [
    'the download of an artifact',
    10 * MINUTE_MS,
    (client, options) => client.agent.artifacts.download('art_1', options),
  ],
  ['anything else', MINUTE_MS, (client, options) => client.agent.runs.retrieve('r', options)],
])('%s', (_, expected, call) => {
  it(`is given ${expected} ms an attempt`, async () => {
    expect(await patienceOf(call)).toBe(expected);
  });

  it('is given what client or call say', async () => {
    expect(await patienceOf(call, 7_000)).toBe(7_000);
    expect(await patienceOf((client) => call(client, { timeout: 3_000 }), 7_000)).toBe(3_000);
  });
});
