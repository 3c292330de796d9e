/**
 * kill -9 twenty times in a row, each in the middle of thousands of deliveries that come as quickly as they are
 * answered: 0 lost, 0 doubled, and what is sent again is a duplicate. FAULT_SEED repeats the moments. contract §5.8
 * (Transaction).
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { seededRandom } from '../support/seeded-random.ts';
import { BurstField, expectWhole } from '../support/services/burst-field.ts';

const KILLS = 20;
const SEED = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000);
/** With so many webhooks none of them reaches its 60 in a minute, whatever is sent again. */
const FACTORIES = Array.from({ length: 100 }, (_, index) => `factory-${index}`);
const WEBHOOKS_EACH = 20;
const BURST = 4_000;

let field: BurstField;

beforeAll(async () => {
  field = await BurstField.open(FACTORIES, { webhooksEach: WEBHOOKS_EACH, senders: 256 });
}, 240_000);

afterAll(() => field?.close());

it(`keeps every 202 once with its runs over ${KILLS} kills (FAULT_SEED=${SEED})`, async () => {
  const random = seededRandom(SEED);
  const answered = new Set<number>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const numbers = Array.from({ length: BURST }, (_, index) => kill * BURST + index);
    const answeredBefore = Math.floor(BURST / 8 + (random() * BURST) / 2);
    const burst = await field.burstUntil(numbers, { signal: 'SIGKILL', answeredBefore });
    expect(await field.service.ended).toBe('SIGKILL');
    expect([kill, [...new Set(burst.others)]]).toEqual([kill, [undefined]]);
    for (const number of burst.answered) answered.add(number);

    await field.start();
    const before = field.stored();
    expectWhole(before, answered);
    const again: (number | undefined)[] = [];
    await field.burst([...burst.answered], (_, status) => again.push(status));
    expect([kill, [...new Set(again)]]).toEqual([kill, [202]]);
    const after = field.stored();
    expectWhole(after, answered);
    const accepted = [...burst.answered].filter((number) => after.entries.get(number)?.at(-1)?.outcome !== 'duplicate');
    expect(accepted).toEqual([]);
    expect(after.runs.size).toBe(before.runs.size);
  }
  process.stderr.write(`${answered.size} answered over ${KILLS} kills: 0 lost, 0 doubled\n`);
}, 900_000);
