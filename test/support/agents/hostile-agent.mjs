// An agent of the protocol that misbehaves as its command line says: `--model WAY`. Plain JavaScript, no packages: it
// starts in a moment.
import { spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const way = process.argv[process.argv.indexOf('--model') + 1] ?? 'good';
const SESSION = 'session-1';
const MIB = 1_048_576;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const say = (text) =>
  send({
    method: 'session/update',
    params: { sessionId: SESSION, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  });
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const forEver = () => new Promise(() => setInterval(() => undefined, 60_000));
const drained = (stream) => new Promise((resolve) => stream.once('drain', resolve));

/** Writes the same again and again until it is ended, as fast as it is read. */
async function flood(stream, bytes) {
  for (;;) if (!stream.write(bytes)) await drained(stream);
}

const daemon = () => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref();

/** An update of the session, as it is sent. */
const lineOf = (update) =>
  `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: SESSION, update } })}\n`;

/** What answers a prompt; each ends with the result of the turn, or never. */
const WAYS = {
  good: async () => void say('here you are'),
  'flood-messages': () => {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'y'.repeat(2_000) } };
    return flood(process.stdout, lineOf(update).repeat(50));
  },
  'flood-tools': () => {
    const update = {
      sessionUpdate: 'tool_call',
      toolCallId: 't',
      title: 'z'.repeat(500),
      kind: 'other',
      status: 'pending',
      rawInput: { long: 'q'.repeat(5_000) },
    };
    return flood(process.stdout, lineOf(update).repeat(20));
  },
  'flood-garbage': () => flood(process.stdout, 'x'.repeat(64 * 1_024)),
  'flood-requests': async () => {
    for (let id = 1; ; id += 1) {
      send({ id: `r${id}`, method: 'fs/read_text_file', params: { sessionId: SESSION, path: '/etc/passwd' } });
      if (id % 200 === 0) await wait(1);
    }
  },
  'flood-stderr': async () => {
    for (let mib = 0; mib < 24; mib += 1) if (!process.stderr.write('e'.repeat(MIB))) await drained(process.stderr);
    say('that was much');
  },
  'never-answers': forEver,
  'answers-after-cancel': forEver,
  daemon: async () => {
    daemon();
    say('it runs on');
  },
  'daemon-and-waits': async () => {
    daemon();
    say('it runs on');
    await forEver();
  },
  'fills-disk': async () => {
    for (;;) {
      appendFileSync('big', Buffer.alloc(8 * MIB));
      await wait(200);
    }
  },
  'writes-outside': async ([places]) => {
    for (const place of JSON.parse(places)) {
      try {
        writeFileSync(`${place}/planted-by-a-run`, 'x');
        say(`WROTE ${place}\n`);
      } catch (error) {
        say(`refused ${error.code} ${place}\n`);
      }
    }
  },
  'exits-silently': () => process.exit(0),
  crashes: async () => {
    say('I begin');
    await wait(100);
    process.kill(process.pid, 'SIGSEGV');
    await forEver();
  },
  'no-answer': async () => undefined,
  malformed: async () => {
    process.stdout.write(
      'this is a line of a ' +
        'log\n{"jsonrpc":"2.0","method":"session/upd\n[1,2]\nnull\n{"jsonrpc":"2.0","id":{"a":1},"result":{}}\n' +
        '{"jsonrpc":"2.0","method":"session/update","params":{"update":7}}\n',
    );
    say('after the noise');
  },
  'malformed-answer': async () => ({ stopReason: 7 }),
  huge: async () => {
    say('h'.repeat(20 * MIB));
    await forEver();
  },
  'repeats-secret': async () => {
    throw {
      code: -32_603,
      message: `the key ${process.env.HOSTILE_KEY} is wrong`,
      data: { millwright: { message: `it is ${process.env.HOSTILE_KEY}` } },
    };
  },
};

async function answer({ id, method, params }) {
  if (way === 'never-introduces' || method === undefined) return undefined;
  if (method === 'session/cancel' && way === 'answers-after-cancel') {
    say('a last word');
    return { id: promptId, result: { stopReason: 'end_turn' } };
  }
  if (id === undefined) return undefined;
  if (method === 'initialize')
    return { id, result: { protocolVersion: way === 'wrong-version' ? 99 : 1, agentCapabilities: {} } };
  if (method === 'session/new' && way === 'wants-authentication')
    return { id, error: { code: -32_000, message: 'Authentication required' } };
  if (method === 'session/new') return { id, result: { sessionId: SESSION } };
  if (method !== 'session/prompt') return { id, error: { code: -32_601, message: 'no such method' } };
  promptId = id;
  try {
    return { id, result: (await WAYS[way](params.prompt.map(({ text }) => text))) ?? { stopReason: 'end_turn' } };
  } catch (error) {
    return { id, error };
  }
}

let promptId;
if (way === 'exits-at-once') process.exit(0);
if (way === 'prints-usage') {
  process.stderr.write('usage: some-agent [--help]\n');
  process.exit(64);
}
createInterface({ input: process.stdin }).on('line', (line) => {
  void answer(JSON.parse(line)).then((message) => message && send(message));
});
