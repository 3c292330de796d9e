/** Alerts and the expressions of the dashboard, as Debian's promtool reads them. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HERE = 'apps/deploy/monitoring';

/** What promtool says, and whether it is content. */
function promtool(...args: string[]): { ok: boolean; said: string } {
  try {
    return { ok: true, said: execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' }) };
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return { ok: false, said: `${stdout}${stderr}` };
  }
}

describe('promtool', () => {
  it('finds nothing wrong with the alerts', () => {
    expect(promtool('check', 'rules', join(HERE, 'alerts.yml'))).toMatchObject({
      ok: true,
      said: expect.stringContaining('12 rules found'),
    });
  });

  it('makes each alert fire where it has to, and not where it must not', () => {
    const { ok, said } = promtool('test', 'rules', join(HERE, 'alerts.test.yml'));
    expect([ok, said]).toEqual([true, expect.stringContaining('SUCCESS')]);
  });

  it('would notice an alert that does not fire any more', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millwright-alerts-'));
    try {
      const alerts = await readFile(join(HERE, 'alerts.yml'), 'utf8');
      await writeFile(
        join(folder, 'alerts.yml'),
        alerts.replace('millwright_database_up == 0', 'millwright_database_up > 1'),
      );
      await writeFile(join(folder, 'alerts.test.yml'), await readFile(join(HERE, 'alerts.test.yml')));
      const { ok, said } = promtool('test', 'rules', join(folder, 'alerts.test.yml'));
      expect([ok, said]).toEqual([false, expect.stringContaining('MillwrightDatabaseUnreachable fires')]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('understands every expression of the dashboard', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millwright-dashboard-'));
    try {
      const { panels } = JSON.parse(await readFile(join(HERE, 'dashboard.json'), 'utf8')) as {
        panels: { targets?: { expr: string }[] }[];
      };
      const rules = panels
        .flatMap(({ targets = [] }) => targets)
        .map(({ expr }, at) => ({ record: `panel:${at}`, expr: expr.replaceAll('$__rate_interval', '5m') }));
      const file = join(folder, 'panels.json'); // JSON is YAML
      await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
      expect(promtool('check', 'rules', file)).toMatchObject({
        ok: true,
        said: expect.stringContaining(`${rules.length} rules found`),
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
