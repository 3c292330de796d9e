/** `millwright schedules`: what starts runs by the clock, of the API and of files. contract §12.8 (Schedules). */
import type { ScheduleCreate, ScheduleItem, ScheduleUpdate } from '#client';
import { apiVerb, type Api, type Calling } from '../../connection/api.ts';
import { CommandError, group, UsageError, type DescribedVerb, type OptionSpecs, type ValuesOf } from '../../command.ts';
import { findFactory, listed } from '../../connection/name-resolution.ts';
import { EXIT } from '../../exit-codes.ts';
import { toSeconds, type Cell } from '../../terminal/output.ts';
import { entriesOf, noteIgnored, textOf } from '../../connection/request-values.ts';
import { findIdentity } from './identities.ts';

const SETTINGS = {
  cron: {
    type: 'string',
    value: 'EXPRESSION',
    help: 'when it fires: five cron fields in UTC, an @ word such as @daily, or @every with a duration',
  },
  prompt: { type: 'string', value: 'TEXT|-', help: 'what its runs have to do; - reads it from stdin' },
  skill: {
    type: 'string',
    value: 'SKILL',
    help: 'skill to work by: owner/repo:name, owner/repo:path/SKILL.md, or the name of one of the factory',
  },
  harness: { type: 'string', value: 'TYPE', help: 'agent that works on its runs' },
  model: { type: 'string', value: 'ID', help: 'model of the agent' },
  environment: { type: 'string', value: 'ENVIRONMENT', help: 'environment of its factory to prepare' },
  identity: { type: 'string', value: 'NAME|UID', help: 'agent identity whose defaults its runs have' },
  mode: { type: 'string', value: 'MODE', help: 'normal (default), plan or orchestrate' },
  metadata: {
    type: 'string',
    value: 'KEY=VALUE',
    multiple: true,
    help: 'an entry of the metadata of its runs; may be repeated',
  },
} as const satisfies OptionSpecs;

const CHANGES = ['name', ...(Object.keys(SETTINGS) as (keyof typeof SETTINGS)[])] as const;

const list = apiVerb({
  name: 'schedules list',
  summary: 'Lists what starts runs by the clock: schedules of the API, and triggers of automations.',
  options: { factory: { type: 'string', value: 'FACTORY', help: 'those of this factory (slug or UID)' } },
  async run({ values: { factory } }, { api, output }) {
    const uid = factory === undefined ? undefined : (await findFactory(api, factory)).uid;
    const { schedules: all } = await api.agent.schedules.list();
    const schedules = all.filter((schedule) => uid === undefined || schedule.factory_uid === uid);
    output.result({ schedules }, () => {
      if (schedules.length === 0) return output.note('there are no schedules');
      output.table(
        ['ID', 'NAME', 'CRON', 'STATE', 'NEXT', 'LAST RUN', 'MISSED', 'MANAGED IN'],
        schedules.map(rowOf),
        7,
      );
    });
    return EXIT.ok;
  },
});

const get = apiVerb({
  name: 'schedules get',
  arguments: 'NAME|ID',
  summary: 'Shows one schedule.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [name = ''] }, { api, output }) {
    const found = await findSchedule(api, name);
    output.result(found, () => {
      output.fields([
        ['schedule', `${found.name} (${found.id})`],
        ['state', stateOf(found)],
        ['cron', found.cron_schedule],
        ['next', toSeconds(found.history.next_run)],
        ['last run', toSeconds(found.history.last_ran)],
        ['missed', missedText(found.history)],
        ['factory', found.factory_uid],
        ['identity', found.agent_uid],
        ['mode', found.mode],
        ['managed in', managedIn(found)],
        ['made by', found.created_by?.display_name ?? found.created_by?.uid],
        ['changed', toSeconds(found.updated_at)],
        ['not served', found.ignored?.join(', ')],
        ...Object.entries(found.read_only ? {} : found.metadata).map(([key, value]) => [key, value] as const),
      ]);
      output.line('');
      output.text(found.prompt, '  ');
    });
    return EXIT.ok;
  },
});

