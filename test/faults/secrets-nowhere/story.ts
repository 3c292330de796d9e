/**
 * A whole story with planted secrets: factories, deliveries, pushes, keys, sessions, runs, and every way to put a
 * secret where it does not belong.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { automationFile, automationPath, webhookFile, webhookPath } from '../../support/factories/factory-files.ts';
import type { GitServer } from '../../support/git/git-server.ts';
import { allArguments, secretsIn } from '../../support/ledger/plain-secrets.ts';
import { exchange, type HeaderLines } from '../../support/network/raw-http.ts';
import { eventually } from '../../support/services/service.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/services/service-process.ts';

/** What stands between two looks at the arguments of processes, in milliseconds. */
const POLL_MS = 40;
const ENDED = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];

/** With characters that percent-encoding changes, where any are allowed. */
const mark = (what: string): string => `mark/${what}+${randomBytes(12).toString('hex')}=`;
/** For what goes into a URL. */
export const plainMark = (what: string): string => `mark-${what}-${randomBytes(12).toString('hex')}`;

/**
 * A service with everything that is secret in it, and what becomes of it: used, used wrongly, refused, killed in the
 * middle.
 */
export class Story {
  readonly planted = new Map<string, string>();
  /** Everything that was answered, but for the two answers that show a secret once. */
  readonly answers: string[] = [];
  readonly told = new Set<string>();
  readonly dataDir: string;
  private readonly environment: Record<string, string>;
  private readonly processes: ServiceProcess[] = [];
  private readonly git: GitServer;
  private readonly looking: NodeJS.Timeout;

  constructor(dataDir: string, git: GitServer, environment: Record<string, string>) {
    [this.dataDir, this.git] = [dataDir, git];
    this.planted.set('agent key', plainMark('agent-key'));
    this.environment = {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_RUN_COMMAND: '["/bin/sh"]',
      MILLWRIGHT_LOG_LEVEL: 'info',
      MILLWRIGHT_DRAIN_SECONDS: '0',
      // An endpoint that nobody serves: what runs say of it is theirs, and no key.
      MILLWRIGHT_AGENT_API_KEY: this.secret('agent key'),
      MILLWRIGHT_AGENT_BASE_URL: 'http://127.0.0.1:9/v1',
      MILLWRIGHT_AGENT_MODEL: 'nobody',
      MILLWRIGHT_AGENT_RETRIES_MAX: '0',
      ...environment,
    };
    this.looking = setInterval(() => this.lookAtArguments(), POLL_MS);
    for (const [what, value] of [
      ['bearer token', mark('bearer')],
      ['token in a URL', plainMark('url')],
      ['signing key', mark('signing')],
      ['push secret', mark('push')],
      ['git token', plainMark('git')],
      ['secret of a run', mark('run')],
      ['rotated token', mark('rotated')],
      ['unfit value', `mark unfit ${randomBytes(9).toString('hex')}`],
    ] as const)
      this.planted.set(what, value);
  }

  secret(what: string): string {
    const value = this.planted.get(what);
    if (value === undefined) throw new Error(`no ${what} was planted`);
    return value;
  }

  /** Everything that the processes said. */
  logged(): string {
    return this.processes.map((service) => service.errors()).join('');
  }

  async tell(): Promise<void> {
    await this.begin();
    const factory = await this.managedFactory();
    await this.deliver(factory);
    await this.push(factory);
    await this.dashboardFactory();
    await this.keysAndSessions();
    await this.badBodies();
    await this.runs(factory);
    // Once more in the middle of things: what was being written stays in the journal.
    await Promise.all([
      this.deliver(factory),
      new Promise((resolve) => setTimeout(resolve, 15)).then(() => this.kill()),
    ]);
    await this.begin();
    await this.deliver(factory);
    await this.readEverything(factory);
  }

  async end(): Promise<void> {
    clearInterval(this.looking);
    for (const service of this.processes) service.signal('SIGKILL');
    await Promise.all(this.processes.map(({ ended }) => ended));
  }

