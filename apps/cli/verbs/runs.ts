/** `millwright run` and `runs`: create, list, show, steer and cancel runs. contract §3. */
import { basename } from 'node:path';
import type { RunAgentRequest, RunItem, RunListParams } from '#client';
import { mimeTypeOf, type AttachmentRequest } from '#runs';
import { apiVerb, type Calling } from '../connection/api.ts';
import { group, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { follow, printEvents } from '../run-log/follow.ts';
import { readInput } from '../terminal/input.ts';
import { findFactory, runId } from '../connection/name-resolution.ts';
import { entriesOf, noteIgnored, textOf } from '../connection/request-values.ts';
import { grouped, toSeconds, type Cell, type Colour, type Output } from '../terminal/output.ts';
import { noteMore, PAGE_OPTIONS, pageQuery } from '../connection/pages.ts';
import { findIdentity } from './agents/identities.ts';
import { artifacts, artifactText } from './run-artifacts.ts';
import { answer, openQuestions, permissions, answeredLines } from './run-permissions.ts';

const FOLLOWING = 'With --follow it ends with 0 for SUCCEEDED, 1 for FAILED and CANCELLED, 3 for ERROR.';

const ATTACH = {
  type: 'string',
  value: 'FILE',
  multiple: true,
  help: 'a file for the agent, found in the folder attachments of its workspace; may be repeated',
} as const;

/** The verb `run`. */
export const run = apiVerb({
  name: 'run',
  summary: 'Starts a run.',
  details: [FOLLOWING],
  options: {
    prompt: {
      type: 'string',
      value: 'TEXT|-',
      help: 'what the agent has to do; - reads it from stdin; required unless --skill is given',
    },
    title: { type: 'string', value: 'TEXT', help: 'title (default: the first line of the prompt)' },
    factory: { type: 'string', value: 'FACTORY', help: 'factory whose defaults and rights apply (slug or UID)' },
    name: { type: 'string', value: 'NAME', help: 'name of the configuration, for grouping and filtering' },
    metadata: {
      type: 'string',
      value: 'KEY=VALUE',
      multiple: true,
      help: 'an entry of the run’s metadata; may be repeated',
    },
    harness: {
      type: 'string',
      value: 'TYPE',
      help: 'agent that works on it: builtin, command, opencode, gemini, codex … (default: the server’s)',
    },
    model: { type: 'string', value: 'ID', help: 'model of the agent' },
    skill: {
      type: 'string',
      value: 'SKILL',
      help: 'skill to work by: owner/repo:name, owner/repo:path/SKILL.md, or the name of one of the factory',
    },
    environment: {
      type: 'string',
      value: 'ENVIRONMENT',
      help: 'environment to prepare: name of one of the factory, or a UID',
    },
    identity: { type: 'string', value: 'NAME|UID', help: 'agent identity whose defaults it has' },
    mode: { type: 'string', value: 'MODE', help: 'normal (default), plan or orchestrate' },
    interactive: {
      type: 'boolean',
      help: 'a person decides what the agent asks permission for, instead of the policy',
    },
    attach: ATTACH,
    follow: { type: 'boolean', help: 'print what it writes, and wait for its end' },
  },
  async run({ values }, calling) {
    const { api, output } = calling;
    const { prompt, title, factory, skill, mode, interactive, metadata, attach, identity } = values;
    const { follow: isFollowed = false } = values;
    if (prompt === undefined && skill === undefined) throw new UsageError('--prompt TEXT|- is missing');
    const body: RunAgentRequest = {
      prompt: prompt === undefined ? undefined : await textOf(prompt, '--prompt', calling),
      title,
      skill,
      interactive,
      mode: mode as RunAgentRequest['mode'],
      factory_uid: factory === undefined ? undefined : (await findFactory(api, factory)).uid,
      config: configOf(values),
      metadata: metadata && entriesOf(metadata),
      agent_identity_uid: identity === undefined ? undefined : (await findIdentity(api, identity)).uid,
      attachments: attach && (await attachmentsOf(attach, calling)),
    };
    const made = await api.agent.run(body);
    noteIgnored(calling, made.ignored);
    if (isFollowed) return follow(calling, made.run_id);
    output.result(made, () => output.line(`${made.run_id}  ${made.state}`));
    return EXIT.ok;
  },
});

/** The configuration that the options state; undefined when none does. */
function configOf({
  name,
  model,
  environment,
  harness,
}: {
  name?: string;
  model?: string;
  environment?: string;
  harness?: string;
}): Record<string, unknown> | undefined {
  const config = {
    name,
    model_id: model,
    environment_id: environment,
    harness: harness === undefined ? undefined : { type: harness },
  };
  return Object.values(config).every((member) => member === undefined) ? undefined : config;
}

const list = apiVerb({
  name: 'runs',
  summary: 'Lists runs, latest change first.',
  options: {
    state: {
      type: 'string',
      value: 'STATE,…',
      multiple: true,
      commas: true,
      help: 'runs in these states (QUEUED, INPROGRESS, SUCCEEDED, FAILED …); may be repeated',
    },
    factory: { type: 'string', value: 'FACTORY', help: 'runs of this factory (slug or UID)' },
    name: { type: 'string', value: 'NAME', help: 'runs of configurations of this name' },
    delivery: { type: 'string', value: 'ID', help: 'runs that the delivery of this ID started' },
    ...PAGE_OPTIONS,
  },
  async run({ values }, { api, output }) {
    const { state, factory, name, delivery } = values;
    const query: RunListParams = {
      ...pageQuery(values),
      name,
      delivery_id: delivery,
      state: state?.map((text) => text.toUpperCase()) as RunListParams['state'], // the service knows which there are
      factory_uid: factory === undefined ? undefined : (await findFactory(api, factory)).uid,
    };
    const { body: answer } = await api.agent.runs.list(query);
    output.result(answer, () => {
      if (answer.runs.length === 0) return output.note('there are no such runs');
      output.table(['ID', 'STATE', 'SOURCE', 'UPDATED', 'TITLE'], answer.runs.map(rowOf), 4);
      noteMore(output, answer.page_info);
    });
    return EXIT.ok;
  },
});

const get = apiVerb({
  name: 'runs get',
  arguments: 'ID',
  summary: 'Shows one run, with what it has made and used up.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [id] }, { api, output }) {
    const found = await api.agent.runs.retrieve(runId(id));
    output.result(found, () => printRun(output, found));
    return EXIT.ok;
  },
});

