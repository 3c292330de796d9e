/** How much of the memory bodies of requests may take while they are read, in all and of one sender. contract 3. */
import { RefusalError } from './error-codes.ts';

/** Of all keys together: what a small machine can spare. */
export const BODIES_BYTES_MAX = 256 * 1_048_576;
/** Of one key: eight bodies with attachments at once, so that no key takes the room of the others. */
export const BODIES_BYTES_OF_KEY_MAX = 64 * 1_048_576;
/** Seconds after which room is likely. */
const RETRY_AFTER_SECONDS = 1;

export class BodyBudget {
  private taken = 0;
  private readonly takenByKey = new Map<string, number>();
  private readonly sender: string;

  /** `sender`: whom a key of this budget stands for, in words. */
  constructor(sender = 'this API key') {
    this.sender = sender;
  }

  /** Room for a body of at most so many bytes; to be given back when the body has been read. Throws 429 or 503 while there is none. */
  take(keyId: string, bytes: number): () => void {
    const ofKey = this.takenByKey.get(keyId) ?? 0;
    if (ofKey + bytes > BODIES_BYTES_OF_KEY_MAX)
      throw this.refusal(429, `${this.sender} sends too many large bodies at once`);
    if (this.taken + bytes > BODIES_BYTES_MAX) throw this.refusal(503, 'too many large bodies are being sent at once');
    this.put(keyId, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.put(keyId, -bytes);
      isHeld = false;
    };
  }

  private put(keyId: string, bytes: number): void {
    this.taken += bytes;
    const ofKey = (this.takenByKey.get(keyId) ?? 0) + bytes;
    if (ofKey > 0) this.takenByKey.set(keyId, ofKey);
    else this.takenByKey.delete(keyId);
  }

  private refusal(status: number, detail: string): RefusalError {
    return new RefusalError('resource_unavailable', detail, { status, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}
