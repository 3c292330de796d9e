/**
 * Nothing that a sender shows us comes out again: not in answers, logs, or the database outside the payload. contract
 * §5.1.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { exchange, type HeaderLines, type RawAnswer, type RawRequest } from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

// One marker for every place that a secret or a payload can stand in.
const mark = (place: string): string => `mark${place}${randomBytes(12).toString('hex')}`;
const MARKS = {
  bearer: mark('bearer'),
  urlToken: mark('urltoken'),
  signing: mark('signing'),
  authorization: mark('authorization'),
  path: mark('path'),
  segment: mark('segment'),
  query: mark('query'),
  body: mark('body'),
  badBody: mark('badbody'),
  header: mark('header'),
  signature: mark('signature'),
  host: mark('host'),
  method: mark('method'),
};

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let skewMs = 0;
const answers: RawAnswer[] = [];
const printed: string[] = [];

beforeAll(async () => {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    jest.spyOn(stream, 'write').mockImplementation((text: string | Uint8Array) => {
      printed.push(String(text));
      return write(text);
    });
  }
  mill = await bootService({ nowMs: () => Date.now() + skewMs, environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await mill.secret('bearer', MARKS.bearer);
  await mill.secret('in-url', MARKS.urlToken);
  await mill.secret('signing', MARKS.signing);
  folder = await factoryFolder({
    webhooks: {
      plain: { secretName: 'bearer' },
      linked: { authMode: 'url_token', secretName: 'in-url' },
      signed: { authMode: 'signature', signatureScheme: 'github', secretName: 'signing' },
    },
    automations: {
      all: { webhooks: ['plain', 'linked', 'signed'] },
      some: { webhooks: ['plain'], payload: { secret: ['something else'] } },
    },
  });
  factory = await mill.factory('secrecy', folder.source);
}, 120_000);

afterAll(async () => {
  jest.restoreAllMocks();
  await mill?.stop();
  await folder?.remove();
});

const path = (slug: string): string => `/webhooks/w/${mill.webhookUid('secrecy', slug)}`;
const bearer = (token: string): HeaderLines => [['Authorization', `Bearer ${token}`]];
const signed = (body: string): HeaderLines => [
  ['X-Hub-Signature-256', `sha256=${createHmac('sha256', MARKS.signing).update(body).digest('hex')}`],
];

async function send(target: string, headers: HeaderLines, body: string, more: Partial<RawRequest> = {}): Promise<void> {
  answers.push(await exchange(mill.url, { target, headers, body, ...more }));
}

async function everyPath(): Promise<void> {
  const good = JSON.stringify({ secret: MARKS.body });
  const bad = `not JSON ${MARKS.badBody}`;
  const big = MARKS.badBody.padEnd(262_145, 'x');
  const extra: HeaderLines = [
    ['X-Marked', MARKS.header],
    ['Content-Type', MARKS.header],
    ['User-Agent', MARKS.header],
    ['Cookie', MARKS.header],
  ];
  for (const body of [good, good, bad, big]) {
    await send(`${path('plain')}?q=${MARKS.query}`, [...bearer(MARKS.bearer), ...extra], body);
    await send(path('plain'), [...bearer(MARKS.authorization), ...extra], body);
    await send(`${path('linked')}/${MARKS.urlToken}?q=${MARKS.query}`, extra, body);
    await send(`${path('linked')}/${MARKS.segment}`, extra, body);
    await send(`${path('linked')}/%ZZ${MARKS.segment}`, extra, body);
    await send(path('signed'), [...signed(body), ...extra], body);
    await send(path('signed'), [['X-Hub-Signature-256', `sha256=${MARKS.signature}`], ...extra], body);
    await send(`/webhooks/w/${MARKS.path}`, bearer(MARKS.authorization), body);
    await send(`/webhooks/${MARKS.path}/${MARKS.segment}`, bearer(MARKS.authorization), body);
    await send(`${path('plain')}/${MARKS.segment}/${MARKS.path}`, bearer(MARKS.authorization), body);
  }
  // Near misses of the ingress' path, as people mistype them: the token stands in them all the same.
  for (const target of [
    `/webhook/w/x/${MARKS.segment}`,
    `//webhooks/w/x/${MARKS.segment}`,
    `/Webhooks/w/x/${MARKS.segment}`,
    `/%77ebhooks/w/x/${MARKS.segment}`,
    `/webhooks?${MARKS.query}`,
    `/${MARKS.path}`,
  ]) {
    await send(target, bearer(MARKS.authorization), good);
    await send(target, bearer(mill.adminKey), good);
    await send(target, [], '', { method: 'GET' });
  }
  await send(`${path('linked')}/${MARKS.segment}`, [], good, { method: 'PUT' });
  await send(`${path('linked')}/${MARKS.segment}`, [], '', { method: MARKS.method });
  await send(`${path('linked')}/${MARKS.segment}`, [], good, { host: `${MARKS.host}.example` });
  await send(`http://${MARKS.host}.example${path('linked')}/${MARKS.segment}`, [], good);
  await send(`${path('linked')}/${MARKS.segment}`, [['X-Long', MARKS.header.padEnd(30_000, 'x')]], good);
  await send(`${path('linked')}/${MARKS.segment}\u0001`, [[`Bad ${MARKS.header}`, MARKS.header]], good);
  // over the budget
  for (let count = 0; count < 25; count += 1) await send(`${path('linked')}/${MARKS.segment}`, [], good);
}

it('echoes nothing', async () => {
  await everyPath();
  // Once more with the database gone: the paths of faults.
  await mill.service.database.run(function* () {
    yield { kind: 'query', text: 'ALTER TABLE delivery RENAME TO delivery_away', params: [] };
  });
  skewMs += 121_000;
  await everyPath();
  await mill.service.database.run(function* () {
    yield { kind: 'query', text: 'ALTER TABLE delivery_away RENAME TO delivery', params: [] };
  });
  const statuses = new Set(answers.map(({ status }) => status));
  for (const status of [202, 400, 401, 404, 405, 413, 421, 429, 431, 503]) expect(statuses).toContain(status);

  const sent = answers
    .map(({ headers, body }) => `${[...headers].join('\n')}\n${body}`)
    .join('\n')
    .toLowerCase();
  const logged = [...mill.logged, ...printed].join('\n').toLowerCase();
  for (const [place, marker] of Object.entries(MARKS)) {
    expect([place, 'answers', sent.includes(marker)]).toEqual([place, 'answers', false]);
    expect([place, 'log', logged.includes(marker)]).toEqual([place, 'log', false]);
  }
});

it('keeps nothing outside the payload column', async () => {
  const database = new Sqlite(join(mill.dataDir, 'millwright.sqlite'), { readonly: true });
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
  for (const { name } of tables) {
    for (const row of database.prepare(`SELECT * FROM "${name}"`).all() as Record<string, unknown>[]) {
      for (const [column, value] of Object.entries(row)) {
        if (name === 'delivery' && column === 'payload') continue;
        const text = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
        for (const [place, marker] of Object.entries(MARKS))
          expect([name, column, place, text.includes(marker)]).toEqual([name, column, place, false]);
      }
    }
  }
  database.close();
});

it('keeps no secret anywhere in the data folder, and no refused body', async () => {
  const files = (await readdir(mill.dataDir, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  for (const file of files) {
    const bytes = await readFile(join(file.parentPath, file.name));
    for (const place of [
      'bearer',
      'urlToken',
      'signing',
      'authorization',
      'path',
      'segment',
      'query',
      'badBody',
      'header',
      'signature',
    ] as const) {
      expect([file.name, place, bytes.includes(MARKS[place])]).toEqual([file.name, place, false]);
    }
  }
});

it('tells viewers not even why a delivery was refused, and nobody the value', async () => {
  for (const slug of ['plain', 'linked', 'signed']) {
    const { body } = await mill.api(
      'GET',
      `/factory/${factory}/webhooks/${mill.webhookUid('secrecy', slug)}/deliveries?limit=500`,
    );
    const text = JSON.stringify(body);
    for (const marker of Object.values(MARKS)) expect(text).not.toContain(marker);
  }
});
