/** What editors are told of filters and cron expressions, held against what reads them. contract §7.4, §12.3. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { SCHEMA_DOCUMENTS } from '#contracts';
import { compileFilter } from '#filters';
import { examples, PROPERTY_SEED } from '../../../test/support/tier.ts';
import { readCron, readSchedule } from '../schedules/cron.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const ajv = new Ajv2020({ strict: false });
const accepts = ajv.compile(SCHEMA_DOCUMENTS.automation);
const ofCron = (cron: string): boolean =>
  accepts({ triggers: [{ provider: 'schedule', event: 'cron_fired', schedule: { cron } }] });
const ofFilter = (payload: unknown): boolean =>
  accepts({ triggers: [{ provider: 'webhook', event: 'received', filter: { webhooks: ['a'], payload } }] });

describe('a cron expression', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '*',
      '*/15',
      '0',
      '5',
      '07',
      '59',
      '60',
      '1-5',
      '5-1',
      '1-59/2',
      '5/15',
      'jan',
      'MON',
      'x',
      '?',
      'L',
      '1,2',
    ),
    fc.integer({ min: 0, max: 70 }).map(String),
  );
  const text = fc.array(part, { minLength: 4, maxLength: 6 }).map((parts) => parts.join(' '));

  it('that the service reads is never refused, and one with a wrong field always is', () => {
    fc.assert(
      fc.property(text, (cron) => {
        const read = readCron(cron);
        if (read.ok) expect({ cron, accepted: ofCron(cron) }).toEqual({ cron, accepted: true });
        // What a pattern cannot know: a range that runs backwards, a step that is too wide, a day that never comes
        else if (!/runs backwards|step outside|never fires/.test(read.reason))
          expect({ cron, accepted: ofCron(cron) }).toEqual({ cron, accepted: false });
      }),
      { numRuns: examples(5_000) },
    );
  });

  it.each(['@hourly', '@DAILY', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'])('may be %s', (word) => {
    expect([ofCron(word), readCron(word).ok]).toEqual([true, true]);
  });

  it.each<[text: string, isRead: boolean]>([
    ['@every 1h30m', true],
    ['@EVERY 90m', true],
    ['@every', false],
    ['@every 1 hour', false],
    ['@every 5', false],
  ])('is %s: %s', (text, isRead) => {
    expect([ofCron(text), readSchedule(text).ok]).toEqual([isRead, isRead]);
  });
});

describe('a payload filter', () => {
  const names = fc.constantFrom('in', 'not_in', 'exists', 'action', 'a.b', 'status');
  const scalar = fc.constantFrom<unknown>('a', 1, true, false, null);
  const { node } = fc.letrec<{ node: unknown; leaf: unknown }>((tie) => ({
    leaf: fc.oneof(fc.array(scalar, { maxLength: 3 }), fc.boolean(), scalar, fc.constant([['a']])),
    node: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      tie('leaf'),
      fc.dictionary(names, fc.oneof(tie('leaf'), tie('node')), { maxKeys: 3 }),
    ),
  }));

  it('is never refused where the service reads it without a word', () => {
    fc.assert(
      fc.property(fc.dictionary(names, node, { maxKeys: 3 }), (payload) => {
        const compiled = compileFilter(payload);
        fc.pre(compiled.ok && compiled.warnings.length === 0);
        expect({ payload, accepted: ofFilter(payload) }).toEqual({ payload, accepted: true });
      }),
      { numRuns: examples(5_000) },
    );
  });
});
