/**
 * Many runs while the service, its agents and its clients are killed, stopped, cancelled and interrupted at random;
 * what was promised must hold afterwards. Decisions come from a seed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  brokenPromises,
  forbiddenMoves,
  processesOf,
  recordsOf,
  runStates,
  watchMoves,
  type Promised,
  type Records,
} from '../../support/runs/run-invariants.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/services/service-process.ts';

export interface Storm {
  runs: number;
  seed: number;
  dataDir: string;
  /** Milliseconds until it counts as failed. */
  timeMsMax: number;
}

/** What was done and what came of it; `broken`: promises, in words. */
export interface StormReport {
  broken: string[];
  did: Readonly<Record<Deed, number>>;
  states: Readonly<Record<string, number>>;
  executions: Readonly<Record<string, number>>;
}

type Deed = 'creates' | 'followups' | 'cancels' | 'agentKills' | 'serviceKills' | 'serviceStops' | 'unanswered';

const ENVIRONMENT = {
  MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
  MILLWRIGHT_RUN_COMMAND: '["/bin/sh"]',
  MILLWRIGHT_RUN_CONCURRENCY: '4',
  MILLWRIGHT_DRAIN_SECONDS: '0',
  MILLWRIGHT_LOG_LEVEL: 'error',
};
/** Runs that wait or work at once. */
const OPEN_MAX = 8;
const PAUSE_MS_MAX = 150;
/** Each once for so many runs. */
const RUNS_PER = { serviceKills: 8, serviceStops: 14, agentKills: 6, cancels: 6, followups: 3 } as const;
const EFFECTS = 'effects';
const OVER = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];

/** Lets it rage, waits until it is over, and answers what is broken. */
export async function storm(options: Storm): Promise<StormReport> {
  const weather = new Weather(options);
  try {
    return await weather.rage();
  } finally {
    await weather.end();
  }
}

class Weather {
  private readonly options: Storm;
  private readonly random: () => number;
  private readonly deadline: number;
  private service: ServiceProcess | undefined;
  private readonly creates: { title: string; runId?: string }[] = [];
  private readonly followups: { runId: string; followupId: string; message: string }[] = [];
  private readonly cancels: { runId: string; isLast: boolean }[] = [];
  private readonly did: Record<Deed, number> = {
    creates: 0,
    followups: 0,
    cancels: 0,
    agentKills: 0,
    serviceKills: 0,
    serviceStops: 0,
    unanswered: 0,
  };
  private readonly surprises: string[] = [];

  constructor(options: Storm) {
    this.options = options;
    this.random = seededRandom(options.seed);
    this.deadline = performance.now() + options.timeMsMax;
  }

  async rage(): Promise<StormReport> {
    await this.begin();
    watchMoves(this.options.dataDir);
    while (this.did.creates < this.options.runs || this.owed('serviceKills') + this.owed('serviceStops') > 0) {
      await this.act();
      await sleep(this.random() * PAUSE_MS_MAX);
    }
    const records = await this.quiet();
    const promised: Promised = { creates: this.creates, followups: this.followups, cancels: this.cancels };
    const left = processesOf(this.runIds()).map(
      ({ pid, runId, command }) => `process ${pid} of run ${runId} is left: ${command}`,
    );
    const broken = [
      ...this.surprises,
      ...brokenPromises(records, promised),
      ...forbiddenMoves(this.options.dataDir),
      ...left,
      ...records.runs.flatMap(({ run_id: runId }) => this.brokenEffects(runId)),
    ];
    return {
      broken,
      did: this.did,
      states: counted(records.runs.map(({ state }) => state)),
      executions: counted(records.executions.map(({ outcome }) => outcome ?? 'none')),
    };
  }

  async end(): Promise<void> {
    this.service?.signal('SIGKILL');
    await this.service?.ended;
    for (const { pid } of processesOf(this.runIds())) process.kill(pid, 'SIGKILL');
  }

  private async begin(): Promise<void> {
    this.service = await startServiceProcess(this.options.dataDir, ENVIRONMENT);
  }

  /** Does one thing: makes or awaits a run, or does to those that are there what their number asks for. */
  private async act(): Promise<void> {
    const known = this.creates.flatMap(({ runId }) => (runId === undefined ? [] : [runId]));
    if (known.length === 0) return this.create();
    const isFull = this.did.creates >= this.options.runs || this.open().length >= OPEN_MAX;
    const deeds: [weight: number, act: () => Promise<void>][] = [
      [2, () => (isFull ? Promise.resolve() : this.create())],
      [this.owed('followups'), () => this.followUp(this.one(known))],
      [this.owed('cancels'), () => this.cancel(this.one(known.slice(-OPEN_MAX)))],
      [this.owed('agentKills'), () => this.killAgent()],
      [this.owed('serviceKills'), () => this.killService()],
      [this.owed('serviceStops'), () => this.stopService()],
    ];
    let place = this.random() * deeds.reduce((sum, [weight]) => sum + weight, 0);
    await deeds.find(([weight]) => (place -= weight) < 0)?.[1]();
  }

  /**
   * How much of something is still to be done for the runs that were made so far: it goes along with them, not ahead.
   */
  private owed(deed: keyof typeof RUNS_PER): number {
    return Math.max(0, Math.round(this.did.creates / RUNS_PER[deed]) - this.did[deed]);
  }

