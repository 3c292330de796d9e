/** `millwright start` whose passes pause at a named point, to be killed exactly there. */
import { writeSync } from 'node:fs';
import { serve } from '../../../apps/server/main.ts';
import { DefinitionStore } from '../../../apps/server/store/definitions/definitions.ts';
import type { Database } from '../../../apps/server/store/database/database.ts';
import { FactoryStore } from '../../../apps/server/store/factories/factories.ts';
import type { Transaction } from '../../../apps/server/store/database/transactions.ts';
import { SUITE_AGENT } from '../agents/suite-agent.ts';

/** Where a pass stands still that applies a webhook of this name; a factory that applies none is left alone. */
const POINTS = ['before-apply', 'in-mid-apply', 'before-publish', 'before-record'] as const;
/**
 * Statements of the transaction that are done when it stands still in its middle: some rows are written, some are not.
 */
const STATEMENTS_DONE = 4;

const apply = DefinitionStore.prototype.apply;
const recordPass = FactoryStore.prototype.recordPass;
let applied: string | undefined;

DefinitionStore.prototype.apply = async function (application) {
  const point = POINTS.find((name) => application.upserts.some(({ slug }) => slug === name));
  applied = point;
  if (point === 'before-apply') await pause(point);
  await apply.call(point === 'in-mid-apply' ? interruptedInside(this) : this, application);
  if (point === 'before-publish') await pause(point);
};

FactoryStore.prototype.recordPass = async function (...given) {
  if (applied === 'before-record') await pause(applied);
  return recordPass.apply(this, given);
};

process.exitCode = await serve(process.argv.slice(3), SUITE_AGENT);

function pause(point: string): Promise<never> {
  say(point);
  return new Promise(() => undefined);
}

/** The same store, whose transaction comes to a stop between two statements: on SQLite the whole process does. */
function interruptedInside(store: DefinitionStore): DefinitionStore {
  const { database } = store as unknown as { database: Database };
  const interruptedDatabase: Database = {
    ...database,
    run: (body, lasting) => database.run(() => interrupted(body()), lasting),
  };
  return Object.assign(Object.create(DefinitionStore.prototype) as DefinitionStore, { database: interruptedDatabase });
}

function* interrupted<T>(work: Transaction<T>): Transaction<T> {
  let step = work.next();
  for (let done = 0; !step.done; done += 1) {
    if (done === STATEMENTS_DONE) {
      say('in-mid-apply');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    step = work.next(yield step.value);
  }
  return step.value;
}

function say(point: string): void {
  writeSync(2, `STANDS ${point}\n`); // at once: the process may do nothing more
}
