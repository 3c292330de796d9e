/**
 * How much memory the bodies take that senders without a key have begun to send and not ended, of all and of one client
 * address. Who sends most is refused first. contract §5.11 (Bodies).
 */
import { addressKeyOf } from './client-addresses.ts';
import { ADDRESS_BODY_BYTES_MAX, UNFINISHED_BODY_BYTES_MAX } from './limits.ts';

/** One body that is being read. */
export interface UnfinishedBody {
  /** As `clientAddress` has it. */
  readonly clientAddress: string;
}

export interface AddressBodyBudgetOptions {
  /** Bytes of all bodies. */
  bytesMax?: number;
  /** Bytes of one client address. */
  addressBytesMax?: number;
}

/** What one client address has begun: bytes of each body, the one that has waited longest for more first. */
interface Sender<Body> {
  readonly key: string;
  bytes: number;
  readonly bodies: Map<Body, number>;
}

const NONE: readonly never[] = [];

/** The budget of one process. A body that comes whole needs none: bytes are counted while more of it is waited for. */
export class AddressBodyBudget<Body extends UnfinishedBody> {
  private readonly senders = new Map<string, Sender<Body>>();
  private readonly senderOf = new Map<Body, Sender<Body>>();
  private readonly bytesMax: number;
  private readonly addressBytesMax: number;
  private total = 0;

  constructor({
    bytesMax = UNFINISHED_BODY_BYTES_MAX,
    addressBytesMax = ADDRESS_BODY_BYTES_MAX,
  }: AddressBodyBudgetOptions = {}) {
    this.bytesMax = bytesMax;
    this.addressBytesMax = addressBytesMax;
  }

  /** Bytes of all bodies that are being read. */
  get bytes(): number {
    return this.total;
  }

  /**
   * Counts so many more bytes of a body. Answers the bodies that are to be refused for it, which are counted no more:
   * of an address with too much the one whose sender has been silent longest, of all together that of the address with
   * most. Whoever goes on sending loses nothing to those who do not.
   */
  charge(body: Body, bytes: number): readonly Body[] {
    const sender = this.senderOf.get(body) ?? this.add(body);
    const before = sender.bodies.get(body) ?? 0;
    sender.bodies.delete(body);
    sender.bodies.set(body, before + bytes);
    sender.bytes += bytes;
    this.total += bytes;
    if (sender.bytes <= this.addressBytesMax && this.total <= this.bytesMax) return NONE;
    const refused: Body[] = [];
    while (sender.bytes > this.addressBytesMax) refused.push(this.releaseOldest(sender));
    while (this.total > this.bytesMax) refused.push(this.releaseOldest(this.largest(sender)));
    return refused;
  }

  /** Counts a body no more; it has come whole, or will not. */
  release(body: Body): void {
    const sender = this.senderOf.get(body);
    if (sender === undefined) return;
    const bytes = sender.bodies.get(body) ?? 0;
    this.senderOf.delete(body);
    sender.bodies.delete(body);
    sender.bytes -= bytes;
    this.total -= bytes;
    if (sender.bodies.size === 0) this.senders.delete(sender.key);
  }

  private add(body: Body): Sender<Body> {
    const key = addressKeyOf(body.clientAddress);
    let sender = this.senders.get(key);
    if (sender === undefined) this.senders.set(key, (sender = { key, bytes: 0, bodies: new Map() }));
    this.senderOf.set(body, sender);
    return sender;
  }

  private releaseOldest({ bodies }: Sender<Body>): Body {
    const [oldest] = bodies.keys();
    if (oldest === undefined) throw new Error('bytes are counted of no body');
    this.release(oldest);
    return oldest;
  }

  /** The address with most; `first` where others have no more. */
  private largest(first: Sender<Body>): Sender<Body> {
    let largest = first;
    for (const sender of this.senders.values()) if (sender.bytes > largest.bytes) largest = sender;
    return largest;
  }
}
