/** `millwright validate --server`: what files name and a real service does not know. contract §8.4, §11.2. */
import { writeFile } from 'node:fs/promises';
import { LAUNCH_PROFILES } from '#agents';
import { makeKey } from '../support/services/api-keys.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { call, type Call } from '../support/services/recorded-io.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const APPLIED = 'environments/build.yaml';
let service: TestService;
let applied: FactoryFolder;
let checked: FactoryFolder;
let manager: string;

beforeAll(async () => {
  service = await bootService({
    profiles: LAUNCH_PROFILES.map((profile) => ({ ...profile, command: ['no-such-program'] })),
    environment: {
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_MODELS: 'large,small',
    },
  });
  await service.secret('hook-token', TOKEN);
  await service.api('PUT', '/secrets/unset-yet', {});
  await service.api('PUT', '/secrets/of-others', { value: TOKEN, grants: { factories: [] } });
  applied = await factoryFolder({ webhooks: { orders: { secretName: 'hook-token' } } });
  await applied.writeFile(APPLIED, 'dockerImage: alpine:3\n');
  await service.sync(await service.factory('shop', applied.source));
  manager = await makeKey(service, 'admin');
});
beforeEach(async () => {
  checked = await factoryFolder({ webhooks: { orders: { secretName: 'hook-token' } } });
});
afterEach(() => checked.remove());
afterAll(async () => {
  await service.stop();
  await applied.remove();
});

const validate = (argv: readonly string[] = [], key = manager): Promise<Call> =>
  call(['validate', checked.path, '--server', service.url, '--factory', 'shop', ...argv], {
    environment: { MILLWRIGHT_API_KEY: key },
  });

/** An automation that starts by the webhook and has these keys besides. */
const automation = (...lines: string[]): Promise<void> =>
  checked.writeFile(
    'automations/triage/automation.md',
    [
      '---',
      'triggers:',
      '  - {provider: webhook, event: received, filter: {webhooks: [orders], payload: {status: [failed]}}}',
      'limits: {tokens: 1000}',
      ...lines,
      '---',
      'Look.',
      '',
    ].join('\n'),
  );

describe('validate --server', () => {
  it('finds nothing where the service knows all that is named', async () => {
    await automation('model: auto', 'harness: {type: oz}');
    expect(await validate()).toMatchObject({ code: 0, out: '', err: expect.not.stringContaining('server: secrets') });
  });

  it.each([
    {
      what: 'a harness',
      line: 'harness: {type: cluade}',
      told: '5:17: warning: harness.type "cluade" is not on the server\'s list; did you mean "claude"? [harness-known]',
    },
    {
      what: 'a model',
      line: 'model: smal',
      told: '5:8: warning: model "smal" is not on the server\'s list; did you mean "small"? [model-known]',
    },
    {
      what: 'an environment',
      line: 'environmentId: biuld',
      told:
        '5:16: environmentId "biuld" is neither declared here nor on the server; declare it in ' +
        'environments/biuld.yaml [environment-known]',
    },
    {
      what: 'a skill',
      line: 'skill: reveiw',
      told:
        '5:8: skill "reveiw" is not declared here; add skills/reveiw/SKILL.md, or write owner/repo:skill-name ' +
        '[skill-known]',
    },
  ])('tells of $what that neither files nor service know, with its place', async ({ line, told }) => {
    await automation(line);
    const { code, out } = await validate();
    expect(out).toContain(`automations/triage/automation.md:${told}\n`);
    expect(code).toBe(told.includes('warning:') ? 0 : 1);
    // Without a server nobody can know.
    const { out: offline } = await call(['validate', checked.path]);
    expect(offline.includes('harness-known') || offline.includes('model-known')).toBe(false);
  });

  it.each([
    {
      what: 'a harness',
      lines: ['harness: {type: claude}'],
      told: /:5:17: warning: harness\.type "claude" is not to be had here: .* or name one that is here: builtin/,
      rule: 'harness-missing',
    },
    {
      what: 'a model of the built-in agent',
      lines: ['model: small', 'harness: {type: oz}'],
      told: /:5:8: warning: the model "small" is not to be had here: the built-in agent has the demo model alone/,
      rule: 'model-missing',
    },
  ])('tells, as a plan does, of $what that no run can have here', async ({ lines, told, rule }) => {
    await automation(...lines);
    const { code, out } = await validate();
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(told) });
    expect(out).toContain(`[${rule}]`);
    const { out: planned } = await call(
      ['plan', checked.path, '--server', service.url, '--factory', 'shop', '--format', 'json'],
      { environment: { MILLWRIGHT_API_KEY: manager } },
    );
    expect((JSON.parse(planned) as { problems: unknown[] }).problems).toContainEqual(
      expect.objectContaining({ rule, severity: 'warning', path: 'automations/triage/automation.md', line: 5 }),
    );
  });

  it.each([
    ['hook-tokne', /did you mean "hook-token"\?.*\[secret-known\]/],
    ['unset-yet', /\[secret-unset\]/],
    ['of-others', /\[secret-known\]/],
  ])('tells of the secret %s, which no delivery could be proven with', async (secretName, told) => {
    await checked.write({ webhooks: { orders: { secretName } } });
    expect(await validate()).toMatchObject({ code: 1, out: expect.stringMatching(told) });
  });

  it('ends with 6 where the key may not list secrets, and says so', async () => {
    expect(await validate([], await makeKey(service, 'viewer'))).toMatchObject({
      code: 6,
      out: '',
      err: expect.stringContaining('the secrets cannot be listed'),
    });
  });

  it('ends with 5 where there is no such factory', async () => {
    const argv = ['validate', checked.path, '--server', service.url, '--factory', 'shpo'];
    expect(await call(argv, { environment: { MILLWRIGHT_API_KEY: manager } })).toMatchObject({ code: 5, out: '' });
  });

  it('still tells what is wrong with files by themselves', async () => {
    await writeFile(`${checked.path}/factory.yaml`, 'name: [\n');
    expect(await validate()).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^factory\.yaml:2:1: .*\[yaml-syntax\]\n/),
    });
  });
});
