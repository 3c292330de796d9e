/** What somebody types into the form of a new webhook, and the request that it becomes. */
import { signsNoTime } from '#authentication/schemes';
import type { Api } from '../../../api/client.ts';
import type { Provider } from '../sending/providers.ts';
import type { Mode } from '../../../api/webhooks.ts';

export interface Draft {
  name: string;
  description: string;
  mode: Mode;
  /** Identifier of the provider; empty while none is chosen. */
  provider: string;
  secret: string;
  /** The page made the secret up, so that it has to be shown. */
  isSecretOurs: boolean;
  secretName: string;
  header: string;
  /** Undefined: as the provider's scheme needs it. */
  isBodyProtected?: boolean;
}

export const EMPTY_DRAFT: Draft = {
  name: '',
  description: '',
  mode: 'token',
  provider: '',
  secret: '',
  isSecretOurs: false,
  secretName: '',
  header: '',
};

/** Members of the body that have a field of their own. */
export const FIELDS: readonly string[] = [
  '/name',
  '/description',
  '/auth_mode',
  '/signature_scheme',
  '/secret',
  '/secret_name',
  '/delivery_id_header',
  '/replay_protection',
  '/secret_overlap_minutes',
];

/** Whether the signed body identifies a delivery too: unless said, where the scheme signs no time. */
export function isBodyProtected(
  { mode, isBodyProtected: chosen }: Pick<Draft, 'mode' | 'isBodyProtected'>,
  provider: Provider | undefined,
): boolean {
  return mode === 'signature' && provider !== undefined && (chosen ?? signsNoTime(provider.scheme));
}

export function bodyOf(draft: Draft, provider: Provider | undefined): Api<'WebhookCreate'> {
  const { name, description, mode, secret, secretName, header } = draft;
  return {
    name,
    auth_mode: mode,
    ...(mode === 'signature' && provider !== undefined ? { signature_scheme: provider.scheme } : {}),
    ...(mode === 'signature' && secret !== '' ? { secret } : {}),
    ...(description === '' ? {} : { description }),
    ...(secretName === '' ? {} : { secret_name: secretName }),
    ...(header === '' ? {} : { delivery_id_header: header }),
    ...(isBodyProtected(draft, provider) ? { replay_protection: 'body' as const } : {}),
  };
}