  private open(): { run_id: string; state: string }[] {
    return runStates(this.options.dataDir).filter(({ state }) => !OVER.includes(state));
  }

  private async create(): Promise<void> {
    const title = `run ${this.did.creates}`;
    this.did.creates += 1;
    const isCommand = this.random() < 0.15;
    const works =
      `${effect('prompt')}; ` +
      `${this.random() < 0.3 ? '(setsid sleep 600 &); ' : ''}sleep` +
      ` ${this.random().toFixed(2)}`;
    const create: { title: string; runId?: string } = { title };
    this.creates.push(create); // before it is answered: it may be stored all the same
    const body = {
      title,
      prompt: isCommand ? works : demo(works),
      config: { harness: { type: isCommand ? 'command' : 'builtin' } },
    };
    const answer = await this.ask('POST', '/agent/runs', body, [200]);
    if (answer !== undefined) create.runId = (answer.body as { run_id: string }).run_id;
  }

  private async followUp(runId: string): Promise<void> {
    const marker = `more-${this.did.followups}`;
    this.did.followups += 1;
    const message = demo(effect(marker));
    // whether it is answered or not
    for (const cancel of this.cancels) if (cancel.runId === runId) cancel.isLast = false;
    const answer = await this.ask('POST', `/agent/runs/${runId}/followups`, { message }, [200, 409]);
    if (answer?.status === 200)
      this.followups.push({ runId, followupId: (answer.body as { followup_id: string }).followup_id, message: marker });
  }

  private async cancel(runId: string): Promise<void> {
    this.did.cancels += 1;
    const answer = await this.ask('POST', `/agent/runs/${runId}/cancel`, undefined, [200, 400]);
    if (answer?.status === 200) this.cancels.push({ runId, isLast: true });
  }

  private async killAgent(): Promise<void> {
    const found = processesOf(this.runIds());
    if (found.length === 0) return;
    this.did.agentKills += 1;
    try {
      process.kill(this.one(found).pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }

  /** Kills it among requests that it has not answered. */
  private async killService(): Promise<void> {
    this.did.serviceKills += 1;
    const left = Math.min(2, this.options.runs - this.did.creates);
    const asked = Array.from({ length: Math.max(0, left) }, () => this.create());
    await sleep(this.random() * 40);
    this.service?.signal('SIGKILL');
    await Promise.all([...asked, this.service?.ended]);
    await this.begin();
  }

  private async stopService(): Promise<void> {
    this.did.serviceStops += 1;
    this.service?.signal('SIGTERM');
    const code = await this.service?.ended;
    if (code !== 0)
      this.surprises.push(
        `the service ended with ${code} when it was asked to stop: ${this.service?.errors().slice(-2_000)}`,
      );
    await this.begin();
  }

  /** Waits until every run is over. */
  private async quiet(): Promise<Records> {
    for (;;) {
      const open = this.open();
      if (open.length === 0) return recordsOf({ dataDir: this.options.dataDir });
      if (performance.now() > this.deadline)
        throw new Error(`${open.length} runs are not over in time: ${JSON.stringify(open.slice(0, 5))}`);
      await sleep(200);
    }
  }

  private async ask(
    method: string,
    path: string,
    body: unknown,
    expected: readonly number[],
  ): Promise<{ status: number; body: unknown } | undefined> {
    try {
      const answer = await this.service?.ask(method, path, body);
      if (answer !== undefined && !expected.includes(answer.status))
        this.surprises.push(`${method} ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return answer;
    } catch {
      this.did.unanswered += 1; // the connection broke
      return undefined;
    }
  }

  /** What is done outside is done again only under another epoch: in one, the work is begun once. */
  private brokenEffects(runId: string): string[] {
    let text = '';
    try {
      text = readFileSync(join(this.options.dataDir, 'runs', runId, 'workspace', EFFECTS), 'utf8');
    } catch {
      return []; // it never came to work
    }
    const lines = text.split('\n').filter((line) => line !== '');
    const strange = lines.filter((line) => !line.startsWith(`${runId} `));
    const begun = new Map<string, Set<string>>();
    for (const [, epoch = '', sandbox = ''] of lines.map((line) => line.split(' ')))
      begun.set(epoch, (begun.get(epoch) ?? new Set()).add(sandbox));
    const twice = [...begun].filter(([, sandboxes]) => sandboxes.size > 1);
    return [
      ...twice.map(([epoch]) => `the execution ${epoch} of the run ${runId} was begun twice`),
      ...strange.map((line) => `the run ${runId} was told to be ${line}`),
    ];
  }

  private runIds(): Set<string> {
    return new Set(this.creates.flatMap(({ runId }) => (runId === undefined ? [] : [runId])));
  }

  private one<T>(of: readonly T[]): T {
    return of[Math.floor(this.random() * of.length)] as T;
  }
}

/** Tells which run and execution it is told to be, and when its sandbox began. */
function effect(marker: string): string {
  return `echo "$MILLWRIGHT_RUN_ID $MILLWRIGHT_EXECUTION_EPOCH $(cut -d' ' -f22 /proc/1/stat) ${marker}" >> ${EFFECTS}`;
}

function demo(command: string): string {
  return `Do this.\n\n\`\`\`demo\n${JSON.stringify([{ tool: 'bash', input: { command } }, { say: 'done' }])}\n\`\`\`\n`;
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
