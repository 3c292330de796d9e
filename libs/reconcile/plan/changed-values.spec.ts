/** What a plan shows of values, and what never. contract §12.1 (Plan). */
import { readDefinitions, type Definitions } from '#definitions';
import { CHANGED_VALUES_MAX, changedValues, type Actual, type Change, type ChangedValue } from '../index.ts';

function definitionsOf(path: string, text: string): Definitions {
  const { definitions } = readDefinitions([{ path, content: Buffer.from(text) }]);
  return definitions as unknown as Definitions; // names of webhooks play no part here
}

function between(path: string, before: string | undefined, after: string): ChangedValue[] {
  const [folder = '', rest = ''] = path.split('/');
  const slug = rest.replace('.yaml', '');
  const kind = folder === 'factory.yaml' ? 'factory' : (folder.slice(0, -1) as Change['kind']);
  const live = before === undefined ? undefined : definitionsOf(path, before);
  const objects = [...(live?.webhooks ?? []), ...(live?.automations ?? []), ...(live?.environments ?? [])].map(
    (definition) => ({ kind, uid: 'u', slug, path, definition }),
  ) as unknown as Actual['objects'];
  const action: Change['action'] = before === undefined ? 'create' : 'update';
  const change: Change = { action, kind, slug, uid: 'u', path, changes: [] };
  return changedValues(change, definitionsOf(path, after), { factory: live?.factory, objects });
}

const automation = (keys: string, prompt = 'Look.\nThen say.'): string =>
  `---\ntriggers:\n  - {provider: schedule, event: cron_fired, schedule: {cron: "@daily"}}\n${keys}---\n${prompt}\n`;

describe('values of a change', () => {
  it('are old and new of each key', () => {
    expect(
      between(
        'webhooks/orders.yaml',
        'secretName: old\ndescription: Gone.\n',
        'authMode: signature\nsignatureScheme: github\nsecretName: new\n',
      ),
    ).toEqual([
      { key: '/authMode', before: '"token"', after: '"signature"' },
      { key: '/description', before: '"Gone."' },
      { key: '/secretName', before: '"old"', after: '"new"' },
      { key: '/signatureScheme', after: '"github"' },
    ]);
  });

  it('that come have one side, and something new is told by its file', () => {
    const now = 'repositories: [acme/shop]\n';
    expect(between('environments/shop.yaml', 'description: x\n', `description: x\n${now}`)).toEqual([
      { key: '/repositories', after: '["acme/shop"]' },
    ]);
    expect(between('environments/shop.yaml', undefined, now)).toEqual([]);
  });

  it('stand at the keys of the file, and of prompts say where they differ', () => {
    expect(
      between(
        'automations/look/automation.md',
        automation('model: fast\nlimits: {minutes: 5}\n'),
        automation('model: large\nlimits: {minutes: 9}\n', 'Look.\nThen write.\nBe brief.'),
      ),
    ).toEqual([
      { key: '/limits/minutes', before: '5', after: '9' },
      { key: '/model', before: '"fast"', after: '"large"' },
      { key: '/prompt', before: '2 lines, other from line 2 on', after: '3 lines, other from line 2 on' },
    ]);
  });

  it('are never what may be a secret', () => {
    const keys = (value: string): string =>
      `mcpServers:\n  wiki:\n    url: https://w.test/mcp\n    headers: {Authorization: "${value}"}\n` +
      `description: uses ghp_${'a1'.repeat(15)}\n`;
    const values = between(
      'automations/look/automation.md',
      automation(keys('Bearer one-value')),
      automation(keys('Bearer another-value').replace('uses', 'has')),
    );
    expect(values).toEqual([
      { key: '/description', before: '•••', after: '•••' },
      { key: '/mcpServers/wiki/headers/Authorization', before: '•••', after: '•••' },
    ]);
    expect(
      between('environments/shop.yaml', 'setupCommands: [login pw-one]\n', 'setupCommands: [login pw-two]\n'),
    ).toEqual([{ key: '/setupCommands', before: '•••', after: '•••' }]);
    expect(JSON.stringify(values)).not.toMatch(/one-value|another-value|ghp_/);
  });

  it('are bounded in number and length', () => {
    const secrets = Array.from({ length: 60 }, (_, at) => `  - {name: KEY_${at}, expose: env}\n`).join('');
    const values = between(
      'environments/shop.yaml',
      'description: y\n',
      `description: ${'x'.repeat(900)}\nsecrets:\n${secrets}`,
    );
    expect(values).toHaveLength(CHANGED_VALUES_MAX);
    expect(values[0]?.after?.length).toBeLessThan(250);
  });
});
