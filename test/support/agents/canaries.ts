/**
 * Forty secrets of one run, of every kind that stays outside of a sandbox, and two that are inside on purpose; the run
 * uses them, and then they are looked for.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaunchProfile } from '#agents';
import { factoryFolder, type FactoryFolder } from '../factories/factory-folder.ts';
import { startGitServer, type GitServer } from '../git/git-server.ts';
import { startFakeModelServer, type Asked, type FakeModelServer, type Reply } from '../models/fake-model-server.ts';
import { searchRun, type CanarySearch } from '../processes/canary-search.ts';
import { ENDED, logOf, startedRun } from '../runs/runs.ts';
import { bootService, eventually, type TestService } from '../services/service.ts';
import { startMcpHttpServer, type McpHttpServer } from './mcp-http-server.ts';

/** What all values that are to stay outside begin with, and those that are inside. In no file of the machine. */
const OUTSIDE = `canary-${randomBytes(12).toString('hex')}`;
const INSIDE = `control-${randomBytes(12).toString('hex')}`;

/** Forty together: with the model's key and the header that is written out. */
const INJECTED = Array.from({ length: 32 }, (_, index) => `SECRET_${index}`);
const REPOSITORIES = ['one', 'two', 'three', 'four'];
const MCP = ['MCP_TOKEN', 'MCP_TEAM'];
export const EXPOSED = ['EXPOSED_A', 'EXPOSED_B'];

export const MODEL_KEY = `${OUTSIDE}-model`;
const LITERAL = `${OUTSIDE}-literal`;
const valueOf = (name: string): string => `${EXPOSED.includes(name) ? INSIDE : OUTSIDE}-${name}`;

/** What the agent is told to do with its shell: look at everything, use what it may, and stay. */
const COMMAND = [
  'env > env.txt; ls -la > seen.txt; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline >> seen.txt 2>/dev/null',
  ...REPOSITORIES.map((name) => `git -C ${name} fetch -q origin main >> seen.txt 2>&1 && echo "fetched ${name}"`),
  `. ./at.sh; curl -sS -m 60 "$INJECTED_AT/probe/[0-${INJECTED.length - 1}]" >> seen.txt 2>&1`,
  'sleep 987 >/dev/null 2>&1 &',
].join('\n');

export interface CanaryOptions {
  /** Variables of the service. `modelUrl`: where the fake model is. */
  environment(modelUrl: string): Record<string, string>;
  profiles?(modelUrl: string): readonly LaunchProfile[];
  /** The agent's shell: a tool, and its input for a command. */
  shell: { tool: string; input(command: string): unknown };
  /** Whether a request is one of the agent's turns, and none for titles and the like. */
  isTurn?(asked: Asked): boolean;
}

export interface CanaryResult {
  searched: CanarySearch;
  /** Where something was found that is to stay outside. */
  outside: readonly string[];
  /** Where each was found that is inside, by name. */
  inside: ReadonlyMap<string, readonly string[]>;
  log: string;
  /** What is wrong with how they were used; a secret that never went anywhere shows nothing. */
  unused: string[];
}

interface CanaryParts {
  git: GitServer;
  /** Where a secret is injected: any server that remembers what it is asked. */
  forge: GitServer;
  mcp: McpHttpServer;
  second: McpHttpServer;
  folder: FactoryFolder;
  factoryUid: string;
}

/** Everything around the run of one agent. */
export class Canaries {
  readonly model: FakeModelServer;
  readonly service: TestService;
  private readonly parts: CanaryParts;
  private readonly options: CanaryOptions;
  /** Whether the agent has done everything. */
  private stays = false;

  private constructor(options: CanaryOptions, model: FakeModelServer, service: TestService, parts: CanaryParts) {
    [this.options, this.model, this.service, this.parts] = [options, model, service, parts];
  }

  static async start(options: CanaryOptions): Promise<Canaries> {
    const model = await startFakeModelServer([]);
    const [git, forge] = [await startGitServer(), await startGitServer()];
    const caFile = join(forge.root, '../both.pem');
    await writeFile(caFile, (await readFile(git.caFile, 'utf8')) + (await readFile(forge.caFile, 'utf8')));
    const [mcp, second] = [await startMcpHttpServer(valueOf('MCP_TOKEN')), await startMcpHttpServer(LITERAL)];
    const service = await bootService({
      profiles: options.profiles?.(model.url),
      environment: {
        MILLWRIGHT_GIT_CA_FILE: caFile,
        MILLWRIGHT_RUN_ALLOW_HOSTS: [mcp.url, second.url, git.url, forge.url].map((url) => new URL(url).host).join(),
        ...options.environment(model.url),
      },
    });
    const folder = await factoryFolder({ webhooks: {}, automations: {} });
    const factoryUid = await declare(service, folder, { git, forge, mcp });
    return new Canaries(options, model, service, { git, forge, mcp, second, folder, factoryUid });
  }

  async stop(): Promise<void> {
    const { git, forge, mcp, second, folder } = this.parts;
    await this.service.stop();
    await Promise.all([this.model.close(), git.close(), forge.close(), mcp.close(), second.close(), folder.remove()]);
  }

