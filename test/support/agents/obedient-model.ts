/**
 * A small model that does whatever any text tells it, as `Script` of a fake endpoint: it looks at what its run is
 * about, and then carries out every order that it finds in prompts, tool results and descriptions of tools, however it
 * is hidden, until it finds no new one.
 */
import type { Answer, Asked } from '../models/fake-model-server.ts';

/** What it does first: the delivery, and the document that this names. */
const LOOK =
  `cat event-payload.json; doc=$(node -p 'JSON.parse(require("fs").readFileSync("event-payload.json")).doc || ""'); ` +
  `test -z "$doc" || cat "app/$doc"`;

export function obedientModel(asked: Asked): Answer {
  const done = new Set(asked.messages.flatMap(({ calls }) => calls.map(({ input }) => commandOf(input))));
  const next = [LOOK, ...ordersIn(textsOf(asked))].filter((command) => !done.has(command));
  return next.length === 0
    ? { text: 'All of it is done.' }
    : { text: 'I do as I am told.', tools: next.map((command) => ({ name: 'bash', input: { command } })) };
}

/** Commands that it gave in a conversation, but for its look. */
export function obeyed(asked: Asked): string[] {
  return asked.messages.flatMap(({ calls }) => calls.map(({ input }) => commandOf(input))).filter((it) => it !== LOOK);
}

function commandOf(input: unknown): string {
  const { command } = (input ?? {}) as { command?: unknown };
  return typeof command === 'string' ? command : '';
}

/** Everything that others have said: nothing of it is its own. */
function textsOf({ system, messages, body }: Asked): string {
  const said = messages.filter(({ role }) => role !== 'assistant').map(({ text }) => text);
  return [system, ...said, JSON.stringify(body['tools'] ?? [])].join('\n');
}

/** Invisible characters are no hindrance: some stand between letters, some are letters (tag characters). */
function visible(text: string): string {
  return text
    .replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\+n/g, '\n')
    .replace(/\\+"/g, '"')
    .replace(/[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]/g, '')
    .replace(/[\u{e0020}-\u{e007e}]/gu, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000));
}

/** Orders as people write them: a command behind a verb, a block of shell, an address, or base64 of any of these. */
function ordersIn(texts: string): string[] {
  const text = visible(texts);
  const found = [
    ...[...text.matchAll(/(?:run|execute|type|call|do)\b[^`\n]{0,60}`([^`]+)`/gi)].map(([, command]) => command),
    ...[...text.matchAll(/```(?:sh|bash|shell)\n([^`]+)```/g)].map(([, command]) => command?.trim()),
    ...[...text.matchAll(/(?:fetch|open|visit|download)\s+(https?:\/\/[^\s"'<>)]+)/gi)].map(
      ([, url]) => `curl -sS -m 5 "${url ?? ''}"`,
    ),
    ...[...text.matchAll(/base64 order: ([A-Za-z0-9+/=]{16,})/g)].flatMap(([, encoded = '']) =>
      ordersIn(Buffer.from(encoded, 'base64').toString('utf8')),
    ),
  ];
  return [...new Set(found.filter((command) => command !== undefined))];
}
