/**
 * Random histories of senders that come, send, wait for answers, have nothing to say and leave, beside a model that
 * knows only who is paused. contract §5.11 (Connections without a key).
 */
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { ReadRotation } from './read-rotation.ts';

const HISTORIES = 20;
const STEPS = 300;

interface Sender {
  /** Reads that the kernel has something for. */
  reads: number;
  isCostly: boolean;
}

/** One history; throws where a pause or a call does not fit to the model. */
class History {
  readonly senders = new Map<number, Sender>();
  readonly paused = new Set<number>();
  /** Not paused, as they came or were called. */
  readonly watched = new Set<number>();
  /** Who waits for an answer. */
  readonly answering = new Set<number>();
  nowMs = 0;
  private isUnderWay = false;
  private came = 0;
  readonly rotation = new ReadRotation<number>({
    pause: (item) => {
      if (!this.watched.delete(item)) throw new Error(`${item} was paused twice`);
      this.paused.add(item);
    },
    resume: (item) => {
      if (!this.paused.delete(item)) throw new Error(`${item} was not paused`);
      this.watched.add(item);
    },
    isAnswering: (item) => this.answering.has(item),
  });
  private readonly random: () => number;
  /** Of those that are read. */
  private readonly awaitedShare: number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.awaitedShare = this.random();
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  come(): void {
    const item = (this.came += 1);
    this.senders.set(item, { reads: this.below(4), isCostly: this.random() < 0.3 });
    this.watched.add(item);
    this.rotation.add(item);
  }

  leave(): void {
    const item = 1 + this.below(this.came);
    if (this.rotation.remove(item) !== this.paused.delete(item)) throw new Error(`${item} was not where it was`);
    this.watched.delete(item);
    this.answering.delete(item);
    this.senders.delete(item);
  }

  /** What the kernel has is read of all that are not paused, each in its turn; some of it takes the whole round. */
  poll(): void {
    for (const item of this.watched) {
      const sender = this.senders.get(item);
      if (!this.watched.has(item) || sender === undefined || sender.reads === 0) continue;
      sender.reads -= 1;
      if (this.random() < this.awaitedShare) this.answering.add(item);
      const notes = sender.isCostly ? 100 : 1 + this.below(20);
      const tookMs = sender.isCostly ? 5 : this.random();
      for (let note = 0; note < notes; note += 1)
        if (this.rotation.noteRead(item, this.nowMs + (tookMs * note) / notes)) this.isUnderWay = true;
      this.nowMs += tookMs;
      this.rotation.noteReadEnd(this.nowMs);
      if (this.rotation.restUntilMs > 0 && this.watched.size > 0) throw new Error('some are read in a spent round');
    }
    this.rotation.endRead();
  }

  /** Something that was read before comes to light, of somebody who may be paused by now. */
  noteLate(): void {
    const item = 1 + this.below(this.came);
    if (!this.senders.has(item)) return;
    if (this.rotation.noteRead(item, this.nowMs)) this.isUnderWay = true;
    this.rotation.noteReadEnd(this.nowMs);
    this.rotation.endRead();
  }

  /** So many of those that wait for it. */
  answer(share: number): void {
    for (const item of this.answering) if (this.random() < share) this.answering.delete(item);
  }

  endRound(): void {
    if (this.isUnderWay) this.rotation.endRound((this.nowMs = Math.max(this.nowMs + 3, this.rotation.restUntilMs)));
    this.isUnderWay = false;
  }

  step(): void {
    const kind = this.below(12);
    if (kind < 3) this.come();
    else if (kind === 3) this.leave();
    else if (kind < 6) this.poll();
    else if (kind < 8) this.endRound();
    else if (kind === 8) this.rotation.advance(this.nowMs);
    else if (kind === 9) this.noteLate();
    else if (kind === 10) this.answer(0.5);
    else for (const sender of this.senders.values()) sender.reads += this.below(2);
    if (this.rotation.waitingCount !== this.paused.size) throw new Error('not as many wait as are paused');
  }
}

it.each(Array.from({ length: HISTORIES }, (_, seed) => ({ seed })))(
  'who is paused is who waits, and everybody is read in the end: history $seed',
  ({ seed }) => {
    const history = new History(seed);
    for (let step = 0; step < STEPS; step += 1) history.step();
    const all = [...history.senders.values()];
    let left = all.reduce((sum, { reads }) => sum + reads, 0);
    for (let round = 0; left > 0; round += 1) {
      if (round > 100 * all.length) throw new Error(`${left} reads were not made`);
      history.nowMs += 2;
      history.answer(1);
      history.poll();
      history.endRound();
      history.rotation.advance(history.nowMs);
      left = all.reduce((sum, { reads }) => sum + reads, 0);
    }
    expect(history.watched.size + history.paused.size).toBe(history.senders.size);
  },
);
