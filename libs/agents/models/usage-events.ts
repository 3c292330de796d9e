/**
 * Takes the event that only tells the use out of a stream: a client that did not ask for it does not expect it.
 * contract §10.3 (Model calls).
 */

/** Bytes of an event that is held until it is whole; a longer one is not the one that is looked for. */
const EVENT_BYTES_MAX = 65_536;

/** Passes a stream on event by event. */
export class UsageEventFilter {
  private held = Buffer.alloc(0);

  push(bytes: Uint8Array): Uint8Array {
    this.held = Buffer.concat([this.held, bytes]);
    const passed: Buffer[] = [];
    for (let end = eventEnd(this.held); end > 0; end = eventEnd(this.held)) {
      const event = this.held.subarray(0, end);
      this.held = this.held.subarray(end);
      if (!isUsageEvent(event.toString('utf8'))) passed.push(event);
    }
    if (this.held.length > EVENT_BYTES_MAX) {
      passed.push(this.held);
      this.held = Buffer.alloc(0);
    }
    return Buffer.concat(passed);
  }

  /** What is left of an event that did not end. */
  end(): Uint8Array {
    return this.held;
  }
}

/** Length of the first whole event; 0: there is none. */
function eventEnd(bytes: Buffer): number {
  const ends = ['\n\n', '\r\n\r\n'].map((mark) => {
    const at = bytes.indexOf(mark);
    return at < 0 ? Number.POSITIVE_INFINITY : at + mark.length;
  });
  const end = Math.min(...ends);
  return Number.isFinite(end) ? end : 0;
}

function isUsageEvent(event: string): boolean {
  const data = /^data:(.*)$/m.exec(event)?.[1];
  if (data === undefined || !data.includes('"usage"')) return false;
  try {
    const { choices, usage } = JSON.parse(data) as { choices?: unknown; usage?: unknown };
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null;
  } catch {
    return false;
  }
}
