/**
 * `millwright runs permissions` and `runs answer`: what an agent asks permission for, and the answers. contract §3.8
 * (Follow-up).
 */
import { optionMeant } from '#agents';
import type { PermissionItem } from '#client';
import { apiVerb, type Calling } from '../connection/api.ts';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { permissionId, runId } from '../connection/name-resolution.ts';
import { toSeconds, type Output } from '../terminal/output.ts';

/** The verb `runs permissions`. */
export const permissions = apiVerb({
  name: 'runs permissions',
  arguments: 'ID',
  summary: 'Shows what an interactive run asks permission for, and what was answered.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [id] }, { api, output }) {
    const answer = await asked(api, runId(id));
    output.result({ permissions: answer }, () => {
      if (answer.length === 0) return output.note('the run has asked nothing');
      for (const permission of answer) print(output, permission);
    });
    return EXIT.ok;
  },
});

/** The verb `runs answer`. */
export const answer = apiVerb({
  name: 'runs answer',
  arguments: 'ID [QUESTION]',
  summary: 'Answers a run that asks permission; QUESTION may be left out while it asks one thing.',
  details: [
    'A follow-up to a run that asks is an answer too, where it names an option or says allow, yes, reject or no.',
  ],
  positionals: [1, 2],
  options: {
    option: {
      type: 'string',
      required: true,
      value: 'OPTION',
      help: 'one of the options that `runs permissions` shows',
    },
  },
  async run({ values: { option }, positionals: [id, question] }, { api, output }) {
    const found = question === undefined ? await onlyQuestion(api, runId(id)) : permissionId(question);
    const answered = await api.agent.runs.permissions.answer(runId(id), found, { option_id: option });
    output.result(answered, () => output.line(`${answered.title}: ${answered.answer ?? 'closed'}`));
    return EXIT.ok;
  },
});

async function asked(api: Calling['api'], id: string): Promise<PermissionItem[]> {
  return (await api.agent.runs.permissions.list(id)).permissions;
}

/** What a run waits for an answer to. */
export async function openQuestions(api: Calling['api'], id: string): Promise<PermissionItem[]> {
  return (await asked(api, id)).filter(({ state }) => state === 'open');
}

/** What a follow-up made of the questions that were open before it. */
export async function answeredLines(
  api: Calling['api'],
  id: string,
  before: readonly PermissionItem[],
  message: string,
): Promise<string[]> {
  const now = await asked(api, id);
  return before.flatMap(({ permission_id: question, title }) => {
    const found = now.find(({ permission_id: other }) => other === question);
    return found === undefined || found.state === 'open' ? [] : [`${title}: ${answerText(found, message)}`];
  });
}

function answerText({ answer: given, options }: PermissionItem, message: string): string {
  const meant = optionMeant(
    message,
    options.map(({ option_id: optionId, name, kind }) => ({ optionId, name, kind })),
  );
  const chosen = options.find(({ option_id: option }) => option === given);
  if (meant === undefined || chosen === undefined)
    return 'refused, because the message names no answer; it is what the agent is told next';
  return `${chosen.kind.startsWith('reject') ? 'refused' : 'allowed'} with ${chosen.option_id} (${chosen.name})`;
}

async function onlyQuestion(api: Calling['api'], id: string): Promise<string> {
  const [first, ...others] = await openQuestions(api, id);
  if (first === undefined) throw new CommandError('the run asks nothing now', EXIT.problems);
  if (others.length === 0) return first.permission_id;
  throw new CommandError(
    'the run asks several things, so name one',
    EXIT.usage,
    [first, ...others].map(({ permission_id: name, title }) => `${name}  ${title}`),
  );
}

function print(
  output: Output,
  { permission_id: id, state, title, input, options, answer: given, asked_at: askedAt }: PermissionItem,
): void {
  const chosen = options.find(({ option_id: option }) => option === given);
  output.fields([
    ['question', id],
    ['asks', title],
    ['input', input],
    ['asked', toSeconds(askedAt)],
    ['state', { text: state, colour: state === 'open' ? 'yellow' : undefined }],
    ['answer', chosen && `${chosen.option_id} (${chosen.name})`],
    ...(state === 'open'
      ? options.map(({ option_id: option, name }) => ['option', `${option} (${name})`] as const)
      : []),
  ]);
  output.line('');
}
