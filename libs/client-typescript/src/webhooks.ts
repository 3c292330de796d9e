/** Sends deliveries to a webhook, safely: one delivery id for all attempts, so that what arrives twice counts once. */
import { isInTheOpen, readUrl } from './addresses.ts';
import { SYSTEM_CLOCK, type Clock } from './clock.ts';
import { APIResponseValidationError, MillwrightError } from './errors.ts';
import { exchange, hidden, type Outgoing, type Wire } from './exchange.ts';
import { logOf, warnOnce, type LogOptions } from './logging.ts';
import type { CallLimits, Fetch } from './options.ts';
import { addHeaders, checkOptions, DEFAULT_LIMITS, jsonText, readLimits, type Bytes, type Limits } from './requests.ts';
import {
  bytesOf,
  checkDeliveryId,
  decodedSegment,
  DELIVERY_ID_HEADER,
  newDeliveryId,
  readSecret,
  signDelivery,
  splitIngressPath,
  type WebhookAuthentication,
} from './webhook-signatures.ts';
import { VERSION } from './version.ts';

export {
  signDelivery,
  verifyDelivery,
  type DeliveryToSign,
  type DeliveryToVerify,
  type WebhookAuthentication,
} from './webhook-signatures.ts';

/** What the service takes. */
const PAYLOAD_BYTES_MAX = 256 * 1024;
/** Where the service shows the token of a url_token webhook. */
const TOKEN_PLACE = '{token}';

export interface WebhookSenderOptions extends CallLimits, LogOptions {
  /**
   * The ingress URL as the service shows it. That of a url_token webhook may end at the webhook, with `{token}`, or
   * with the secret itself.
   */
  url: string;
  /** The webhook's secret. */
  secret: string;
  /** Default: token. */
  authentication?: WebhookAuthentication | undefined;
  /** Header of the delivery's id, where it is not signed. Default: X-Millwright-Delivery-Id. */
  deliveryIdHeader?: string | undefined;
  /** Used in place of the global `fetch`. */
  fetch?: Fetch | undefined;
}

export interface SendOptions extends CallLimits {
  /** Identity of the delivery: sent again under the same one, it counts once. Default: a new one. */
  deliveryId?: string | undefined;
  /** Ends the sending, its pauses too, with a UserAbortError. */
  signal?: AbortSignal | undefined;
}

/** What the service answers once a delivery is stored. */
export interface SentDelivery {
  /** The identity under which it is stored. */
  delivery_id: string;
}

/**
 * Sends deliveries to one webhook. Throws MillwrightError for an address or a secret that cannot serve; no error holds
 * any part of the secret.
 */
export class WebhookSender {
  readonly #authentication: WebhookAuthentication;
  readonly #secret: string;
  readonly #url: URL;
  /** Method and path without the token, for messages. */
  readonly #label: string;
  readonly #deliveryIdHeader: string;
  readonly #limits: Limits;
  readonly #wire: Wire;

