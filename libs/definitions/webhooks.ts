/** What a webhook file says. spec: Webhook definition file; contract §8.2 (webhook). */
import type { WebhookFile } from '#contracts';
import { refuseDeliveryIdHeader } from './delivery-id-header.ts';
import { readDocument, type DocumentReading } from './yaml/document.ts';
import type { DeepPartial } from './yaml/faults.ts';
import { problemAt } from './rules/problems.ts';
import type { SourceText } from './yaml/source-text.ts';
import type { FileReading } from './file-reading.ts';
import type { WebhookDefinition } from './types.ts';

/** Reads webhooks/<name>.yaml. */
export function readWebhook(name: string, source: SourceText): FileReading<WebhookDefinition> {
  return webhookOf(name, source.path, readDocument('webhook', source, { start: 0, end: source.text.length }));
}

/** The webhook that a checked document says. */
export function webhookOf(
  name: string,
  path: string,
  { document, faults, problems, positions }: DocumentReading<'webhook'>,
): FileReading<WebhookDefinition> {
  if (document === undefined) return { definition: undefined, faults, problems, positions };
  const header = document.deliveryIdHeader?.toLowerCase();
  const reason = header === undefined ? undefined : refuseDeliveryIdHeader(header, document.signatureScheme);
  if (reason !== undefined) {
    const written = JSON.stringify(document.deliveryIdHeader);
    const wayOut = 'name the header in which the sender numbers deliveries';
    const message = `deliveryIdHeader ${written} cannot identify a delivery: ${reason}; ${wayOut}`;
    problems.push(problemAt(path, positions.value('/deliveryIdHeader'), 'delivery-id-header', message));
  }
  if (document.replayProtection !== undefined && document.authMode !== 'signature' && !faults.cover('/authMode')) {
    const message =
      'replayProtection needs authMode: signature: in other modes nothing vouches for the body, and equal bodies may ' +
      'be different deliveries';
    problems.push(problemAt(path, positions.value('/replayProtection'), 'replay-protection', message));
  }
  return { definition: toWebhook(name, path, document), faults, problems, positions };
}

function toWebhook(name: string, path: string, file: DeepPartial<WebhookFile>): WebhookDefinition {
  return {
    name,
    path,
    authMode: file.authMode ?? 'token',
    ...(file.signatureScheme === undefined ? {} : { signatureScheme: file.signatureScheme }),
    secretName: file.secretName ?? '',
    ...(file.deliveryIdHeader === undefined ? {} : { deliveryIdHeader: file.deliveryIdHeader.toLowerCase() }),
    ...(file.replayProtection === undefined ? {} : { replayProtection: file.replayProtection }),
    ...(file.secretOverlapMinutes === undefined ? {} : { secretOverlapMinutes: file.secretOverlapMinutes }),
    enabled: file.enabled ?? true,
    ...(file.description === undefined ? {} : { description: file.description }),
    ...(file.trust === undefined ? {} : { trust: file.trust as WebhookFile['trust'] }),
  };
}
