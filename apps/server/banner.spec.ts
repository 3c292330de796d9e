/** What processes with some of the roles say of themselves. contract §1, §11. */
import { knownApiUrl, knownIngressUrl, otherAdminKeyLine, roleLines, workerLines } from './banner.ts';
import { readConfig, ROLES } from './config/config.ts';

const SHARED = {
  MILLWRIGHT_DATABASE_URL: 'postgres://word@database/mill',
  MILLWRIGHT_PORT: '8081',
  MILLWRIGHT_WORKER_HOST: 'big',
};
const of = (roles: string, more: Record<string, string> = {}) =>
  readConfig({ ...SHARED, MILLWRIGHT_ROLES: roles, ...more });
const PUBLIC = { MILLWRIGHT_PUBLIC_URL: 'https://mill.example' };
const INGRESS = { MILLWRIGHT_INGRESS_URL: 'https://in.example' };

describe('addresses', () => {
  it.each([
    { why: 'all roles', roles: ROLES.join(','), more: {}, named: [] },
    { why: 'a worker', roles: 'worker', more: {}, named: ['MILLWRIGHT_PUBLIC_URL', 'MILLWRIGHT_INGRESS_URL'] },
    { why: 'an api', roles: 'api', more: {}, named: ['MILLWRIGHT_PUBLIC_URL', 'MILLWRIGHT_INGRESS_URL'] },
    { why: 'an ingress', roles: 'ingress', more: {}, named: ['MILLWRIGHT_PUBLIC_URL'] },
    { why: 'an ingress that is named', roles: 'api,sync', more: INGRESS, named: ['MILLWRIGHT_PUBLIC_URL'] },
    { why: 'api and dashboard', roles: 'api,dashboard', more: {}, named: ['MILLWRIGHT_INGRESS_URL'] },
    { why: 'everything that is linked to', roles: 'api,ingress,dashboard', more: {}, named: [] },
    { why: 'one address for all', roles: 'worker', more: PUBLIC, named: [] },
  ])('$why: one line names what has to be set', ({ roles, more, named }) => {
    const lines = roleLines(of(roles, more)).filter((line) => line.startsWith('WARNING'));
    expect(lines).toHaveLength(named.length === 0 ? 0 : 1);
    expect(lines.join('').match(/MILLWRIGHT_\w+/g) ?? []).toEqual(named);
  });

  it('of the service are said where they are known, and a process without the role is never named for it', () => {
    expect(roleLines(of('worker', PUBLIC))[1]).toBe(
      'This process answers at 127.0.0.1:8081, the service at https://mill.example/',
    );
    expect(roleLines(of('worker'))[1]).toBe('This process answers at 127.0.0.1:8081');
    expect([of('worker'), of('worker', PUBLIC), of('api')].map(knownApiUrl)).toEqual([
      'URL_OF_THE_API',
      'https://mill.example',
      'http://127.0.0.1:8081',
    ]);
    expect([of('sync'), of('sync', PUBLIC), of('sync', INGRESS), of('ingress')].map(knownIngressUrl)).toEqual([
      'URL_OF_THE_INGRESS',
      'https://mill.example',
      'https://in.example',
      'http://127.0.0.1:8081',
    ]);
  });
});

describe('a worker', () => {
  it('says nothing where it is the whole service, and else its engine, machine and environments', () => {
    expect(workerLines(readConfig({}))).toEqual([]);
    expect(workerLines(of('worker'))).toEqual([
      'Takes runs of every environment, and those that ask for the machine big (MILLWRIGHT_WORKER_HOST)',
    ]);
    expect(
      workerLines(of('worker', { MILLWRIGHT_ENGINE: 'bullmq', MILLWRIGHT_WORKER_ENVIRONMENTS: 'gpu, small' })),
    ).toEqual([
      'Engine: bullmq, with its queue in PostgreSQL',
      'Takes runs only of the environments gpu, small, and those that ask for the machine big (MILLWRIGHT_WORKER_HOST)',
    ]);
    expect(
      workerLines(
        of(ROLES.join(','), { MILLWRIGHT_ENGINE: 'bullmq', MILLWRIGHT_REDIS_URL: 'redis://:hidden-word@queue' }),
      ),
    ).toEqual(['Engine: bullmq, with its queue in Redis']);
  });
});

describe('an admin key', () => {
  it('of another process is where that one has its data', () => {
    expect(otherAdminKeyLine(of('api'))).toContain('in the data folder of the process that made it');
    expect(otherAdminKeyLine(of('api', { MILLWRIGHT_ADMIN_KEY: `mw_${'k'.repeat(43)}` }))).toContain(
      'the one that was given',
    );
    expect(otherAdminKeyLine(readConfig({}))).toContain('the one that was given');
  });
});
