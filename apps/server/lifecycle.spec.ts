/** In which order a process starts: what everybody waits for at a handover, and what comes behind it. contract §1.8. */
import { describe, expect, it } from '@jest/globals';
import type { LifecycleDeps } from './lifecycle.ts';
import { startService } from './lifecycle.ts';

/** Notes each call of a method by its path; whatever is asked for is there. */
function recorded(calls: string[], path: string): object {
  return new Proxy(() => undefined, {
    get: (_target, name) => (name === 'then' ? undefined : recorded(calls, `${path}.${String(name)}`)),
    apply: () => {
      calls.push(path);
      return path.endsWith('.prepare') ? Promise.resolve() : path.endsWith('.address') ? { port: 1 } : undefined;
    },
  });
}

/** The calls of a start. `config`: beside what every start reads of it. */
async function startedIn(config: { databaseUrl?: string } = {}): Promise<string[]> {
  const calls: string[] = [];
  const parts = new Proxy(
    { config: { roles: new Set(), host: '127.0.0.1', port: 0, dataDir: '', ...config } },
    { get: (known, name) => Reflect.get(known, name) ?? recorded(calls, String(name)) },
  );
  await startService({ parts, app: recorded(calls, 'app') } as unknown as LifecycleDeps);
  return calls;
}

describe('a start', () => {
  it('listens before it does what takes longer the more there is: runs, workspaces, factories', async () => {
    const calls = await startedIn();
    const listens = calls.indexOf('app.listen');
    expect(calls.slice(0, listens)).toEqual([
      'disk.start',
      'answers.releaseAll',
      'replicas.forgetAll',
      'serving.refresh',
      'deliveries.start',
      'heartbeat.start',
      'metricsListener.start',
    ]);
    expect(calls.slice(listens)).toEqual(
      expect.arrayContaining(['factories.releaseAll', 'engine.recover', 'assignments.start', 'engine.start']),
    );
  });

  it('of a replica counts waiting runs before it listens, as the standby of a SQLite file has done', async () => {
    const calls = await startedIn({ databaseUrl: 'postgres://127.0.0.1/x' });
    expect(calls.slice(0, calls.indexOf('app.listen'))).toContain('waitingRuns.prepare');
    expect(calls).not.toContain('factories.releaseAll'); // others may work on them
  });

  it('frees factories before it looks at any, and ends what is left of runs before it begins one', async () => {
    const calls = await startedIn();
    expect(calls.indexOf('factories.releaseAll')).toBeLessThan(calls.indexOf('assignments.start'));
    expect(calls.indexOf('engine.recover')).toBeLessThan(calls.indexOf('engine.start'));
  });
});