  get service(): ServiceProcess {
    return this.processes.at(-1) as ServiceProcess;
  }

  private lookAtArguments(): void {
    const found = allArguments();
    for (const what of secretsIn(found, this.planted)) this.told.add(what);
  }

  private async begin(): Promise<void> {
    this.processes.push(await startServiceProcess(this.dataDir, this.environment));
  }

  private async kill(): Promise<void> {
    this.service.signal('SIGKILL');
    await this.service.ended;
  }

  /** Asks as the first admin, or as said. Answers are kept, unless they are the ones that show a secret. */
  private async call(
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
    isShown = false,
  ): Promise<Record<string, unknown>> {
    const authorization = `Bearer mw_${'k'.repeat(43)}`;
    const answer = await fetch(`${this.service.url}/api/v1${path}`, {
      method,
      headers: {
        ...('cookie' in more ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...more,
      },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!isShown)
      this.answers.push(
        `${method} ${path.split('?')[0] ?? ''} ${answer.status} ${JSON.stringify([...answer.headers])} ${text}`,
      );
    return text === ''
      ? {}
      : {
          ...(JSON.parse(text) as Record<string, unknown>),
          cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0],
        };
  }

  private async managedFactory(): Promise<{ uid: string; hooks: Map<string, string> }> {
    const put = (name: string, what: string, uses = ['webhook']): Promise<unknown> =>
      this.call('PUT', `/secrets/${name}`, { value: this.secret(what), grants: { uses, runs: '*' } });
    await put('bearer', 'bearer token');
    await put('in-url', 'token in a URL');
    await put('signing', 'signing key');
    await put('push', 'push secret', ['forge']);
    await put('git', 'git token', ['git']);
    await put('RUN_SECRET', 'secret of a run', ['run']);
    const repository = this.git.createRepository('story');
    this.git.token = this.secret('git token');
    repository.commit({
      [webhookPath('plain')]: webhookFile('bearer'),
      [webhookPath('linked')]: webhookFile('in-url', 'authMode: url_token'),
      [webhookPath('signed')]: webhookFile('signing', 'authMode: signature', 'signatureScheme: github'),
      [automationPath('all')]: automationFile(['plain', 'linked', 'signed'], 'echo seen'),
    });
    const { uid } = await this.call('POST', '/factory', {
      slug: 'story',
      source: {
        kind: 'git',
        url: this.git.urlOf('story'),
        branch: 'main',
        credential_secret: 'git',
        push_secret: 'push',
      },
    });
    await this.call('POST', `/factory/${String(uid)}/sync?wait=true`);
    const { webhooks } = await this.call('GET', `/factory/${String(uid)}/webhooks`);
    const hooks = new Map((webhooks as { slug: string; uid: string }[]).map((hook) => [hook.slug, hook.uid]));
    if (hooks.size !== 3) throw new Error(`${hooks.size} webhooks were made`);
    return { uid: String(uid), hooks };
  }

  /** Good ones, and every way to put a secret where it does not belong. */
  private async deliver({ hooks }: { hooks: Map<string, string> }): Promise<void> {
    const at = (slug: string): string => `/webhooks/w/${hooks.get(slug) ?? ''}`;
    const [bearer, inUrl, body] = [
      this.secret('bearer token'),
      this.secret('token in a URL'),
      `{"n": "${randomBytes(6).toString('hex')}"}`,
    ];
    const signature: HeaderLines = [
      ['X-Hub-Signature-256', `sha256=${createHmac('sha256', this.secret('signing key')).update(body).digest('hex')}`],
    ];
    const send = async (target: string, headers: HeaderLines, method = 'POST'): Promise<void> => {
      // it may be killed meanwhile
      const answer = await exchange(this.service.url, { method, target, headers, body }).catch(() => undefined);
      // A problem of the API names the path that was asked for, to whoever asked.
      if (answer !== undefined && !target.startsWith('/api/'))
        this.answers.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${answer.body}`);
    };
    await send(at('plain'), [['Authorization', `Bearer ${bearer}`]]);
    await send(`${at('linked')}/${inUrl}`, []);
    await send(at('signed'), signature);
    // The right secret at the wrong place: refused, and never repeated.
    await send(`${at('plain')}/${encodeURIComponent(bearer)}`, []);
    await send(`${at('plain')}?token=${encodeURIComponent(bearer)}`, []);
    await send(at('plain'), [['Authorization', `Basic ${Buffer.from(`x:${bearer}`).toString('base64')}`]]);
    await send(at('plain'), [['X-Token', bearer]]);
    await send(at('plain'), [['Authorization', `Bearer ${bearer}x`]]);
    await send(at('linked'), [['Authorization', `Bearer ${inUrl}`]]);
    await send(`${at('linked')}/${inUrl}/more`, []);
    await send(`${at('linked')}/${inUrl}%zz`, []);
    await send(`/webhook/w/${inUrl}`, []);
    await send(`/api/v1/${inUrl}`, [['Authorization', `Bearer ${bearer}`]]);
    await send(at('signed'), [['X-Hub-Signature-256', this.secret('signing key')]]);
    await send(`${at('linked')}/${inUrl}`, [], 'PUT');
    await send(`${at('linked')}/${inUrl}`, [['X-Long', bearer.padEnd(40_000, 'x')]]);
    await send(`${at('linked')}/${inUrl}`, [['Bad Name', bearer]]);
  }

  private async push({ uid }: { uid: string }): Promise<void> {
    const body = JSON.stringify({ ref: 'refs/heads/main' });
    const secret = this.secret('push secret');
    const tell = (headers: Record<string, string>): Promise<unknown> =>
      this.call('POST', `/factory/${uid}/push`, body, { cookie: '', ...headers });
    await tell({ 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` });
    await tell({ 'x-gitlab-token': secret, 'x-gitlab-event': 'Push Hook' });
    await tell({ 'x-gitlab-token': `${secret}x` });
    // A host that fails, with the credential on the way to it.
    this.git.fault = { kind: 'status', status: 500 };
    await this.call('POST', `/factory/${uid}/sync?wait=true`);
    this.git.fault = undefined;
    await this.call('POST', `/factory/${uid}/sync?wait=true`);
  }