const cancel = apiVerb({
  name: 'runs cancel',
  arguments: 'ID',
  summary: 'Cancels a run that has not ended; one that runs is ended with all its processes.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [id] }, { api, output }) {
    const cancelled = await api.agent.runs.cancel(runId(id));
    if (output.isStructured) {
      output.result(cancelled, () => undefined);
      return EXIT.ok;
    }
    const { state } = await api.agent.runs.retrieve(runId(id));
    output.line(`${runId(id)}  ${state === 'CANCELLED' ? state : `${state}, being cancelled`}`);
    return EXIT.ok;
  },
});

const interrupt = apiVerb({
  name: 'runs interrupt',
  arguments: 'ID',
  summary: 'Ends what the agent of a run is about, and not the run: it goes on with the next follow-up.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [id] }, { api, output }) {
    const interrupted = await api.agent.runs.interrupt(runId(id));
    output.result(interrupted, () =>
      output.line(`${interrupted.run_id}  its agent is asked to end its turn; tell it how to go on by runs followup`),
    );
    return EXIT.ok;
  },
});

const OUTCOMES: Readonly<Record<string, string>> = {
  queued_prompt: 'joined to the prompt of the waiting run',
  queue_pending: 'the next thing that the agent is told, when it has done what it is about',
  live_session: 'handed to the agent now',
  handoff_execution: 'the run is queued again with it',
};

const followup = apiVerb({
  name: 'runs followup',
  arguments: 'ID',
  summary: 'Sends a message to a run: steers a live one, continues an ended one.',
  positionals: [1, 1],
  options: {
    message: { type: 'string', required: true, value: 'TEXT|-', help: 'what to tell the agent; - reads it from stdin' },
    attach: ATTACH,
  },
  async run({ values: { message, attach }, positionals: [id] }, calling) {
    const text = await textOf(message, '--message', calling);
    const body = { message: text, attachments: attach && (await attachmentsOf(attach, calling)) };
    const { api, output } = calling;
    const asked = output.isStructured ? [] : await openQuestions(api, runId(id));
    const answer = await api.agent.runs.submitFollowup(runId(id), body);
    noteIgnored(calling, answer.ignored);
    const answered = asked.length === 0 ? [] : await answeredLines(api, runId(id), asked, text);
    output.result(answer, () => {
      output.line(`${answer.outcome}: ${OUTCOMES[answer.outcome] ?? 'stored'}`);
      for (const line of answered) output.line(line);
    });
    return EXIT.ok;
  },
});

