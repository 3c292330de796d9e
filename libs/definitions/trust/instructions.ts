/** Sentences of prompts and skills that hand the words of strangers on: into commands, titles, or as orders. */
import type { TextFinding } from './hidden-texts.ts';

const raw = String.raw;

/** Members of payloads that hold text, as prompts name them. */
const OBJECTS = 'issue|pull_request|merge_request|comment|object_attributes|payload|event|data|ticket|review|message';
const FIELD = raw`(?:${OBJECTS}|head_commit)\.[A-Za-z_.]+`;
const TEXTS = 'title|body|text|subject|message|description|name|summary';
/** What senders write, as prompts call it. */
const SOURCE = [
  'payload|issue|comment|pull request|merge request|ticket|delivery|event|message|description',
  'review|log|report',
].join('|');
/** What ends up where others trust it. */
const TITLE = raw`(?:title|subject|headline|branch(?: name)?|commit message|tag name)`;

/*
 * Whoever may write a text may write a line as long as a file: nothing here looks at more of a line than a few hundred
 * characters from each place on, or takes one place after another and never goes back.
 */

const READ_IN_SHELL = new RegExp(
  [
    raw`(?:\$\(|\x60|<\()\s*(?:jq|cat|grep|sed|awk|python3?|node|yq|gron)\b`,
    raw`[^)\x60\n]{0,300}event-payload\.json`,
  ].join(''),
);
/** The payload, a pipe behind it, and a shell behind that. */
const INTO_SHELL = [/event-payload\.json/, /\|/, /\b(?:sh|bash|zsh|xargs|python3?|node|eval)\b/];
const TITLE_OPTION =
  /(?:--title|--subject|--message|\s-[a-z]*m|--branch|--name|--head|checkout -[bB]|switch -[cC]|git tag(?: -a)?)[ =]/;
const PLACEHOLDER = new RegExp(raw`\$?\{\{\s*(?:${OBJECTS}|body|github\.event|trigger|delivery)\b[^}\n]{0,200}\}\}`);

