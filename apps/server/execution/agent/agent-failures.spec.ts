/** What a foreign agent's error is taken for: our words say what to check, and none of the agent's own. */
import { RequestError } from '@agentclientprotocol/sdk';
import { agentFailure } from './agent-failures.ts';

const WHO = { id: 'house', credentials: ['HOUSE_KEY', 'OTHER_KEY'] };
const KEY = /refused the key: check the value of HOUSE_KEY or OTHER_KEY/;
const MODEL = /does not know the model: check the model \(model_id\)/;
const QUOTA = /takes no more requests for now: check the quota/;
const REACH = /could not reach its model: check the address of the endpoint/;
const rows: [said: string, more: unknown, message: RegExp, errorCode: string | undefined, retryable: boolean][] = [
  ['Internal error', { statusCode: 401, message: 'nope' }, KEY, 'environment_setup_failed', false],
  ['403 Forbidden', undefined, KEY, 'environment_setup_failed', false],
  ['API key not valid. Please pass a valid API key.', undefined, KEY, 'environment_setup_failed', false],
  ['Incorrect API key provided: sk-secret-of-a-test', undefined, KEY, 'environment_setup_failed', false],
  [
    '{"error":{"type":"authentication_error","message":"invalid x-api-key"}}',
    undefined,
    KEY,
    'environment_setup_failed',
    false,
  ],
  ['unexpected status 404 Not Found', undefined, MODEL, 'environment_setup_failed', false],
  [
    'The model `nova-9` does not exist or you do not have access to it.',
    undefined,
    MODEL,
    'environment_setup_failed',
    false,
  ],
  ['Internal error', { details: 'got status: 429, RESOURCE_EXHAUSTED' }, QUOTA, 'resource_unavailable', true],
  ['You exceeded your current quota', undefined, QUOTA, 'resource_unavailable', true],
  ['connect ECONNREFUSED 127.0.0.1:9', undefined, REACH, 'resource_unavailable', true],
  ['getaddrinfo ENOTFOUND models.example', undefined, REACH, 'resource_unavailable', true],
  ['TypeError: fetch failed', undefined, REACH, 'resource_unavailable', true],
  ['Request timed out.', undefined, REACH, 'resource_unavailable', true],
  ['line 401 of 4290 in key.ts', undefined, /\(error -32603\); the log has what it said$/, undefined, false],
];

it.each(rows)('%s', (said, more, message, errorCode, retryable) => {
  const failure = agentFailure('prompt', WHO, new RequestError(-32_603, said, more), false);
  expect(failure).toMatchObject({ kind: 'failed', errorCode, retryable });
  expect(failure.message).toMatch(message);
  expect(failure.message).toMatch(
    /^the agent house failed in the middle of its work \(error -32603\); the log has what it said/,
  );
  expect(failure.message).not.toMatch(/sk-secret|nova-9|models\.example|RESOURCE_EXHAUSTED/);
});

it('is found in little time however long the answer is', () => {
  const before = process.cpuUsage();
  for (const text of ['model '.repeat(700), '4'.repeat(4_000), 'error '.repeat(700), 'status code '.repeat(350)])
    agentFailure('prompt', WHO, new RequestError(-32_603, text), false);
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
