/** What definitions had better say against replays, and do not: no problem, and shown by plans. contract §5.7. */
import { signsNoTime } from '#authentication/schemes';
import type { WebhookDefinition } from './types.ts';

/** A sentence for people about one file. */
export interface Advice {
  path: string;
  message: string;
}

/** In the order of the webhooks; a disabled one may be enabled by one word. */
export function replayAdvice(webhooks: readonly WebhookDefinition[]): Advice[] {
  return webhooks.flatMap(({ path, signatureScheme, replayProtection }) =>
    signatureScheme !== undefined && signsNoTime(signatureScheme) && replayProtection === undefined
      ? [
          {
            path,
            message:
              `${signatureScheme} signs no time: a captured request that is sent again under another delivery ID ` +
              'starts runs again; add replayProtection: body, unless equal bodies are different deliveries there',
          },
        ]
      : [],
  );
}
