/** The vocabulary of request authentication. spec: Authentication of deliveries; contract §5.5 (Credentials) and §6. */

/** Header name (lower-case) → every value it was sent with, in order. */
export type Headers = Pick<ReadonlyMap<string, readonly string[]>, 'get' | 'has'>;

/** A provider's signature scheme as data, interpreted by one engine. */
export interface SignatureScheme {
  id: string;
  /**
   * Header families tried in order; `{n}` in header names is replaced by each. All headers must come from one family.
   */
  families?: readonly string[];
  signature: {
    header: string;
    /** Constant text before the signature. */
    prefix?: string;
    /** Separator between several items in one header. */
    itemSeparator?: string;
    /** Separator between key and value inside an item. */
    pairSeparator?: string;
    /** Keys whose values are signatures. */
    keys?: readonly string[];
  };
  algorithm: 'sha256' | 'sha1' | 'sha512';
  encoding: 'hex' | 'base64';
  key: 'utf8' | 'whsec';
  /** Template of what is signed: `{body}`, `{timestamp}`, `{header:name}` and literal text. */
  signed: string;
  timestamp?: {
    /** `header:name`, or `pair:key` for a pair inside the signature header. */
    from: string;
    format: 'unix' | 'rfc3339';
    toleranceSeconds: number;
  };
  /** The provider's own delivery header (lower-case, may hold `{n}`). */
  deliveryHeader?: string;
  /** Where the facts come from. */
  source: string;
}

/** A scheme that webhooks may name: how it signs, and what people do at its providers. */
export interface ServedScheme extends SignatureScheme {
  /** Its headers as the provider writes them, where that is not lower-case: for commands that people are shown. */
  headerNames?: readonly string[];
  /** Who signs so; the first is the one that a stored scheme most likely belongs to. */
  providers: readonly SchemeProvider[];
}

/** What to do at a provider: where to click, what to choose, where the secret is. */
export interface SchemeProvider {
  id: string;
  label: string;
  /**
   * Where the secret comes from. `chosen`: somebody makes it up and types it in both places. `revealed`: the provider
   * shows it once it knows the URL. `generated`: it is made here, or taken from the provider.
   */
  secret: 'chosen' | 'revealed' | 'generated';
  /** Where the secret is found. */
  secretPlace: string;
  /** In order; `{url}` is the address. */
  steps: readonly string[];
  /** What surprises people. */
  notes: readonly string[];
}

export type RefusalReason =
  | 'secret-unset'
  | 'header-missing'
  | 'header-repeated'
  | 'header-malformed'
  | 'timestamp-malformed'
  | 'timestamp-stale'
  | 'timestamp-future'
  | 'too-many-candidates'
  | 'token-missing'
  | 'mismatch';

/**
 * Whether a request proved knowledge of the secret. A refusal says which check failed and how far a timestamp was off;
 * never a value.
 */
export type AuthenticationResult =
  | {
      ok: true;
      /**
       * SHA-256 of the signed message, one character for each byte. Present for schemes that sign a timestamp: the
       * delivery's second identity.
       */
      signedMessageDigest?: string;
      /** Header that carries the provider's delivery id in this request (family resolved), lower-case. */
      deliveryHeader?: string;
    }
  | { ok: false; reason: RefusalReason; header?: string; skewSeconds?: number };

/** A common mistake of a sender that has the right secret; one word each, which tells nothing of a value. */
export type LikelyMistake = 'trailing-newline' | 're-encoded-json' | 'key-encoding' | 'other-scheme';

/**
 * What a secret's bytes may serve as; `signature` is every scheme whose key is the raw bytes. contract §2.2.
 */
export type SecretUse = 'token' | 'url_token' | 'signature' | 'standard_webhooks';
