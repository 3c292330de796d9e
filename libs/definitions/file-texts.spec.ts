/**
 * Texts of definition files: what is written reads as what was meant, and an edit changes nothing else. contract §4,
 * §8.
 */
import * as fc from 'fast-check';
import type { JsonValue } from '#filters';
import type { FileKeys } from './definition-values.ts';
import {
  automationFileText,
  automationKeys,
  editedAutomationFile,
  editedWebhookFile,
  webhookFileText,
  webhookKeys,
} from './file-texts.ts';
import { readDefinitions } from './read.ts';
import type { AutomationDefinition, Reading, WebhookDefinition } from './types.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const UID = `wh_${'0'.repeat(26)}`;

function read(path: string, text: string): Reading {
  return readDefinitions([{ path, content: Buffer.from(text) }]);
}

function webhookIn(text: string): WebhookDefinition {
  const { definitions, problems } = read('webhooks/orders.yaml', text);
  expect(problems).toEqual([]);
  return definitions.webhooks[0] as WebhookDefinition;
}

const WEBHOOK = `# Orders of the shop.
authMode: token   # the default

secretName:   'orders-hook' # of the team
# Set by the sender.
deliveryIdHeader: "X-Id"
description: >
  folded
  text
`;

describe('an edited webhook file', () => {
  it.each<{
    changes: FileKeys;
    after: Record<string, JsonValue | undefined>;
    lines: [from: string, to: string][];
    why: string;
  }>([
    {
      changes: { enabled: false },
      after: { enabled: false },
      lines: [['', 'enabled: false\n']],
      why: 'a key that was not there',
    },
    {
      changes: { secretName: 'other' },
      after: { secretName: 'other' },
      lines: [["'orders-hook'", 'other']],
      why: 'a value in its place',
    },
    {
      changes: { deliveryIdHeader: 'X-Other', secretName: 'b' },
      after: { deliveryIdHeader: 'x-other', secretName: 'b' },
      lines: [
        ["'orders-hook'", 'b'],
        ['"X-Id"', 'X-Other'],
      ],
      why: 'two of them',
    },
    {
      changes: { description: 'yes: # no' },
      after: { description: 'yes: # no' },
      lines: [],
      why: 'text that YAML would misread, over several lines',
    },
    {
      changes: { deliveryIdHeader: undefined },
      after: { deliveryIdHeader: undefined },
      lines: [],
      why: 'a key that goes',
    },
    {
      changes: { authMode: 'signature', signatureScheme: 'github' },
      after: { authMode: 'signature', signatureScheme: 'github' },
      lines: [
        ['token ', 'signature '],
        ['', 'signatureScheme: github\n'],
      ],
      why: 'keys that belong together',
    },
  ])('says what was asked and nothing else: $why', ({ changes, after, lines }) => {
    const text = editedWebhookFile(WEBHOOK, changes);
    const expected = { ...webhookIn(WEBHOOK), ...after };
    expect(webhookIn(text)).toEqual(
      Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined)),
    );
    for (const comment of ['# Orders of the shop.', '# the default', '# of the team']) expect(text).toContain(comment);
    if (lines.length > 0)
      expect(text).toBe(
        lines.reduce((before, [from, to]) => (from === '' ? before + to : before.replace(from, to)), WEBHOOK),
      );
  });

  it.each([
    ['{secretName: a, enabled: true} # here\n', 'a flow mapping'],
    ['secretName: a', 'no line end'],
    ['secretName: a\nenabled: true\r\n', 'mixed line ends'],
    ['secretName: a\n...\n', 'an end marker'],
    ['secretName: a\ndescription: |+\n  text\n\n', 'text that keeps its blank lines'],
    ['"enabled": true\nsecretName: a\n', 'a quoted key'],
  ])('%j: %s', (text) => {
    expect(webhookIn(editedWebhookFile(text, { enabled: false }))).toEqual({ ...webhookIn(text), enabled: false });
  });

  it('says what was asked whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 100, unit: 'binary' }).filter((text) => !text.includes('\0') && !/\p{Cs}/u.test(text)),
        (description) => {
          expect(webhookIn(editedWebhookFile(WEBHOOK, { description })).description).toBe(description);
        },
      ),
    );
  });
});

