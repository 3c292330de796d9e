/** `millwright factories`: list, create, change and delete factories. contract §4, §11. */
import type { Factory, FactoryCreate } from '#client';
import { apiVerb, type Calling } from '../../connection/api.ts';
import { CommandError, group, UsageError, type OptionSpecs } from '../../command.ts';
import { findFactory } from '../../connection/name-resolution.ts';
import { noteMore, PAGE_OPTIONS, pageQuery } from '../../connection/pages.ts';
import { EXIT } from '../../exit-codes.ts';
import { count, toSeconds, type Cell } from '../../terminal/output.ts';
import { readPolicy, SOURCE_OPTIONS, sourceOf, sourceText } from './factory-source.ts';

const POLICY = {
  'sync-policy': {
    type: 'string',
    value: 'FILE|-',
    help: 'what is asked of commits before they apply, as JSON or (.yaml, .yml) YAML; {} asks nothing',
  },
} as const satisfies OptionSpecs;

const list = apiVerb({
  name: 'factories list',
  summary: 'Lists the factories that the key may see.',
  options: {
    search: { type: 'string', value: 'TEXT', help: 'only those whose slug or name holds this' },
    ...PAGE_OPTIONS,
  },
  async run({ values: { search, ...page } }, { api, output }) {
    const { body: answer } = await api.factories.list({ ...pageQuery(page), search });
    output.result(answer, () => {
      if (answer.factories.length === 0) return output.note('there are no such factories');
      output.table(['NAME', 'LABEL', 'STATE', 'UPDATED', 'UID', 'SOURCE'], answer.factories.map(rowOf), 5);
      noteMore(output, answer.page_info);
    });
    return EXIT.ok;
  },
});

const create = apiVerb({
  name: 'factories create',
  arguments: 'SLUG',
  summary:
    'Makes a factory: of a git repository, of a directory of the server, or (with neither) managed over the API.',
  details: ['A slug that was used before gives the same UIDs and ingress URLs again.'],
  positionals: [1, 1],
  options: {
    name: { type: 'string', value: 'TEXT', help: 'label for people (default: the slug)' },
    ...SOURCE_OPTIONS,
    ...POLICY,
  },
  async run({ values, positionals: [slug = ''] }, calling) {
    const body: FactoryCreate = {
      slug,
      name: values.name,
      source: sourceOf(values, { kind: 'dashboard' }),
      sync_policy: await readPolicy(values['sync-policy'], calling.io),
    };
    const made = await calling.api.factories.create(body);
    return printChanged(calling, made, 'made');
  },
});

const update = apiVerb({
  name: 'factories update',
  arguments: 'FACTORY',
  summary:
    'Changes a factory: its label, where its definitions come from, what is asked of them; stops and resumes it.',
  details: [
    'Members of the source that are not named stay as they are; with --git, --directory or --api the source is a new ' +
      'one.',
  ],
  positionals: [1, 1],
  options: {
    name: { type: 'string', value: 'TEXT', help: 'new label for people' },
    ...SOURCE_OPTIONS,
    ...POLICY,
    suspend: { type: 'boolean', help: 'stop reconciling; webhooks and automations serve on' },
    resume: { type: 'boolean', help: 'go on with reconciling' },
  },
  async run({ values, positionals: [name] }, calling) {
    const { suspend = false, resume = false, 'sync-policy': policy } = values;
    const asksSource = Object.keys(SOURCE_OPTIONS).some(
      (option) => values[option as keyof typeof values] !== undefined,
    );
    const edits = asksSource || (values.name ?? policy) !== undefined;
    if (suspend && resume) throw new UsageError('give --suspend or --resume, not both');
    if (!edits && !suspend && !resume)
      throw new UsageError('say what to change; see millwright factories update --help');
    const { api, io } = calling;
    const policyBody = await readPolicy(policy, io);
    let factory = await findFactory(api, name);
    if (edits) {
      const source = asksSource ? sourceOf(values, factory.source) : undefined;
      factory = await api.factories.update(factory.uid, { name: values.name, source, sync_policy: policyBody });
    }
    if (suspend) factory = await api.factories.suspend(factory.uid);
    if (resume) factory = await api.factories.resume(factory.uid);
    return printChanged(calling, factory, 'changed');
  },
});

const remove = apiVerb({
  name: 'factories delete',
  arguments: 'FACTORY',
  summary: 'Deletes a factory: its webhooks answer 404 at once, waiting runs are cancelled, live ones finish.',
  positionals: [1, 1],
  options: { force: { type: 'boolean', help: 'delete it even if it serves something' } },
  async run({ values: { force = false }, positionals: [name] }, { api, output }) {
    const factory = await findFactory(api, name);
    const { inventory } = await api.factories.status(factory.uid);
    const { schedules } = await api.agent.schedules.list();
    const served = {
      webhook: inventory.filter(({ kind }) => kind === 'webhook').length,
      automation: inventory.filter(({ kind }) => kind === 'automation').length,
      schedule: schedules.filter(({ factory_uid: of, read_only: isOfFile }) => of === factory.uid && !isOfFile).length,
    };
    if (Object.values(served).some((amount) => amount > 0) && !force)
      throw new CommandError(
        `${factory.slug} serves ${Object.entries(served)
          .map(([kind, amount]) => count(amount, kind))
          .join(', ')}`,
        EXIT.problems,
        ['senders would be answered 404 at once, and schedules go with it; --force deletes it all the same'],
      );
    await api.factories.delete(factory.uid);
    output.result({ uid: factory.uid, slug: factory.slug, deleted: true }, () =>
      output.line(`${factory.slug}: deleted`),
    );
    return EXIT.ok;
  },
});

/** The verb `factories`. */
export const factories = group('factories', { list, create, update, delete: remove }, list);

function printChanged({ output }: Calling, factory: Factory, word: string): number {
  output.result(factory, () => output.line(`${factory.slug} (${factory.uid}): ${word}, ${sourceText(factory.source)}`));
  if (factory.definitions_managed) output.note(`see what it serves with: millwright status ${factory.slug}`);
  return EXIT.ok;
}

function rowOf(factory: Factory): Cell[] {
  const { slug, name, suspended, updated_at: updated, uid, source } = factory;
  const state: Cell = suspended ? { text: 'suspended', colour: 'yellow' } : 'active';
  return [slug, name, state, toSeconds(updated), uid, sourceText(source)];
}
