/** What a request says that means nothing here is named, and nothing else. */
import { ignoredSaid, ineffectiveMembers, ineffectiveMode } from './index.ts';

const BUILT_IN = { isBuiltIn: true, isCommand: false };
const COMMAND = { isBuiltIn: false, isCommand: true };
const OTHER = { isBuiltIn: false, isCommand: false };

describe('a request', () => {
  it.each([
    { body: {}, worker: BUILT_IN, pointers: [], why: 'nothing is said' },
    { body: { team: true, mode: 'plan', config: {} }, worker: BUILT_IN, pointers: [], why: 'all of it is served' },
    { body: { team: false }, worker: BUILT_IN, pointers: ['/team'], why: 'every run is the team’s' },
    { body: { mode: 'orchestrate' }, worker: BUILT_IN, pointers: ['/mode'], why: 'no agent has this mode' },
    { body: { mode: 'orchestrate' }, worker: COMMAND, pointers: [], why: 'a command is handed it' },
    {
      body: { config: { mcp_servers: { 'a/b': { warp_id: 'x' }, c: { url: 'https://x' } } } },
      worker: OTHER,
      pointers: ['/config/mcp_servers/a~1b'],
      why: 'a server is kept elsewhere',
    },
    {
      body: { config: { computer_use_enabled: true } },
      worker: OTHER,
      pointers: ['/config/computer_use_enabled'],
      why: 'there is no desktop',
    },
    { body: { config: { computer_use_enabled: false } }, worker: OTHER, pointers: [], why: 'there is no desktop' },
    {
      body: { config: { idle_timeout_minutes: 0 } },
      worker: OTHER,
      pointers: ['/config/idle_timeout_minutes'],
      why: 'nobody is waited for',
    },
    {
      body: { interactive: true, config: { idle_timeout_minutes: 0 } },
      worker: OTHER,
      pointers: [],
      why: 'somebody is waited for',
    },
    {
      body: { config: { harness: { reasoning_level: 'low' } } },
      worker: OTHER,
      pointers: ['/config/harness/reasoning_level'],
      why: 'only the built-in agent has levels',
    },
    { body: { config: { harness: { reasoning_level: 'low' } } }, worker: BUILT_IN, pointers: [], why: 'it has them' },
    { body: { config: { harness: { reasoning_level: '' } } }, worker: OTHER, pointers: [], why: 'nothing is said' },
  ])('$body names $pointers, because $why', ({ body, worker, pointers }) => {
    expect(ineffectiveMembers(body, worker)).toEqual(pointers);
  });
});

it('a mode of a follow-up means something to a command only', () => {
  expect(ineffectiveMode('orchestrate', OTHER)).toEqual(['/mode']);
  expect(ineffectiveMode('orchestrate', COMMAND)).toEqual([]);
  expect(ineffectiveMode(undefined, OTHER)).toEqual([]);
});

it('a log says of which request it speaks', () => {
  expect(ignoredSaid('follow-up', ['/mode', '/x'])).toBe(
    'ignored of the follow-up, because it is not served here: /mode, /x',
  );
});