const AUTOMATION = `---
# When an order fails.
triggers:
- provider: webhook
  event: received
  filter: {webhooks: [orders],   payload: {status: ["failed"]}} # only these
enabled: true
---

  Look at the order.

--- and this line stays
`;

describe('an edited automation file', () => {
  const automationIn = (text: string) => {
    const { definitions, problems } = read('automations/act/automation.md', text);
    expect(problems).toEqual([]);
    return definitions.automations[0];
  };

  it('keeps every line that is not edited', () => {
    expect(editedAutomationFile(AUTOMATION, { enabled: false })).toBe(
      AUTOMATION.replace('enabled: true', 'enabled: false'),
    );
    expect(editedAutomationFile(AUTOMATION, { model: 'm' })).toBe(
      AUTOMATION.replace('enabled: true\n', 'enabled: true\nmodel: m\n'),
    );
    expect(editedAutomationFile(AUTOMATION, {}, 'Another prompt.')).toBe(
      `${AUTOMATION.slice(0, AUTOMATION.indexOf('\n  Look'))}\nAnother prompt.\n`,
    );
  });

  it('takes new triggers and keeps the rest', () => {
    const triggers: JsonValue = [
      {
        provider: 'webhook',
        event: 'received',
        filter: { webhook_ids: [UID], payload: { on: ['no', '2020-01-01', 1] } },
      },
    ];
    const text = editedAutomationFile(AUTOMATION, { triggers });
    expect(text).toContain('# When an order fails.');
    expect(automationIn(text)).toEqual({
      ...automationIn(AUTOMATION),
      triggers: [
        { provider: 'webhook', webhookIds: [UID], webhookNames: [], payload: { on: ['no', '2020-01-01', 1] } },
      ],
    });
  });
});

describe('a new file', () => {
  it('of a webhook reads as the webhook that it was made of', () => {
    const webhook: WebhookDefinition = {
      name: 'orders',
      path: 'webhooks/orders.yaml',
      authMode: 'signature',
      signatureScheme: 'github',
      secretName: 'on',
      deliveryIdHeader: 'x-id',
      enabled: false,
      description: 'two\nlines: # really\n',
    };
    expect(webhookIn(webhookFileText(webhookKeys(webhook)))).toEqual(webhook);
    expect(
      webhookFileText(webhookKeys({ name: 'orders', path: 'p', authMode: 'token', secretName: 'hook', enabled: true })),
    ).toBe('secretName: hook\n');
  });

  const leaf = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('y', 'no', '0x1f', '1_0', '2020-01-01', '~', '---', '# x', 'a: b', '&a', '*a', '<<'),
  );
  const filters = fc.dictionary(fc.string({ minLength: 1 }), fc.uniqueArray(leaf, { minLength: 1, maxLength: 3 }), {
    minKeys: 1,
    maxKeys: 4,
  });

  it('of an automation reads as the automation that it was made of', () => {
    fc.assert(
      fc.property(filters, fc.string({ minLength: 1 }), fc.string(), (payload, prompt, basePrompt) => {
        const texts = [prompt, basePrompt, JSON.stringify(payload)];
        fc.pre(
          texts.every((text) => !/\p{Cs}/u.test(text) && !/\0|\\u0000|\\ud[89a-f]/i.test(text)) && prompt.trim() !== '',
        );
        const automation: AutomationDefinition = {
          name: 'act',
          path: 'automations/act/automation.md',
          enabled: false,
          prompt: prompt.trim(),
          agent: basePrompt === '' ? {} : { basePrompt },
          limits: { minutes: 5 },
          concurrency: { whenBusy: 'skip' },
          network: { allow: ['example.com'] },
          triggers: [
            { provider: 'webhook', webhookUids: [UID], payload },
            { provider: 'schedule', cron: '@daily' },
          ],
        };
        const { definitions, problems } = read(
          'automations/act/automation.md',
          automationFileText(automationKeys(automation), automation.prompt),
        );
        expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
        expect(definitions.automations[0]).toEqual({
          ...automation,
          triggers: [{ provider: 'webhook', webhookIds: [UID], webhookNames: [], payload }, automation.triggers[1]],
        });
      }),
    );
  });
});
