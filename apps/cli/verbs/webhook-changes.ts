/**
 * `millwright webhooks create|enable|disable|rotate|delete`: what changes webhooks of a dashboard factory. Secrets come
 * in through stdin or a file, new ones are printed once. spec: Webhook management.
 */
import type { Factory, Webhook, WebhookCreate, WebhookCreated, WebhookRotated } from '#client';
import { apiVerb, type Calling } from '../connection/api.ts';
import { UsageError, type DescribedVerb, type OptionSpecs } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readInput, toText, withoutFinalNewline } from '../terminal/input.ts';
import { factoryOf, findFactory, findWebhook } from '../connection/name-resolution.ts';

const SECRET = {
  'secret-file': {
    type: 'string',
    value: 'FILE',
    help: "file with the provider's signing secret (- for stdin); one final line end is not part of it",
  },
} as const satisfies OptionSpecs;

/** Shared help text on how secrets are passed and printed. */
const SHOWN_ONCE = 'the secret is not shown again; store it now';

export const create = apiVerb({
  name: 'webhooks create',
  arguments: '[FACTORY]',
  summary: 'Makes a webhook and prints its URL, and below it a generated secret, this once.',
  details: [
    'The URL of a url_token webhook holds its secret. Without a secret, a webhook of a provider is made ' +
      'disabled: rotate it with the',
    "provider's secret, then enable it.",
  ],
  positionals: [0, 1],
  options: {
    name: { type: 'string', value: 'NAME', required: true, help: 'label; the slug is made of it' },
    'auth-mode': {
      type: 'string',
      value: 'token|url_token|signature',
      help: 'how senders prove themselves (default: token)',
    },
    'signature-scheme': {
      type: 'string',
      value: 'SCHEME',
      help: 'github, stripe, standard_webhooks …, with --auth-mode signature',
    },
    'secret-name': { type: 'string', value: 'SECRET', help: 'managed secret to use, or to make' },
    'delivery-id-header': { type: 'string', value: 'HEADER', help: 'header whose value identifies a delivery' },
    'replay-protection': {
      type: 'string',
      value: 'body',
      help: 'body: a signed body is accepted once, whatever delivery ID it comes with; with --auth-mode signature',
    },
    'secret-overlap': {
      type: 'string',
      value: 'MINUTES',
      help: 'accept the value of before too, 1 to 1440 minutes, when the secret has got another one (default: not)',
    },
    description: { type: 'string', value: 'TEXT', help: 'what it is for' },
    ...SECRET,
  },
  async run({ values, positionals: [name] }, calling) {
    const factory = await findFactory(calling.api, name);
    const body: WebhookCreate = {
      name: values.name,
      auth_mode: values['auth-mode'] as WebhookCreate['auth_mode'], // the service knows which there are
      signature_scheme: values['signature-scheme'],
      secret_name: values['secret-name'],
      delivery_id_header: values['delivery-id-header'],
      replay_protection: values['replay-protection'] as WebhookCreate['replay_protection'],
      secret_overlap_minutes: overlapOf(values['secret-overlap']),
      description: values.description,
      secret: await secretFrom(values['secret-file'], calling),
    };
    const made = await calling.api.factories.webhooks.create(factory.uid, body);
    const state = made.enabled
      ? 'enabled'
      : 'disabled until its secret is known: webhooks rotate, then webhooks enable';
    calling.output.result(made, () =>
      printShown(calling, made, `webhook ${made.slug} of factory ${factory.slug}: ${state}`),
    );
    return EXIT.ok;
  },
});

export const rotate = apiVerb({
  name: 'webhooks rotate',
  arguments: '[FACTORY] WEBHOOK',
  summary: "Replaces a webhook's secret; the old one is dead at once.",
  details: ['A generated secret is printed, this once, below the URL.'],
  positionals: [1, 2],
  options: SECRET,
  async run({ values, positionals }, calling) {
    const { factory, webhook } = await webhookOf(calling, positionals);
    const secret = await secretFrom(values['secret-file'], calling);
    const rotated = await calling.api.factories.webhooks.rotate(factory.uid, webhook.uid, { secret });
    const moved = rotated.rotated.map(({ slug }) => slug).join(', ');
    calling.output.result(rotated, () => printShown(calling, rotated, `the new secret is in use by ${moved}`));
    return EXIT.ok;
  },
});

export const enable = toggle('enable', true, 'Lets a webhook take deliveries.');
export const disable = toggle('disable', false, 'Makes a webhook answer 404 at once; automations and history stay.');

export const remove = apiVerb({
  name: 'webhooks delete',
  arguments: '[FACTORY] WEBHOOK',
  summary: 'Deletes a webhook; senders get 404 at once. Made again under the same name it has the same URL.',
  positionals: [1, 2],
  options: {},
  async run({ positionals }, calling) {
    const { factory, webhook } = await webhookOf(calling, positionals);
    await calling.api.factories.webhooks.delete(factory.uid, webhook.uid);
    calling.output.result({ uid: webhook.uid, slug: webhook.slug, deleted: true }, () =>
      calling.output.line(`${webhook.slug}: deleted`),
    );
    return EXIT.ok;
  },
});

function toggle(word: string, enabled: boolean, summary: string): DescribedVerb {
  return apiVerb({
    name: `webhooks ${word}`,
    arguments: '[FACTORY] WEBHOOK',
    summary,
    positionals: [1, 2],
    options: {},
    async run({ positionals }, calling) {
      const { factory, webhook } = await webhookOf(calling, positionals);
      const changed = await calling.api.factories.webhooks.update(factory.uid, webhook.uid, { enabled });
      calling.output.result(changed, () =>
        calling.output.line(`${changed.slug}: ${changed.enabled ? 'enabled' : 'disabled'}`),
      );
      return EXIT.ok;
    },
  });
}

async function webhookOf(
  { api }: Calling,
  positionals: readonly string[],
): Promise<{ factory: Factory; webhook: Webhook }> {
  const factory = await factoryOf(api, positionals, 'WEBHOOK');
  const webhook = await findWebhook(api, factory, positionals.at(-1) ?? '');
  return { factory, webhook };
}

async function secretFrom(file: string | undefined, { io }: Calling): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return toText(
    withoutFinalNewline(await readInput(file, io, 'redirect a file or a pipe into the command')),
    'the secret',
  );
}

/** URL and generated secret go to stdout, one a line; what they are to stderr. */
function printShown({ output }: Calling, shown: WebhookCreated | WebhookRotated, note: string): void {
  output.line(shown.url ?? shown.ingress_url);
  if (shown.secret !== undefined && shown.url === undefined) output.line(shown.secret);
  output.note(note);
  if (shown.secret !== undefined) output.note(SHOWN_ONCE);
}

const MINUTES = /^\d{1,4}$/;

/** The service knows which there may be. */
function overlapOf(text: string | undefined): number | undefined {
  if (text === undefined || MINUTES.test(text)) return text === undefined ? undefined : Number(text);
  throw new UsageError('--secret-overlap must be a whole number of minutes');
}