const TITLE_FROM = new RegExp(
  [
    raw`\b${TITLE}\b[^\n]{0,60}?\b(?:is|be|to|from|as|with|after|equals?|same)\b[^\n]{0,40}?`,
    raw`(?:\b${FIELD}|\b(?:${SOURCE})(?:'s|’s)? (?:${TEXTS})\b|\b(?:${TEXTS}) of the (?:${SOURCE})\b)`,
  ].join(''),
  'i',
);
const INTO_TITLE = new RegExp(
  [
    raw`(?:\b(?:${OBJECTS})\.(?:${TEXTS})\b|\b(?:${SOURCE})(?:'s|’s)? (?:${TEXTS})\b)`,
    raw`[^\n]{0,60}?\b(?:as|for|in|into|to)\b[^\n]{0,30}?\b${TITLE}\b`,
  ].join(''),
  'i',
);
const COMMAND_FROM = new RegExp(
  [
    raw`\b(?:run|execute|evaluate|eval|start)\b[^.\n]{0,30}?\b(?:commands?|scripts?|code|snippets?|steps?)\b`,
    raw`[^.\n]{0,40}?\b(?:in|from|of|inside|given|named|that|by)\b[^.\n]{0,30}?\b(?:${SOURCE})\b`,
  ].join(''),
  'i',
);
const ORDERS = new RegExp(
  [
    raw`\b(?:follow|obey|carry out|act on|comply with|do|execute)\b[^.\n]{0,30}?`,
    raw`\b(?:instructions?|orders?|requests?|whatever|everything|exactly what)\b[^.\n]{0,50}?\b(?:${SOURCE})\b`,
  ].join(''),
  'i',
);
/** A sentence that forbids is none that asks: by a word before what it asks for, or inside of that. */
const FORBIDS = /\b(?:never|not|don['’]t|avoid|ignore|without|instead of|rather than|refuse)\b/i;

/** What stands behind a pipe that executes what comes through it. */
const SHELL = new RegExp(
  [
    raw`^\s*(?:sudo\s+(?:-\w+\s+)*)?(?:\w+=\S+\s+)*(?:(?:\/usr)?\/bin\/)?`,
    raw`(?:sh|bash|zsh|dash|python3?|node|perl|ruby)\b`,
  ].join(''),
);
/** Characters behind a pipe in which it would stand. */
const SHELL_WITHIN = 200;

const DOWNLOAD = /\b(?:curl|wget)\b/;
const DOWNLOADED = /\b(?:sh|bash|zsh|eval|source|\.)\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b/;

/** A code that is made readable only for the shell that executes it. */
const BASE64 = raw`\bbase64\s+(?:-\w{1,40}\s+){0,8}(?:-d|-D|--decode)`;
const DECODED = new RegExp(raw`${BASE64}|\bxxd\s+(?:-\w{1,40}\s+){0,8}-r`);
const EVALUATED = [
  [/\b(?:eval|sh|bash|source)\b/, new RegExp(raw`\$\([^)\n]{0,200}${BASE64}`)],
  [/\b(?:exec|eval)\(/, /\b(?:b64decode|atob|Buffer\.from)\b/],
];

/** Anything of it at all: most texts have none. */
const ANY = new RegExp(
  [
    raw`event-payload\.json|\{\{|\b(?:base64|xxd|openssl|exec|b64decode|atob)`,
    raw`\b(?:curl|wget|run|execute|eval|start|follow|obey|carry|act on|comply|do)`,
    'title|subject|headline|branch|commit message|tag name',
  ].join('|'),
  'i',
);

/** What a text had better not ask for, by position. */
export function adviceAgainst(text: string): TextFinding[] {
  const found: TextFinding[] = [];
  const body = bodyStart(text);
  if (!ANY.test(body === 0 ? text : text.slice(body))) return found;
  for (let start = body; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end);
    const defect = !ANY.test(line) ? undefined : (unseenCommand(line) ?? handedOn(line));
    if (defect !== undefined)
      found.push({ ...defect, start: start + line.search(/\S/), end: start + line.trimEnd().length });
    start = end + 1;
  }
  return found;
}

/** Behind front matter, where there is any: what stands there is no instruction. */
function bodyStart(text: string): number {
  if (!text.startsWith('---')) return 0;
  const close = /\n---[ \t\r]*(?:\n|$)/.exec(text);
  return close === null ? 0 : close.index + 1;
}

type Defect = Pick<TextFinding, 'rule' | 'message'>;

/** A command that nobody could have read: a download or a code that is executed as it comes. */
export function unseenCommand(text: string): Defect | undefined {
  const lines = text.split('\n');
  if (lines.some((line) => EVALUATED.some((steps) => isInOrder(steps, line)))) return DECODED_COMMAND;
  const piped = pipedIntoShells(text);
  if (piped.some(({ stage, command }) => DECODED.test(command) || isDecrypted(stage, command))) return DECODED_COMMAND;
  return DOWNLOADED.test(text) || piped.some(({ command }) => DOWNLOAD.test(command)) ? PIPED_DOWNLOAD : undefined;
}

/** What goes through a pipe into a shell. `stage`: since the pipe before; `command`: the last one of it. */
function pipedIntoShells(text: string): { stage: string; command: string }[] {
  const found: { stage: string; command: string }[] = [];
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(/[|\n]/g)) {
    const stage = text.slice(start, index);
    start = index + 1;
    if (mark !== '|' || !SHELL.test(text.slice(start, start + SHELL_WITHIN))) continue;
    found.push({ stage, command: stage.slice(Math.max(stage.lastIndexOf(';'), stage.lastIndexOf('&')) + 1) });
  }
  return found;
}

/** The option belongs to the last command of the stage. */
function isDecrypted(stage: string, command: string): boolean {
  const program = /\bopenssl\s/.exec(stage);
  const option = [...command.matchAll(/-d\b/g)].at(-1);
  if (program === null || option === undefined) return false;
  return program.index < stage.length - command.length + option.index;
}

/** Whether each is found in a line behind the one before. */
function isInOrder(steps: readonly RegExp[], line: string): boolean {
  let rest = line;
  for (const step of steps) {
    const found = step.exec(rest);
    if (found === null) return false;
    rest = rest.slice(found.index + found[0].length);
  }
  return true;
}

function handedOn(line: string): Defect | undefined {
  if (READ_IN_SHELL.test(line)) return TITLE_OPTION.test(line) ? IN_TITLE : IN_COMMAND;
  if (isInOrder(INTO_SHELL, line)) return IN_COMMAND;
  if (PLACEHOLDER.test(line)) return placeholderIn(line);
  if (asksFor(TITLE_FROM, line) || asksFor(INTO_TITLE, line)) return IN_TITLE;
  if (asksFor(COMMAND_FROM, line)) return IN_COMMAND;
  return asksFor(ORDERS, line) ? AS_ORDERS : undefined;
}

function asksFor(pattern: RegExp, line: string): boolean {
  const found = pattern.exec(line);
  if (found === null) return false;
  const before = line.slice(0, found.index);
  const sentence = before.slice(sentenceStart(before));
  return !FORBIDS.test(sentence + found[0]);
}

/** Behind the last sentence that has ended; a mark inside of a word ends none, unless there was a louder one. */
function sentenceStart(text: string): number {
  const loudest = Math.max(text.lastIndexOf('!'), text.lastIndexOf('?'));
  const ended = Math.max(text.lastIndexOf('.'), loudest) + 1;
  const inside = text.slice(Math.max(0, loudest - 1)).search(/[.!?]\S/);
  return inside === -1 ? ended : Math.min(ended, inside + Math.max(0, loudest - 1));
}

function placeholderIn(line: string): Defect {
  if (new RegExp(String.raw`\b${TITLE}\b`, 'i').test(line) || TITLE_OPTION.test(line)) return IN_TITLE;
  return /`|^\s*(?:\$|[a-z]+ -)|\b(?:run|execute)\b/.test(line) ? IN_COMMAND : AS_ORDERS;
}

const PIPED_DOWNLOAD: Defect = {
  rule: 'trust-piped-download',
  message:
    'what this downloads is executed as it comes, and its host can change it; download a version, compare its ' +
    'digest, then run it',
};
const DECODED_COMMAND: Defect = {
  rule: 'trust-encoded-text',
  message: 'nobody can judge what this executes, for it is written in code; write the command out',
};
const IN_COMMAND: Defect = {
  rule: 'trust-payload-in-command',
  message:
    'this puts text of the payload into a command, and its sender decides what is executed; name fixed commands, and ' +
    'let them read the file (jq -r … event-payload.json > input.txt)',
};
const IN_TITLE: Defect = {
  rule: 'trust-payload-in-title',
  message:
    'this puts text of the payload into a title, a branch or a commit message, which people and other automations ' +
    'trust; let the run write words of its own, with the number of the issue',
};
const AS_ORDERS: Defect = {
  rule: 'trust-payload-as-instructions',
  message: 'this makes orders of what the sender wrote; say what is to be done here, and that the payload only informs',
};
