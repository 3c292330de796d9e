/** `millwright identities`: named defaults of runs. contract §3.14 (Agent identities). */
import type { AgentIdentity, AgentIdentityCreate, AgentIdentityUpdate } from '#client';
import { apiVerb, type Api, type Calling } from '../../connection/api.ts';
import { CommandError, group, UsageError, type OptionSpecs, type ValuesOf } from '../../command.ts';
import { findFactory, listed } from '../../connection/name-resolution.ts';
import { EXIT } from '../../exit-codes.ts';
import { toSeconds, type Cell } from '../../terminal/output.ts';
import { textOf } from '../../connection/request-values.ts';

const SETTINGS = {
  description: { type: 'string', value: 'TEXT', help: 'what it is for' },
  prompt: { type: 'string', value: 'TEXT|-', help: 'base prompt of its runs; - reads it from stdin' },
  model: { type: 'string', value: 'ID', help: 'model of its runs' },
  harness: { type: 'string', value: 'TYPE', help: 'agent that works on its runs' },
  environment: { type: 'string', value: 'ENVIRONMENT', help: 'environment: name of one of the factory, or a UID' },
  worker: { type: 'string', value: 'HOST', help: 'machine that works on its runs' },
  skill: {
    type: 'string',
    value: 'SKILL,…',
    multiple: true,
    commas: true,
    help: 'skill of its runs; may be repeated',
  },
  secret: {
    type: 'string',
    value: 'NAME,…',
    multiple: true,
    commas: true,
    help: 'managed secret of its runs, as its grants allow; may be repeated',
  },
} as const satisfies OptionSpecs;

const list = apiVerb({
  name: 'identities list',
  summary: 'Lists agent identities: named defaults that runs and schedules may have.',
  options: { factory: { type: 'string', value: 'FACTORY', help: 'those of this factory (slug or UID)' } },
  async run({ values: { factory } }, { api, output }) {
    const uid = factory === undefined ? undefined : (await findFactory(api, factory)).uid;
    const answer = await api.agent.identities.list({ factory_uid: uid });
    output.result(answer, () => {
      if (answer.agents.length === 0) return output.note('there are no agent identities');
      output.table(
        ['UID', 'NAME', 'HARNESS', 'MODEL', 'FACTORY', 'CHANGED', 'DESCRIPTION'],
        answer.agents.map(rowOf),
        6,
      );
    });
    return EXIT.ok;
  },
});

const get = apiVerb({
  name: 'identities get',
  arguments: 'NAME|UID',
  summary: 'Shows one agent identity.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [name = ''] }, { api, output }) {
    const found = await findIdentity(api, name);
    output.result(found, () => {
      output.fields([
        ['identity', `${found.name} (${found.uid})`],
        ['description', found.description],
        ['factory', found.factory_uid],
        ['harness', found.harness?.type],
        ['model', found.base_model ?? found.harness?.model_id],
        ['environment', found.environment_id],
        ['worker', found.worker_host],
        ['skills', found.skills.length === 0 ? undefined : found.skills.join(', ')],
        ['secrets', found.secrets.length === 0 ? undefined : found.secrets.map((secret) => secret.name).join(', ')],
        ['MCP servers', found.mcp_servers && Object.keys(found.mcp_servers).join(', ')],
        ['changed', toSeconds(found.updated_at)],
      ]);
      if (found.prompt === undefined) return;
      output.line('');
      output.text(found.prompt, '  ');
    });
    return EXIT.ok;
  },
});

const create = apiVerb({
  name: 'identities create',
  arguments: 'NAME',
  summary: 'Makes an agent identity, and prints its UID.',
  details: ['It widens nothing: a run that names it is what it would be with the same settings in its request.'],
  positionals: [1, 1],
  options: {
    ...SETTINGS,
    factory: { type: 'string', value: 'FACTORY', help: 'factory that it, and its runs, belong to (slug or UID)' },
  },
  async run({ values, positionals: [name = ''] }, calling) {
    const { factory } = values;
    const body: AgentIdentityCreate = {
      ...(await settingsOf(values, calling)),
      name,
      factory_uid: factory === undefined ? undefined : (await findFactory(calling.api, factory)).uid,
    };
    const made = await calling.api.agent.identities.create(body);
    calling.output.result(made, () => {
      calling.output.line(made.uid);
      calling.output.note(`made: ${made.name}`);
    });
    return EXIT.ok;
  },
});

const update = apiVerb({
  name: 'identities update',
  arguments: 'NAME|UID',
  summary: 'Changes an agent identity; what is not named stays. Runs that exist keep what they have.',
  positionals: [1, 1],
  options: { name: { type: 'string', value: 'TEXT', help: 'what it is called' }, ...SETTINGS },
  async run({ values, positionals: [name = ''] }, calling) {
    const settings: AgentIdentityUpdate = { ...(await settingsOf(values, calling)), name: values.name };
    if (Object.values(settings).every((value) => value === undefined)) throw new UsageError('say what is to change');
    const { uid } = await findIdentity(calling.api, name);
    const changed = await calling.api.agent.identities.update(uid, settings);
    calling.output.result(changed, () => calling.output.line(`${changed.name}: changed`));
    return EXIT.ok;
  },
});

const remove = apiVerb({
  name: 'identities delete',
  arguments: 'NAME|UID',
  summary: 'Deletes an agent identity that no schedule has; runs that exist go on.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [name = ''] }, { api, output }) {
    const found = await findIdentity(api, name);
    await api.agent.identities.delete(found.uid);
    output.result({ uid: found.uid, deleted: true }, () => output.line(`${found.name}: deleted`));
    return EXIT.ok;
  },
});

/** The verb `identities`. */
export const identities = group('identities', { list, get, create, update, delete: remove }, list);

/** By its UID, or by a name that one alone has. */
export async function findIdentity(api: Api, name: string): Promise<AgentIdentity> {
  const { agents: all } = await api.agent.identities.list();
  const [found, ...others] = all.filter((one) => one.uid === name || one.name === name);
  if (found === undefined) {
    const known = all.length === 0 ? 'there are none' : `there are ${listed(all.map((one) => one.name))}`;
    throw new CommandError('there is no agent identity of that name or UID that this key may see', EXIT.notFound, [
      known,
    ]);
  }
  if (others.length === 0) return found;
  const uids = [found, ...others].map(({ uid }) => uid).join(', ');
  throw new CommandError(`several agent identities are called that: ${uids}; say the UID`, EXIT.usage);
}

async function settingsOf(values: Partial<ValuesOf<typeof SETTINGS>>, calling: Calling) {
  const { prompt, harness, model, skill, secret } = values;
  return {
    description: values.description,
    prompt: prompt === undefined ? undefined : await textOf(prompt, '--prompt', calling),
    // The model of another agent than the built-in one stands with its harness.
    base_model: harness === undefined ? model : '',
    harness: harness === undefined ? undefined : { type: harness, model_id: model },
    environment_id: values.environment,
    worker_host: values.worker,
    skills: skill,
    secrets: secret?.map((name) => ({ name })),
  };
}

function rowOf(identity: AgentIdentity): Cell[] {
  const { uid, name, harness, base_model: model, factory_uid: factory, updated_at: updated, description } = identity;
  return [
    uid,
    name,
    harness?.type ?? '-',
    model ?? harness?.model_id ?? '-',
    factory ?? '-',
    toSeconds(updated),
    description ?? '-',
  ];
}
