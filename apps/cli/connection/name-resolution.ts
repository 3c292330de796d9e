/**
 * From what people call a factory, webhook or run to its UID: checked before it becomes part of an address. contract
 * §1.
 */
import type { Factory, Webhook } from '#client';
import type { Api } from './api.ts';
import { CommandError, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { PAGE_SIZE_MAX } from './pages.ts';

/** The form of slugs. */
export const SLUG = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const FACTORY_UID = /^fac_[0-9a-hjkmnp-tv-z]{26}$/;
const WEBHOOK_UID = /^wh_[0-9a-hjkmnp-tv-z]{26}$/;
const RUN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Slugs that a message lists. */
const LISTED_MAX = 20;

/**
 * The factory of that UID or slug; without one, that of the context, else the only factory there is. Throws when
 * there is no such or more than one.
 */
export async function findFactory(api: Api, name: string | undefined): Promise<Factory> {
  if (name === undefined) return onlyFactory(api);
  if (FACTORY_UID.test(name)) return api.factories.retrieve(name);
  if (!SLUG.test(name)) throw new UsageError('FACTORY must be the slug of a factory or its UID (fac_…)');
  for await (const factory of api.factories.list({ search: name, limit: PAGE_SIZE_MAX })) {
    if (factory.slug === name) return factory;
  }
  throw new CommandError(`there is no factory ${name} that this key may see`, EXIT.notFound, await knownSlugs(api));
}

/**
 * The factory of `[FACTORY] NAME`, where `what` NAME is the name of. A factory alone is told of as that: its name is
 * what people leave nothing else behind.
 */
export async function factoryOf(api: Api, positionals: readonly string[], what: string): Promise<Factory> {
  const [first = ''] = positionals;
  return positionals.length > 1 ? findFactory(api, first) : onlyFactory(api, { what, name: first });
}

/** The factory's webhook of that slug or UID. */
export async function findWebhook(api: Api, factory: Factory, name: string): Promise<Webhook> {
  if (!SLUG.test(name) && !WEBHOOK_UID.test(name))
    throw new UsageError('WEBHOOK must be the name of a webhook or its UID (wh_…)');
  const { webhooks } = await api.factories.webhooks.list(factory.uid);
  const found = webhooks.find(({ slug, uid }) => slug === name || uid === name);
  if (found !== undefined) return found;
  if (webhooks.length === 0) throw new CommandError(`factory ${factory.slug} has no webhooks`, EXIT.notFound);
  throw new CommandError(
    `factory ${factory.slug} has no webhook ${name}; it has ${listed(webhooks.map(({ slug }) => slug))}`,
    EXIT.notFound,
  );
}

/** A validated run ID, safe in a URL. */
export function runId(text: string | undefined): string {
  if (text !== undefined && RUN_ID.test(text)) return text.toLowerCase();
  throw new UsageError('ID must be the ID of a run, as `millwright runs` prints it');
}

/** A validated permission ID, safe in a URL. */
export function permissionId(text: string): string {
  if (RUN_ID.test(text)) return text.toLowerCase();
  throw new UsageError('QUESTION must be the ID of a question, as `millwright runs permissions` prints it');
}

async function onlyFactory(api: Api, wanted?: { what: string; name: string }): Promise<Factory> {
  if (api.defaultFactory !== undefined) return findFactory(api, api.defaultFactory);
  const { items: factories } = await api.factories.list({ limit: LISTED_MAX + 1 });
  const [first] = factories;
  if (first === undefined)
    throw new CommandError('there is no factory that this key may see', EXIT.notFound, [
      'start the service with --factory DIR|URL, or create one with millwright factories create',
    ]);
  if (factories.length === 1) return first;
  const slugs = factories.map(({ slug }) => slug);
  if (wanted !== undefined && slugs.includes(wanted.name))
    throw new UsageError(`${wanted.what} is missing: ${wanted.name} is a factory`);
  throw new UsageError(`there are several factories, so name one: ${listed(slugs)}`);
}

async function knownSlugs(api: Api): Promise<string[]> {
  const { items: factories } = await api.factories.list({ limit: LISTED_MAX + 1 });
  return factories.length === 0 ? ['it may see none'] : [`it may see ${listed(factories.map(({ slug }) => slug))}`];
}

/** Names for a message. */
export function listed(names: readonly string[]): string {
  return names.length > LISTED_MAX ? `${names.slice(0, LISTED_MAX).join(', ')} …` : names.join(', ');
}
