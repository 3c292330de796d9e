/** `millwright automations`: what starts runs of a factory, and whether it may. contract §11. */
import type { Automation, Factory } from '#client';
import { apiVerb, type Api, type Calling } from '../../connection/api.ts';
import { CommandError, group, UsageError, type DescribedVerb } from '../../command.ts';
import { factoryOf, findFactory, listed, SLUG } from '../../connection/name-resolution.ts';
import { all, noteMore, PAGE_OPTIONS, PAGE_SIZE_MAX, pageQuery } from '../../connection/pages.ts';
import { EXIT } from '../../exit-codes.ts';
import { toSeconds, type Cell } from '../../terminal/output.ts';

const UID = /^auto_[0-9a-hjkmnp-tv-z]{26}$/;

const list = apiVerb({
  name: 'automations list',
  arguments: '[FACTORY]',
  summary: 'Lists the automations of a factory, with the runs of the last 7 days.',
  positionals: [0, 1],
  options: PAGE_OPTIONS,
  async run({ values, positionals: [name] }, { api, output }) {
    const query = pageQuery(values);
    const factory = await findFactory(api, name);
    const { body: answer } = await api.factories.automations.list(factory.uid, query);
    output.result(answer, () => {
      if (answer.automations.length === 0) return output.note(`factory ${factory.slug} has no automations`);
      output.table(['NAME', 'ENABLED', 'TRIGGERS', 'RUNS', 'LAST FIRED', 'FILE'], answer.automations.map(rowOf), 5);
      noteMore(output, answer.page_info);
    });
    return EXIT.ok;
  },
});

const get = apiVerb({
  name: 'automations get',
  arguments: '[FACTORY] AUTOMATION',
  summary: 'Shows one automation.',
  positionals: [1, 2],
  options: {},
  async run({ positionals }, { api, output }) {
    const { factory, automation } = await automationOf(api, positionals);
    const found = await api.factories.automations.retrieve(factory.uid, automation.uid);
    output.result(found, () => {
      output.fields([
        ['automation', `${found.slug} (${found.uid})`],
        ['description', found.description],
        ['enabled', found.enabled ? 'yes' : { text: 'no', colour: 'yellow' }],
        ...found.triggers.map((trigger, at) => [at === 0 ? 'triggers' : '', triggerText(trigger)] as const),
        ...(found.schedules ?? []).map(({ cron, next_at: next }) => ['next', `${toSeconds(next)} (${cron})`] as const),
        ['last fired', toSeconds(found.last_fired_at)],
        ['runs of 7 days', runsText(found)],
        ['revision', found.revision],
        ['file', found.file ?? 'managed over the API'],
      ]);
      output.line('');
      output.text(found.prompt, '  ');
    });
    return EXIT.ok;
  },
});

const remove = apiVerb({
  name: 'automations delete',
  arguments: '[FACTORY] AUTOMATION',
  summary: 'Deletes an automation: it starts nothing from now on, runs that it started go on.',
  positionals: [1, 2],
  options: {},
  async run({ positionals }, { api, output }) {
    const { factory, automation } = await automationOf(api, positionals);
    await api.factories.automations.delete(factory.uid, automation.uid);
    output.result({ uid: automation.uid, slug: automation.slug, deleted: true }, () =>
      output.line(`${automation.slug}: deleted`),
    );
    return EXIT.ok;
  },
});

const members = {
  list,
  get,
  enable: toggle('enable', true, 'Lets the triggers of an automation start runs.'),
  disable: toggle('disable', false, 'Makes the triggers of an automation start nothing.'),
  delete: remove,
};

/** The verb `automations`; a word that is none of its members is a factory whose automations are listed. */
export const automations = group('automations', members, list, { isOpen: true });

function toggle(word: string, enabled: boolean, summary: string): DescribedVerb {
  return apiVerb({
    name: `automations ${word}`,
    arguments: '[FACTORY] AUTOMATION',
    summary,
    details: ['Where files decide, nothing changes: the edit of the file that does it is printed.'],
    positionals: [1, 2],
    options: {},
    async run({ positionals }, { api, output }: Calling) {
      const { factory, automation } = await automationOf(api, positionals);
      const changed = await api.factories.automations.update(factory.uid, automation.uid, { enabled, ifMatch: '*' });
      output.result(changed, () => output.line(`${changed.slug}: ${changed.enabled ? 'enabled' : 'disabled'}`));
      return EXIT.ok;
    },
  });
}

async function automationOf(
  api: Api,
  positionals: readonly string[],
): Promise<{ factory: Factory; automation: Automation }> {
  const name = positionals.at(-1) ?? '';
  if (!SLUG.test(name) && !UID.test(name))
    throw new UsageError('AUTOMATION must be the name of an automation or its UID (auto_…)');
  const factory = await factoryOf(api, positionals, 'AUTOMATION');
  const known = await all(api.factories.automations.list(factory.uid, { limit: PAGE_SIZE_MAX }));
  const automation = known.find(({ slug, uid }) => slug === name || uid === name);
  if (automation !== undefined) return { factory, automation };
  const words = known.length === 0 ? 'it has none' : `it has ${listed(known.map(({ slug }) => slug))}`;
  throw new CommandError(`factory ${factory.slug} has no automation ${name}; ${words}`, EXIT.notFound);
}

function triggerText({ provider, webhook_uids: webhooks, cron, declared_provider: declared }: Trigger): string {
  if (provider === 'webhook') return `webhook ${(webhooks ?? []).join(', ')}`.trimEnd();
  return provider === 'schedule' ? `schedule ${cron ?? ''}` : `${declared ?? provider} (not served here)`;
}

type Trigger = Automation['triggers'][number];

function runsText({ recent_runs: { total, states } }: Automation): string {
  const words = Object.entries(states).map(([state, amount]) => `${amount} ${state}`);
  return words.length === 0 ? String(total) : `${total} (${words.join(', ')})`;
}

function rowOf(automation: Automation): Cell[] {
  const { slug, enabled, triggers, recent_runs: runs, last_fired_at: fired, file } = automation;
  return [
    slug,
    enabled ? 'yes' : { text: 'no', colour: 'yellow' },
    [...new Set(triggers.map(({ provider }) => provider))].join(', '),
    String(runs.total),
    toSeconds(fired),
    file ?? '-',
  ];
}