  /** One run that has used them and works still. */
  async search(config: Record<string, unknown>): Promise<CanaryResult> {
    const { service, model } = this;
    const { mcp, second } = this.parts;
    model.script = (asked) => this.replyTo(asked);
    const runId = await startedRun(service, 'Look around.', {
      factory_uid: this.parts.factoryUid,
      config: {
        ...config,
        environment_id: 'build',
        mcp_servers: {
          tiny: {
            url: `${mcp.url}/mcp`,
            headers: { Authorization: 'Bearer ${MCP_TOKEN}', 'X-Team': '${MCP_TEAM}' },
          },
          other: { url: `${second.url}/mcp`, headers: { Authorization: `Bearer ${LITERAL}` } },
        },
      },
    });
    await this.untilItStays(runId);
    const place = join(service.dataDir, 'runs', runId);
    const searched = await searchRun(runId, place, [OUTSIDE, ...EXPOSED.map(valueOf)]);
    const placesOf = (text: string): string[] => searched.found.get(text) ?? [];
    const inside = new Map(EXPOSED.map((name) => [name, placesOf(valueOf(name))]));
    await service.api('POST', `/agent/runs/${runId}/cancel`);
    const log = JSON.stringify(await logOf(service, runId));
    return { searched, outside: placesOf(OUTSIDE), inside, log, unused: this.unused() };
  }

  /** Its shell and its servers, all at once: some take no two calls of one ID, which this model repeats. */
  private replyTo(asked: Asked): Reply {
    if (!this.isTurn(asked)) return { text: 'A title' };
    this.stays = asked.messages.some(({ role }) => role === 'tool');
    if (this.stays) return { fault: 'stall', text: 'Let me think about the heron' };
    const { tool, input } = this.options.shell;
    const adding = asked.tools.filter((name) => name.endsWith('add') && /tiny|other/.test(name));
    return {
      tools: [{ name: tool, input: input(COMMAND) }, ...adding.map((name) => ({ name, input: { a: 1, b: 2 } }))],
    };
  }

  /** Secrets that never went anywhere show nothing. */
  private unused(): string[] {
    const { git, forge, mcp, second } = this.parts;
    const { requests } = this.model;
    const credentials = git.requests.map(({ authorization = '' }) =>
      Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('utf8'),
    );
    const told = JSON.stringify(requests.map(({ messages }) => messages));
    const used: [name: string, isUsed: boolean][] = [
      ...REPOSITORIES.map((name): [string, boolean] => [
        `the credential of ${name}`,
        credentials.some((text) => text.endsWith(valueOf(`GIT_${name}`))) && told.includes(`fetched ${name}`),
      ]),
      ...INJECTED.map((name, index): [string, boolean] => [
        name,
        forge.requests.some(
          ({ path, authorization }) => path === `/probe/${index}` && authorization === `Bearer ${valueOf(name)}`,
        ),
      ]),
      ['the key of the model', requests.some(({ headers }) => JSON.stringify(headers).includes(MODEL_KEY))],
      ['MCP_TEAM', mcp.accepted.some((headers) => headers['x-team'] === valueOf('MCP_TEAM'))],
      // They accept nothing without.
      ['MCP_TOKEN', mcp.accepted.length > 0],
      ['the header that is written out', second.accepted.length > 0],
    ];
    return used.filter(([, isUsed]) => !isUsed).map(([name]) => name);
  }

  private isTurn(asked: Asked): boolean {
    return this.options.isTurn?.(asked) ?? asked.tools.length > 0;
  }

  private async untilItStays(runId: string): Promise<void> {
    await eventually(
      'the agent thinks',
      async () => {
        const { body } = await this.service.api('GET', `/agent/runs/${runId}`);
        const log = await logOf(this.service, runId);
        if (ENDED.includes(String(body['state']))) throw new Error(JSON.stringify([body['status_message'], log]));
        return this.stays;
      },
      200_000,
    );
  }
}

async function declare(
  service: TestService,
  folder: FactoryFolder,
  { git, forge, mcp }: { git: GitServer; forge: GitServer; mcp: McpHttpServer },
): Promise<string> {
  const put = async (name: string, uses: string[]): Promise<unknown> =>
    service.api('PUT', `/secrets/${name}`, {
      value: valueOf(name),
      grants: { factories: '*', uses, ...(EXPOSED.includes(name) ? { runs: '*' } : {}) },
    });
  for (const name of [...INJECTED, ...MCP, ...EXPOSED]) await put(name, ['run']);
  for (const name of REPOSITORIES) {
    await put(`GIT_${name}`, ['git']);
    git.createRepository(`acme/${name}`).commit({ 'file.txt': `of ${name}` });
    git.tokens.set(`acme/${name}`, valueOf(`GIT_${name}`));
  }
  const environment = {
    repositories: REPOSITORIES.map((name) => ({ url: git.urlOf(`acme/${name}`), credentialSecret: `GIT_${name}` })),
    secrets: [
      ...INJECTED.map((name, index) => ({
        name,
        host: new URL(forge.url).host,
        header: 'Authorization',
        paths: [`/probe/${index}`],
      })),
      ...MCP.map((name) => ({ name, host: new URL(mcp.url).host, header: 'Authorization' })),
      ...EXPOSED.map((name) => ({ name, expose: 'env' })),
    ],
    setupCommands: [`echo 'export INJECTED_AT=${forge.url}' > at.sh`],
  };
  await folder.writeFile('factory.yaml', 'name: Shop\n');
  await folder.writeFile('environments/build.yaml', JSON.stringify(environment));
  return service.factory('shop', folder.source);
}
