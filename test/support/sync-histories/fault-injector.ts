/**
 * A database as a process has it that may die, stumble or stand still at any of its calls. Everything else that a pass
 * asks counts as a call too.
 */
import type { Database } from '../../../apps/server/store/database/database.ts';
import { StoreError } from '../../../apps/server/store/database/store-errors.ts';

export type Accident = 'dies' | 'hiccup' | 'pauses';

/** Thrown out of a process that is dead: nothing of it reaches the database any more. */
export class CrashError extends Error {}

/** Counts the calls of one process, and injects a fault into one of them. */
export class FaultInjector {
  calls = 0;
  dead = false;
  private accident: { kind: Accident; at: number } | undefined;
  private paused: { began: () => void; go: Promise<void> } | undefined;

  /** Lets the call that comes after `at` further ones meet an accident. */
  arrange(kind: 'dies' | 'hiccup', at: number): void {
    [this.calls, this.accident] = [0, { kind, at }];
  }

  /** A call that pauses: resolves `isPaused` there, and goes on after `go`. */
  injectPause(at: number): { isPaused: Promise<void>; go: () => void } {
    [this.calls, this.accident] = [0, { kind: 'pauses', at }];
    let go: () => void = () => undefined;
    let began: () => void = () => undefined;
    const stands = new Promise<void>((resolve) => (began = resolve));
    this.paused = { began, go: new Promise((resolve) => (go = resolve)) };
    return { isPaused: stands, go };
  }

  clear(): void {
    this.accident = undefined;
  }

  /** One call: it can meet its accident before it is done, or after, when nobody hears of it any more. */
  async call<T>(work: () => Promise<T>): Promise<T> {
    await this.pass();
    const answer = await work();
    await this.pass();
    return answer;
  }

  /** A call that cannot wait. */
  assertAlive(): void {
    if (this.dead) throw new CrashError();
  }

  private async pass(): Promise<void> {
    if (this.dead) throw new CrashError();
    this.calls += 1;
    if (this.accident === undefined || this.calls <= this.accident.at) return;
    const { kind } = this.accident;
    this.accident = undefined;
    if (kind === 'hiccup') throw new StoreError('unavailable', 'hiccup');
    if (kind === 'dies') {
      this.dead = true;
      throw new CrashError();
    }
    this.paused?.began();
    await this.paused?.go;
  }
}

/** The same database, through the fate of one process. */
export function mortal(database: Database, fate: FaultInjector): Database {
  const source = new Proxy(database.source, {
    get(target, name) {
      if (name === 'getRepository') fate.assertAlive();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value;
    },
  });
  return {
    dialect: database.dialect,
    source,
    isPooled: database.isPooled,
    leave: () => Promise.resolve(),
    run: (body, lasting) => fate.call(() => database.run(body, lasting)),
    read: (body) => fate.call(() => database.read(body)),
    longRead: (body) => fate.call(() => database.longRead(body)),
    close: () => Promise.resolve(),
  };
}
