/**
 * A factory that changes hands: from the dashboard to files and back, with its URLs, and without what one side would
 * overwrite of the other. contract §1, §4, §9.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bootService, type TestService } from '../support/services/service.ts';

let mill: TestService;
let folder: string;

beforeAll(async () => {
  mill = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  folder = await mkdtemp(join(tmpdir(), 'conversion-'));
});
afterAll(async () => {
  await mill.stop();
  await rm(folder, { recursive: true });
});

const text = (value: unknown): string => `${JSON.stringify(value)}\n`;
async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

it('keeps URL, secret and history on the way to files and back', async () => {
  const factory = String(
    (await mill.api('POST', '/factory', { slug: 'shop', source: { kind: 'dashboard' } })).body['uid'],
  );
  const at = (path: string): string => `/factory/${factory}${path}`;
  const hook = (await mill.api('POST', at('/webhooks'), { name: 'Orders (EU)' })).body as unknown as {
    uid: string;
    slug: string;
    secret: string;
    secret_name: string;
    ingress_url: string;
  };
  await mill.api('POST', at('/automations'), {
    name: 'Act on it',
    triggers: [{ provider: 'webhook', webhook_uids: [hook.uid] }],
    prompt: 'Act.',
  });
  let count = 0;
  const send = async (): Promise<number> =>
    (
      await fetch(hook.ingress_url, {
        method: 'POST',
        headers: { authorization: `Bearer ${hook.secret}` },
        body: `{"n": ${(count += 1)}}`,
      })
    ).status;
  const titles = async (): Promise<string[]> =>
    ((await mill.api('GET', '/agent/runs?sort_by=created_at&sort_order=asc')).body['runs'] as { title: string }[]).map(
      ({ title }) => title,
    );
  expect(await send()).toBe(202);

  // The same definitions as files: nothing of them has to change, and from now on files decide.
  await write(`webhooks/${hook.slug}.yaml`, text({ secretName: hook.secret_name }));
  const trigger = { provider: 'webhook', event: 'received', filter: { webhooks: [hook.slug] } };
  const acting = text({ triggers: [trigger], environmentId: 'python', skill: 'sorting' });
  await write('automations/act-on-it/automation.md', `---\n${acting}---\n\nAct.\n`);
  await write('environments/python.yaml', text({ description: 'Python.' }));
  await write('skills/sorting/SKILL.md', 'How to sort.\n');
  expect((await mill.api('PATCH', at(''), { source: { kind: 'directory', path: folder } })).body).toMatchObject({
    definitions_managed: true,
  });
  expect(await mill.sync(factory)).toMatchObject({
    condition: { ending: 'applied' },
    revision_applied: expect.stringMatching(/^sha256:/),
  });
  expect((await mill.api('GET', at(`/webhooks/${hook.uid}`))).body).toMatchObject({
    name: hook.slug,
    file: `webhooks/${hook.slug}.yaml`,
    ingress_url: hook.ingress_url,
    secret_set: true,
  });
  expect((await mill.api('PATCH', at(`/webhooks/${hook.uid}`), { enabled: false })).body).toMatchObject({
    status: 409,
    edited_text: `{ "secretName": "${hook.secret_name}", enabled: false }\n`,
  });
  expect(await send()).toBe(202);

  // And back: what files said stays, and is edited here.
  expect((await mill.api('PATCH', at(''), { source: { kind: 'dashboard' } })).body).toMatchObject({
    definitions_managed: false,
  });
  await mill.sync(factory);
  const [automation] = (await mill.api('GET', at('/automations'))).body['automations'] as {
    uid: string;
    file: null;
    agent: object;
  }[];
  expect(automation).toMatchObject({ file: null, agent: { environment_id: 'python', skill_spec: 'sorting' } });
  const edited = await fetch(`${mill.url}/api/v1${at(`/automations/${String(automation?.uid)}`)}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${mill.adminKey}`, 'content-type': 'application/json', 'if-match': '*' },
    body: JSON.stringify({ name: 'Again' }),
  });
  expect(edited.status).toBe(200);
  expect(await send()).toBe(202);
  expect(await titles()).toEqual(['Act on it · Act.', 'act-on-it · Act.', 'Again · Act.']);
  await rm(join(folder, 'webhooks'), { recursive: true });
  await mill.sync(factory); // files decide no more
  expect(await send()).toBe(202);
  expect((await mill.api('GET', at(`/webhooks/${hook.uid}/deliveries`))).body['deliveries']).toHaveLength(4);
});

it('holds back what files would delete, as ever', async () => {
  const factory = String(
    (await mill.api('POST', '/factory', { slug: 'careful', source: { kind: 'dashboard' } })).body['uid'],
  );
  await mill.api('POST', `/factory/${factory}/webhooks`, { name: 'only-here' });
  await mill.secret('hook', 'a-token-of-some-length');
  await write('webhooks/from-file.yaml', text({ secretName: 'hook' }));
  await rm(join(folder, 'automations'), { recursive: true });
  expect((await mill.api('PATCH', `/factory/${factory}`, { source: { kind: 'directory', path: folder } })).status).toBe(
    200,
  );
  expect(await mill.sync(factory)).toMatchObject({ condition: { ending: 'blocked', reason: 'prune-held' } });
  expect(
    ((await mill.api('GET', `/factory/${factory}/webhooks`)).body['webhooks'] as { slug: string }[]).map(
      ({ slug }) => slug,
    ),
  ).toEqual(['only-here']);
});