const create = apiVerb({
  name: 'schedules create',
  arguments: 'NAME',
  summary: 'Makes a schedule, which counts from now.',
  details: ['It goes on when the key that made it ends. Prints the ID.'],
  positionals: [1, 1],
  options: {
    ...SETTINGS,
    cron: { ...SETTINGS.cron, required: true },
    factory: { type: 'string', value: 'FACTORY', help: 'factory whose defaults and rights apply (slug or UID)' },
    paused: { type: 'boolean', help: 'it starts nothing until it is resumed' },
  },
  async run({ values, positionals: [name = ''] }, calling) {
    if (values.prompt === undefined && values.skill === undefined)
      throw new UsageError('--prompt TEXT|- or --skill SKILL is missing');
    const { api, output } = calling;
    const { factory, paused = false } = values;
    const body: ScheduleCreate = {
      ...(await settingsOf(values, calling)),
      name,
      cron_schedule: values.cron,
      agent_config: configOf(values),
      enabled: paused ? false : undefined,
      factory_uid: factory === undefined ? undefined : (await findFactory(api, factory)).uid,
    };
    const made = await api.agent.schedules.create(body);
    output.result(made, () => {
      output.line(made.id);
      output.note(`made: ${made.name}, ${firesText(made)}`);
    });
    noteIgnored(calling, made.ignored);
    return EXIT.ok;
  },
});

const update = apiVerb({
  name: 'schedules update',
  arguments: 'NAME|ID',
  summary: 'Changes a schedule; what is not named stays. With another expression it counts from now.',
  positionals: [1, 1],
  options: {
    name: { type: 'string', value: 'TEXT', help: 'what it is called' },
    ...SETTINGS,
    'no-identity': { type: 'boolean', help: 'its runs have the defaults of no agent identity' },
  },
  async run({ values, positionals: [name = ''] }, calling) {
    const isWithout = values['no-identity'] === true;
    if (isWithout && values.identity !== undefined) throw new UsageError('give --identity or --no-identity, not both');
    const isSaid = isWithout || CHANGES.some((option) => values[option] !== undefined);
    if (!isSaid) throw new UsageError('say what is to change');
    const { api, output } = calling;
    const before = await findSchedule(api, name);
    const config = configOf(values);
    const body: ScheduleUpdate = {
      ...(await settingsOf(values, calling)),
      ...(isWithout ? { agent_uid: null } : {}),
      name: values.name ?? before.name,
      cron_schedule: values.cron ?? before.cron_schedule,
      enabled: before.enabled,
      agent_config: config && mergedConfig(before.agent_config, config),
    };
    const changed = await api.agent.schedules.update(before.id, body);
    output.result(changed, () => output.line(`${changed.name}: ${firesText(changed)}`));
    noteIgnored(calling, changed.ignored);
    return EXIT.ok;
  },
});

const remove = apiVerb({
  name: 'schedules delete',
  arguments: 'NAME|ID',
  summary: 'Deletes a schedule: it starts nothing from now on, runs that it started stay.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [name = ''] }, { api, output }) {
    const found = await findSchedule(api, name);
    await api.agent.schedules.delete(found.id);
    output.result({ id: found.id, deleted: true }, () => output.line(`${found.name}: deleted`));
    return EXIT.ok;
  },
});

/** The verb `schedules`. */
export const schedules = group(
  'schedules',
  {
    list,
    get,
    create,
    update,
    pause: toggle('pause', 'Makes a schedule start nothing from now on.'),
    resume: toggle('resume', 'Lets a schedule fire again; ticks of its pause are neither made up for nor missed.'),
    delete: remove,
  },
  list,
);

