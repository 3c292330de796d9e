/** Signature schemes as the API shows them: what a webhook may name, and what somebody who sets it up has to know. contract 6. */
import {
  deliveryHeadersOf,
  secretRequirement,
  secretUse,
  signatureHeadersOf,
  SIGNATURE_SCHEMES,
  UNSHIPPED_SCHEMES,
  type SignatureScheme,
} from '#authentication';
import type { SignatureScheme as SignatureSchemeItem, SignatureSchemeList } from '#contracts';

/** Every scheme that is known here. */
export function signatureSchemes(): SignatureSchemeList {
  return {
    signature_schemes: [...SIGNATURE_SCHEMES.values()].map(toItem),
    unavailable: [...UNSHIPPED_SCHEMES].map(([id, reason]) => ({ id, reason })),
  };
}

function toItem(scheme: SignatureScheme): SignatureSchemeItem {
  const use = secretUse('signature', scheme.id);
  return {
    id: scheme.id,
    signature_headers: [...signatureHeadersOf(scheme)],
    delivery_headers: [...deliveryHeadersOf(scheme)],
    timestamp_tolerance_seconds: scheme.timestamp?.toleranceSeconds ?? null,
    secret_origin: use === 'standard_webhooks' ? 'either' : 'provider',
    secret_requirement: secretRequirement(use),
    documentation: `https://${scheme.source}`,
  };
}