  /** Secrets that the service makes: shown in one answer each, planted from there on. */
  private async dashboardFactory(): Promise<void> {
    const uid = String((await this.call('POST', '/factory', { slug: 'board', source: { kind: 'dashboard' } }))['uid']);
    const key = { 'idempotency-key': 'make-a-hook' };
    for (const [mode, extra] of [
      ['token', {}],
      ['url_token', {}],
      ['signature', { signature_scheme: 'standard_webhooks' }],
    ] as const) {
      const made = await this.call(
        'POST',
        `/factory/${uid}/webhooks`,
        { name: `Made ${mode}`, auth_mode: mode, ...extra },
        mode === 'token' ? key : {},
        true,
      );
      this.planted.set(`made for ${mode}`, String(made['secret']));
      if (mode === 'signature')
        this.planted.set(
          'made key in bytes',
          Buffer.from(String(made['secret']).replace('whsec_', ''), 'base64').toString('latin1'),
        );
      const rotated = await this.call('POST', `/factory/${uid}/webhooks/${String(made['uid'])}/rotate`, {}, {}, true);
      this.planted.set(`rotated for ${mode}`, String(rotated['secret']));
    }
    // the same again: named, not shown
    await this.call('POST', `/factory/${uid}/webhooks`, { name: 'Made token', auth_mode: 'token' }, key);
  }