  /** `clock`: for tests that want to decide what time it is. */
  constructor(options: WebhookSenderOptions, clock: Clock = SYSTEM_CLOCK) {
    checkOptions(options, ['url', 'secret']);
    const { url, secret, authentication = 'token', deliveryIdHeader = DELIVERY_ID_HEADER, fetch } = options;
    readSecret(authentication, secret);
    addHeaders({}, { [deliveryIdHeader]: 'id' }, 'deliveryIdHeader');
    this.#authentication = authentication;
    this.#secret = secret;
    this.#deliveryIdHeader = deliveryIdHeader;
    const target = readTarget(url, authentication, secret);
    this.#label = `POST ${target.shown}`;
    this.#url = target.url;
    this.#limits = readLimits(options, DEFAULT_LIMITS);
    this.#wire = { fetch: fetch ?? ((address, init) => globalThis.fetch(address, init)), clock, log: logOf(options) };
    const travelling = authentication === 'standard_webhooks' ? 'deliveries are' : 'the secret of a webhook is';
    if (isInTheOpen(target.url))
      warnOnce(this.#wire.log, `${travelling} sent to ${target.url.host} without encryption; use https`);
  }

  /**
   * Sends a delivery: a JSON value; text and bytes are taken exactly as they are. Answers once the service has stored
   * it.
   * Throws APIStatusError when it is refused (401: wrong secret; 413, 415 and the like), APIConnectionError,
   * APITimeoutError, UserAbortError, and MillwrightError for a payload over 256 KiB.
   */
  async send(
    payload: unknown,
    { deliveryId = newDeliveryId(), signal, ...limits }: SendOptions = {},
  ): Promise<SentDelivery> {
    checkDeliveryId(deliveryId);
    const body = readPayload(payload);
    const outgoing: Outgoing = {
      method: 'POST',
      url: this.#url.href,
      host: this.#url.host,
      label: this.#label,
      headers: () => this.#headers(body, deliveryId),
      body,
      limits: readLimits(limits, this.#limits),
      signal,
      hasPassingConflicts: false,
      hide: (text) => this.#hide(text),
    };
    return await exchange(this.#wire, outgoing, async (response) => this.#readAnswer(response, await response.text()));
  }

  /** Made for each attempt: a signature says when it was made. */
  async #headers(body: Uint8Array, deliveryId: string): Promise<Record<string, string>> {
    const signed = await signDelivery({
      authentication: this.#authentication,
      secret: this.#secret,
      body,
      deliveryId,
      deliveryIdHeader: this.#deliveryIdHeader,
      now: this.#wire.clock.dateMs(),
    });
    return {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-millwright-client': `typescript/${VERSION}`,
      ...signed,
    };
  }

  #readAnswer(given: Response, whole: string): SentDelivery {
    const deliveryId = deliveryIdIn(whole);
    if (deliveryId !== undefined) return { delivery_id: deliveryId };
    const { response, text } = hidden(given, whole, (shown) => this.#hide(shown));
    const words = `${this.#label}: the answer has no string at /delivery_id`;
    throw new APIResponseValidationError(words, { response, body: text, pointer: '/delivery_id', expected: 'string' });
  }

  /** Whatever answers is not trusted to keep the secret to itself: a redirect, for one, names the whole URL. */
  #hide(text: string): string {
    const forms = [this.#secret, JSON.stringify(this.#secret).slice(1, -1), encodeURIComponent(this.#secret)];
    return forms.reduce((shown, form) => shown.replaceAll(form, '***'), text);
  }
}

function deliveryIdIn(text: string): string | undefined {
  try {
    const { delivery_id: id } = Object(JSON.parse(text)) as { delivery_id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Where to send to, and the path of it that may be seen. Throws MillwrightError, which holds no part of the address.
 */
function readTarget(text: string, authentication: WebhookAuthentication, secret: string): { url: URL; shown: string } {
  const url = readUrl(text, 'url');
  const ingress = splitIngressPath(url.pathname);
  const place = ingress?.rest === undefined ? undefined : decodedSegment(ingress.rest);
  if (authentication !== 'url_token') {
    if (place === undefined && !decodedSegment(url.pathname).includes(TOKEN_PLACE))
      return { url, shown: url.pathname.replace(/\/$/, '') };
    throw new MillwrightError('url is that of a url_token webhook: give authentication "url_token"');
  }
  if (ingress === undefined)
    throw new MillwrightError('url must be an ingress URL, …/webhooks/w/wh_…, with nothing behind it but {token}');
  if (place !== undefined && place.toLowerCase() !== TOKEN_PLACE && place !== secret)
    throw new MillwrightError('url must end at the webhook, with {token}, or with the secret that is given');
  url.pathname = `${ingress.webhook}/${secret}`;
  return { url, shown: `${ingress.webhook}/${TOKEN_PLACE}` };
}

function readPayload(payload: unknown): Bytes {
  const isExact = typeof payload === 'string' || payload instanceof Uint8Array;
  const text = isExact ? payload : jsonText(payload, undefined);
  if (text === undefined) throw new MillwrightError('the payload cannot be written as JSON');
  const bytes = bytesOf(text);
  if (bytes.length <= PAYLOAD_BYTES_MAX) return bytes;
  throw new MillwrightError(`the payload is larger than ${PAYLOAD_BYTES_MAX} bytes, which is what the service takes`);
}