const events = apiVerb({
  name: 'runs events',
  arguments: 'ID',
  summary: 'Prints what a run has written and done, with its changes of state.',
  details: [FOLLOWING],
  positionals: [1, 1],
  options: { follow: { type: 'boolean', help: 'go on until the run has ended' } },
  async run({ values: { follow: isFollowed = false }, positionals: [id] }, calling) {
    return isFollowed ? follow(calling, runId(id)) : printEvents(calling, runId(id));
  },
});

/** The verb `runs`. */
export const runs = group('runs', { get, cancel, interrupt, followup, events, artifacts, permissions, answer }, list);

/** Files under their own names; the server says which of them cannot be. */
function attachmentsOf(files: readonly string[], { io }: Calling): Promise<AttachmentRequest[]> {
  return Promise.all(
    files.map(async (file) => {
      if (file === '-') throw new UsageError('--attach needs a file, because the file needs a name');
      const name = basename(file);
      return { file_name: name, mime_type: mimeTypeOf(name), data: (await readInput(file, io, '')).toString('base64') };
    }),
  );
}

const COLOURS: Readonly<Record<string, Colour>> = {
  SUCCEEDED: 'green',
  FAILED: 'red',
  ERROR: 'red',
  CANCELLED: 'dim',
  BLOCKED: 'yellow',
};

function rowOf({ run_id: id, state, source, updated_at: updated, title }: RunItem): Cell[] {
  return [id, { text: state, colour: COLOURS[state] }, source, toSeconds(updated), title];
}

function printRun(output: Output, found: RunItem): void {
  const {
    status_message: message,
    agent_config: config,
    metadata,
    creator,
    artifacts: made = [],
    request_usage: usage = {},
  } = found;
  output.fields([
    ['run', found.run_id],
    ['title', found.title],
    ['state', { text: found.state, colour: COLOURS[found.state] }],
    [
      'message',
      message && (message.error_code === undefined ? message.message : `${message.message} (${message.error_code})`),
    ],
    ['source', found.source],
    ['creator', creator.display_name ?? creator.uid],
    ['created', toSeconds(found.created_at)],
    ['started', toSeconds(found.started_at)],
    ['finished', toSeconds(found.finished_at)],
    ['run time', found.run_time && toDuration(found.run_time)],
    ['tokens', usage.total_tokens === undefined ? undefined : grouped(usage.total_tokens)],
    [
      'cost',
      usage.inference_cost === undefined ? undefined : `${usage.inference_cost} ${usage.currency ?? ''}`.trimEnd(),
    ],
    ...made.map((artifact, at) => [at === 0 ? 'artifacts' : '', artifactText(artifact)] as const),
    ['factory', found.factory_uid],
    ['session', found.session_link],
    ['configuration', configText(config)],
    ...Object.entries(metadata).map(([name, value]) => [name, value] as const),
  ]);
  output.line('');
  output.text(found.submitted_prompt ?? found.prompt, '  ');
}

function configText(config: RunItem['agent_config']): string | undefined {
  const members = Object.entries(config).flatMap(([name, value]) =>
    typeof value === 'string' && name !== 'base_prompt' ? [`${name} ${value}`] : [],
  );
  return members.length === 0 ? undefined : members.join(', ');
}

/** The service's durations, which are in seconds; any other as it came. */
function toDuration(iso: string): string {
  const seconds = /^PT(\d+)(?:\.(\d))?\d*S$/.exec(iso);
  if (seconds === null) return iso;
  const whole = Number(seconds[1]);
  if (whole < 60) return `${whole}.${seconds[2] ?? 0} s`;
  return `${whole < 3_600 ? '' : `${Math.floor(whole / 3_600)} h `}${Math.floor(whole / 60) % 60} min ${whole % 60} s`;
}
