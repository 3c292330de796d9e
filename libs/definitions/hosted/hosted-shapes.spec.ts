/** Files that look like the hosted service's format, and are not quite that. */
import { readDefinitions } from '../read.ts';

const read = (path: string, text: string) =>
  readDefinitions([{ path, content: new TextEncoder().encode(text) }]).problems.map(
    ({ line, column, rule }) => `${line}:${column} ${rule}`,
  );

describe('factory.yaml of nearly the hosted format', () => {
  it.each([
    ['secrets: LEDGER\n', ['1:10 wrong-type']],
    ['secrets: LEDGER\nagentDefaults: {secrets: [A_TOKEN]}\n', ['1:10 wrong-type']],
    ['mcpServers: {}\nagentDefaults: {mcpServers: null}\n', ['2:29 wrong-type']],
    ['mcpServers: [a]\nagentDefaults: {mcpServers: {}}\n', ['1:13 wrong-type']],
    ['secrets: [lower-case]\n', ['1:11 wrong-value']],
    ['mcpServers: {a: {warpId: x, url: 7}}\n', ['1:18 unsupported-here', '1:34 wrong-type']],
    ['agentDefaults: {harness: {model: m, modelId: n}}\n', ['1:27 unknown-key']],
    ['agentDefaults: {harness: {type: codex, auth: {source: elsewhere}}}\n', ['1:40 unknown-key']],
    ['agentDefaults: [model]\n', ['1:16 wrong-type']],
    ['schemaVersion: v9\n', ['1:1 unsupported-here']],
    ['schemaVersion: v1alpha1\nalias: null\n', []],
    ['bogus: 1\nalias: Till\n', ['1:1 unknown-key', '2:1 unsupported-here']],
    ['__proto__: {alias: x}\n', ['1:1 unknown-key']],
  ])('%j', (text, problems) => {
    expect(read('factory.yaml', text)).toEqual(problems);
  });
});

describe('triggers of nearly the hosted format', () => {
  const triggers = (trigger: string): string[] => read('automations/a.md', `---\ntriggers: [${trigger}]\n---\nx\n`);

  it.each([
    ['{provider: webhook, event: received, filter: {webhook_ids: {in: [orders]}}}', ['webhook-uid']],
    ['{provider: webhook, event: received, filter: {webhook_ids: {not_in: [a]}}}', ['wrong-type']],
    ['{provider: schedule, event: cron_fired}', ['missing-key']],
    [
      '{provider: schedule, event: cron_fired, filter: {schedule_ids: [a]}, schedule: {cron: "@daily"}}',
      ['unknown-key'],
    ],
    ['{provider: schedule, event: cron_fired, filter: {schedule_ids: []}, schedule: {cron: "@daily"}}', []],
    ['{provider: schedule, event: cron_fired, filter: {schedule_ids: [a]}}', ['provider-inactive']],
    ['{provider: schedule, event: cron_fired, filter: {schedule_ids: {in: [a]}}}', ['provider-inactive']],
    ['{provider: schedule, event: cron_fired, filter: {schedule_ids: {}}}', ['missing-key', 'unknown-key']],
    ['{provider: schedule, event: cron_fired, filter: {schedule_ids: a}}', ['missing-key', 'unknown-key']],
    ['{provider: schedule, event: cron_fired, filter: {webhooks: null}}', ['missing-key', 'unknown-key']],
    ['{provider: schedule, event: cron_fired, schedule: {cron: "@every 90s"}}', ['cron']],
  ])('%s', (trigger, rules) => {
    expect(triggers(trigger).map((problem) => problem.split(' ')[1])).toEqual(rules);
  });
});