  private async keysAndSessions(): Promise<void> {
    const made = await this.call(
      'POST',
      '/api-keys',
      { name: 'marked', role: 'viewer' },
      { 'idempotency-key': 'make-a-key' },
      true,
    );
    this.planted.set('API key', String(made['key']));
    await this.call('POST', '/api-keys', { name: 'marked', role: 'viewer' }, { 'idempotency-key': 'make-a-key' });
    const signedIn = await this.call(
      'POST',
      '/session',
      { api_key: this.secret('API key') },
      { cookie: '', origin: this.service.url },
      true,
    );
    const cookie = String(signedIn['cookie']);
    this.planted.set('session', cookie.slice(cookie.indexOf('=') + 1));
    const page = { cookie, 'sec-fetch-site': 'same-origin' };
    await this.call('GET', '/agent/runs', undefined, page);
    await this.call('DELETE', '/factory/none', undefined, page);
    await this.call(
      'POST',
      '/session',
      { api_key: `${this.secret('API key')}x` },
      { cookie: '', origin: this.service.url },
    );
    await this.call(
      'POST',
      '/session',
      { api_key: [this.secret('API key')] },
      { cookie: '', origin: this.service.url },
    );
    await this.call('GET', `/agent/runs?key=${this.secret('API key')}&q=x`, undefined, {
      authorization: `Bearer ${this.secret('API key')}`,
    });
    await this.call(
      'GET',
      `/agent/runs/${this.secret('API key')}`,
      undefined,
      { authorization: `Bearer ${this.secret('API key')}x` },
      true,
    ); // its answer names the path
  }

  /** Bodies that cannot be taken and hold a secret. */
  private async badBodies(): Promise<void> {
    const value = this.secret('unfit value');
    await this.call('PUT', '/secrets/bearer', { value }); // not usable for the webhook that uses it
    await this.call('PUT', '/secrets/in-url', { value });
    await this.call('PUT', '/secrets/other', `{"value": "${value}"`);
    await this.call('PUT', '/secrets/other', { value: [value] });
    await this.call('PUT', '/secrets/other', { value, grants: value });
    await this.call('PUT', '/secrets/bearer', { value: this.secret('rotated token') });
    await this.call('PUT', '/secrets/bearer', { value: this.secret('bearer token') });
  }

  /** One with a secret that tells it in every form and fails; one whose model endpoint cannot be reached. */
  private async runs({ uid }: { uid: string }): Promise<void> {
    const prompt =
      'echo "it is $RUN_SECRET"; printf %s "$RUN_SECRET" | base64; printf %s "$RUN_SECRET" | od -An -tx1 | tr ' +
      '-d " \\n"; echo "$RUN_SECRET" >&2; exit 3';
    const made = [
      await this.call('POST', '/agent/runs', {
        prompt,
        factory_uid: uid,
        config: { harness: { type: 'command' }, secrets: [{ name: 'RUN_SECRET' }] },
      }),
      await this.call('POST', '/agent/runs', { prompt: 'do it', config: { harness: { type: 'builtin' } } }),
    ];
    for (const { run_id: runId } of made) {
      await eventually(
        `the run ${String(runId)} ends`,
        async () =>
          ENDED.includes(String((await this.call('GET', `/agent/runs/${String(runId)}`))['state'])) ? true : undefined,
        90_000,
      );
      await this.call('GET', `/agent/runs/${String(runId)}/events?limit=500`, undefined, {
        accept: 'application/json',
      });
    }
  }

  private async readEverything({ uid, hooks }: { uid: string; hooks: Map<string, string> }): Promise<void> {
    for (const path of [
      '/secrets',
      '/api-keys',
      '/audit?limit=500',
      '/factory',
      '/agent/runs?limit=500',
      `/factory/${uid}/status`,
      `/factory/${uid}/syncs`,
      `/factory/${uid}/webhooks`,
      `/factory/${uid}/automations`,
    ])
      await this.call('GET', path);
    for (const hook of hooks.values()) await this.call('GET', `/factory/${uid}/webhooks/${hook}/deliveries?limit=500`);
  }
}