function toggle(word: 'pause' | 'resume', summary: string): DescribedVerb {
  return apiVerb({
    name: `schedules ${word}`,
    arguments: 'NAME|ID',
    summary,
    details: ['A trigger of an automation is changed in its file, which is named.'],
    positionals: [1, 1],
    options: {},
    async run({ positionals: [name = ''] }, { api, output }: Calling) {
      const { id } = await findSchedule(api, name);
      const changed = await api.agent.schedules[word](id);
      output.result(changed, () => output.line(`${changed.name}: ${firesText(changed)}`));
      return EXIT.ok;
    },
  });
}

/** By its ID, or by a name that one alone has. */
async function findSchedule(api: Api, name: string): Promise<ScheduleItem> {
  const { schedules: all } = await api.agent.schedules.list();
  const [found, ...others] = all.filter((one) => one.id === name || one.name === name);
  if (found === undefined) {
    const known = all.length === 0 ? 'there are none' : `there are ${listed(all.map((one) => one.name))}`;
    throw new CommandError('there is no schedule of that name or ID that this key may see', EXIT.notFound, [known]);
  }
  if (others.length === 0) return found;
  const ids = [found, ...others].map(({ id }) => id).join(', ');
  throw new CommandError(`several schedules are called that: ${ids}; say the ID`, EXIT.usage);
}

type Values = Partial<ValuesOf<typeof SETTINGS>>;

async function settingsOf(
  { prompt, mode, metadata, identity }: Values,
  calling: Calling,
): Promise<Pick<ScheduleUpdate, 'prompt' | 'mode' | 'metadata' | 'agent_uid'>> {
  return {
    prompt: prompt === undefined ? undefined : await textOf(prompt, '--prompt', calling),
    mode: mode as ScheduleUpdate['mode'], // the service knows which there are
    metadata: metadata && entriesOf(metadata),
    agent_uid: identity === undefined ? undefined : (await findIdentity(calling.api, identity)).uid,
  };
}

type AgentConfig = NonNullable<ScheduleCreate['agent_config']>;

function configOf({ skill, model, environment, harness }: Values): AgentConfig | undefined {
  const config: AgentConfig = {
    skill_spec: skill,
    model_id: model,
    environment_id: environment,
    harness: harness === undefined ? undefined : { type: harness },
  };
  return Object.values(config).every((member) => member === undefined) ? undefined : config;
}

/** What is not named stays; a skill takes the place of all that there were. */
function mergedConfig({ skills, ...before }: AgentConfig, { skill_spec: skill, ...config }: AgentConfig): AgentConfig {
  const said = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
  if (skill !== undefined) return { ...before, ...said, skill_spec: skill };
  const { skill_spec: first, ...rest } = before;
  return skills === undefined
    ? { ...before, ...said }
    : { ...rest, ...said, skills: skills.length > 0 ? skills : [first ?? ''] };
}

function stateOf({ enabled, history }: ScheduleItem): Cell {
  if (!enabled) return { text: 'paused', colour: 'yellow' };
  return history.next_run === undefined ? { text: 'never fires', colour: 'yellow' } : 'active';
}

function firesText({ enabled, history: { next_run: next } }: ScheduleItem): string {
  if (!enabled) return 'paused';
  return next === undefined ? 'never fires' : `next run ${toSeconds(next)}`;
}

function missedText({ missed, last_missed_at: last }: ScheduleItem['history']): string {
  return last === undefined ? String(missed) : `${missed}, the last one ${toSeconds(last)}`;
}

/** Where it is changed: the file of a trigger, else its automation, else the API. */
function managedIn({ read_only: isReadOnly, metadata }: ScheduleItem): string {
  if (!isReadOnly) return 'the API';
  return metadata['file'] ?? `automation ${metadata['automation_id']}`;
}

function rowOf(schedule: ScheduleItem): Cell[] {
  const { id, name, cron_schedule: cron, history } = schedule;
  return [
    id,
    name,
    cron,
    stateOf(schedule),
    toSeconds(history.next_run),
    toSeconds(history.last_ran),
    String(history.missed),
    managedIn(schedule),
  ];
}
