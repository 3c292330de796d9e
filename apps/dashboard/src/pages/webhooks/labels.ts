/** Labels of the webhook pages. */
import type { Mode, Webhook } from '../../api/webhooks.ts';
import { schemeLabel } from './sending/providers.ts';

export const MODES: readonly { mode: Mode; label: string; means: string }[] = [
  {
    mode: 'token',
    label: 'Bearer token',
    means:
      'The sender puts a generated secret into the header Authorization. The default, for senders whose headers ' +
      'you choose.',
  },
  {
    mode: 'url_token',
    label: 'URL token',
    means:
      'The secret is the last part of the URL, for senders that only take an address. Whoever sees the URL can send.',
  },
  {
    mode: 'signature',
    label: 'Provider signature',
    means:
      'The provider signs each request with a secret that never travels: the safest, where your provider is in ' +
      'the list.',
  },
];

export function modeLabel({
  auth_mode: mode,
  signature_scheme: scheme,
}: Pick<Webhook, 'auth_mode' | 'signature_scheme'>): string {
  const label = MODES.find((known) => known.mode === mode)?.label ?? mode;
  return scheme === null ? label : `${label} · ${schemeLabel(scheme)}`;
}

export function protectionLabel(protection: Webhook['replay_protection']): string {
  return protection === 'body' ? 'each signed body is accepted once' : 'told by the delivery ID';
}

export function overlapLabel({ secret_overlap_minutes: minutes }: Pick<Webhook, 'secret_overlap_minutes'>): string {
  return typeof minutes === 'number' ? `${minutes} min` : 'none';
}

/** What two people can change of a webhook, as each reads it. */
export const MEMBERS: readonly { label: string; of: (webhook: Webhook) => string }[] = [
  { label: 'Name', of: ({ name }) => name },
  { label: 'Description', of: ({ description }) => description ?? 'none' },
  { label: 'Authentication', of: modeLabel },
  { label: 'Secret name', of: ({ secret_name: name }) => name },
  { label: 'Secret', of: ({ secret_set: isSet }) => (isSet ? 'set' : 'not set') },
  { label: 'Delivery ID header', of: ({ delivery_id_header: header }) => header ?? 'the default' },
  { label: 'Secret overlap', of: overlapLabel },
  { label: 'Replays', of: ({ replay_protection: protection }) => protectionLabel(protection) },
  { label: 'State', of: ({ enabled }) => (enabled ? 'Enabled' : 'Disabled') },
];
