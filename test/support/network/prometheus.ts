/** Debian's Prometheus, which scrapes one address every few seconds and is asked what it has. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.ts';

/** One series of a range: its labels, and values at times in seconds. */
export interface PrometheusSeries {
  metric: Record<string, string>;
  values: [seconds: number, value: string][];
}

/** Between two scrapes; one that takes longer has failed. */
export const SCRAPE_SECONDS = 5;

export class Prometheus {
  private readonly url: string;
  /** Ends it and removes what it has written. */
  readonly stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    [this.url, this.stop] = [url, stop];
  }

  /** Starts it on the figures at a port, as the job `millwright`. `ruleFiles`: absolute paths. */
  static async start(metricsPort: number, ruleFiles: readonly string[] = []): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'millwright-prometheus-'));
    const port = await freePort();
    const config = join(folder, 'prometheus.yml');
    await writeFile(
      config,
      JSON.stringify({
        global: { scrape_interval: `${SCRAPE_SECONDS}s`, evaluation_interval: `${SCRAPE_SECONDS}s` },
        rule_files: ruleFiles,
        scrape_configs: [{ job_name: 'millwright', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] }],
      }), // JSON is YAML
    );
    const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`];
    const child = spawn(
      'prometheus',
      [...args, `--web.listen-address=127.0.0.1:${port}`, '--enable-feature=exemplar-storage'],
      { stdio: 'ignore' },
    );
    return new Prometheus(`http://127.0.0.1:${port}/api/v1/`, async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    });
  }

  /** What it answers at a path of its API. */
  async ask<T>(path: string): Promise<T> {
    const answer = await fetch(this.url + path);
    return ((await answer.json()) as { data: T }).data;
  }

  /** The value of an expression now; NaN: there is none. */
  async value(expression: string): Promise<number> {
    const found = await this.ask<{ result: { value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(expression)}`,
    );
    return Number(found.result[0]?.value[1] ?? NaN);
  }

  /** Values of an expression over the last seconds. */
  async range(expression: string, seconds: number, step: number): Promise<PrometheusSeries[]> {
    const end = Math.floor(Date.now() / 1_000);
    const query = new URLSearchParams({
      query: expression,
      start: String(end - seconds),
      end: String(end),
      step: String(step),
    });
    return (await this.ask<{ result: PrometheusSeries[] }>(`query_range?${query.toString()}`)).result;
  }
}
