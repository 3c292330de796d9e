/** A key that is wanted, as it is typed. */
import type { Api } from '../../api/client.ts';
import { fromLocal } from '../../components/forms/local-time.ts';
import type { ApiKey } from './queries.ts';

export const ENDS = [
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
  { value: 'at', label: 'at a time' },
  { value: 'never', label: 'never' },
] as const;

export interface Draft {
  name: string;
  role: ApiKey['role'];
  /** UIDs; empty: all factories. */
  factories: string[];
  end: (typeof ENDS)[number]['value'];
  /** Where `end` is `at`: as the browser's input writes it. */
  endsAt: string;
  /** Whose key it is: one's own, a new one's, or that of the principal of this UID. */
  whose: 'own' | 'service_account' | 'user' | 'other';
  displayName: string;
  email: string;
  principalUid: string;
}

export const BLANK: Draft = {
  name: '',
  role: 'operator',
  factories: [],
  end: '90',
  endsAt: '',
  whose: 'own',
  displayName: '',
  email: '',
  principalUid: '',
};

/** Members whose faults stand at their fields. */
export const FIELDS = [
  '/name',
  '/role',
  '/factories',
  '/expires_at',
  '/expires_in_days',
  '/principal/display_name',
  '/principal/email',
  '/principal_uid',
];

/** What the fields hold, by the pointers of their members. */
export function valuesOf({
  name,
  role,
  factories,
  end,
  endsAt,
  displayName,
  email,
  principalUid,
}: Draft): Record<string, unknown> {
  return {
    '/name': name,
    '/role': role,
    '/factories': factories,
    '/expires_at': endsAt,
    '/expires_in_days': end,
    '/principal/display_name': displayName,
    '/principal/email': email,
    '/principal_uid': principalUid,
  };
}

/** What is sent. A time that is none is left for the server to name. */
export function requestOf(draft: Draft): Api<'ApiKeyCreate'> {
  const { name, role, factories, end, endsAt, whose, displayName, email, principalUid } = draft;
  return {
    name,
    role,
    ...(factories.length === 0 ? {} : { factories }),
    ...(end === 'never'
      ? {}
      : end === 'at'
        ? { expires_at: fromLocal(endsAt) ?? '' }
        : { expires_in_days: Number(end) }),
    ...(whose === 'own'
      ? {}
      : whose === 'other'
        ? { principal_uid: principalUid }
        : { principal: { type: whose, display_name: displayName, ...(email === '' ? {} : { email }) } }),
  };
}
