/**
 * The broker of a run: what stands between its sandbox and everything for which the run has no credentials itself.
 * contract §10.3 (Model calls).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { BROKER_ORIGIN } from '#agents';
import type { EgressRules, HostInjections } from '#isolation';
import { answerWith, CallBodies } from './broker-answers.ts';
import { Upstreams, type UpstreamsDeps } from './broker-upstreams.ts';
import { InjectedHosts } from './injected-hosts.ts';
import type { McpRoute } from '../agent/agent-mcp-servers.ts';
import { McpCalls } from './mcp-calls.ts';
import { ModelCalls, type ModelCallsOptions } from './model-calls.ts';
import type { RunAuthority } from './run-authority.ts';

/** What an execution gives its broker. */
export interface BrokerOptions {
  /** Where the broker itself may connect to. */
  rules: EgressRules;
  models: ModelCallsOptions;
  /** Hosts to which secrets of the run go. */
  hosts: readonly HostInjections[];
  /** MCP servers with secret headers. */
  mcp: readonly McpRoute[];
  /** Certificates (PEM) accepted beside the usual ones. */
  ca?: string;
}

export interface BrokerDeps extends BrokerOptions {
  /** Opens a connection to what the broker itself has. */
  reach: UpstreamsDeps['reach'];
  /** Opens a connection that the run may have. */
  reachAsRun: UpstreamsDeps['reach'];
  /** Stands for the hosts; without it none is taken. */
  authority?: RunAuthority;
  /** A stream at the run's pace. */
  throttle(): Transform;
  /** Resolves when so many bytes may be passed on. */
  pace(bytes: number): Promise<void>;
  /** Tells what was refused, without a value. */
  onRefused(what: string, why: string): void;
}

const MODELS = '/models/';
const MCP = '/mcp/';

/** Path and query of a request to the broker itself; undefined: it is meant for somebody else. */
export function brokerTarget(url: string): string | undefined {
  if (url.startsWith(`${BROKER_ORIGIN}/`)) return url.slice(BROKER_ORIGIN.length);
  return url.startsWith('/') ? url : undefined;
}

export class Broker {
  /** Undefined: no secret of the run goes to a host. */
  readonly hosts: InjectedHosts | undefined;
  private readonly upstreams: readonly Upstreams[];
  private readonly models: ModelCalls;
  private readonly mcp: McpCalls;
  /** Requests that are being answered. */
  private readonly open = new Set<Promise<void>>();

  constructor(deps: BrokerDeps) {
    const [own, asRun] = [new Upstreams(deps), new Upstreams({ ...deps, reach: deps.reachAsRun })];
    this.upstreams = [own, asRun];
    this.models = new ModelCalls({ ...deps, ...deps.models, upstreams: own, bodies: new CallBodies() });
    this.mcp = new McpCalls({ ...deps, routes: deps.mcp, upstreams: asRun });
    const { authority } = deps;
    this.hosts = authority && new InjectedHosts({ ...deps, authority, upstreams: asRun });
  }

  /** `target`: as `brokerTarget` has it. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    const answering = this.dispatch(request, response, target).catch(() => void response.destroy());
    this.open.add(answering);
    await answering;
    this.open.delete(answering);
  }

  /** Resolves when everything that was used is counted. */
  async close(): Promise<void> {
    for (const upstreams of this.upstreams) upstreams.close();
    this.hosts?.close();
    await Promise.all(this.open);
  }

  private async dispatch(request: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    if (target.startsWith(MODELS)) return this.models.answer(request, response, target.slice(MODELS.length));
    if (target.startsWith(MCP)) return this.mcp.answer(request, response, target.slice(MCP.length));
    await answerWith(request, response, 404, { text: 'there is nothing at this path\n' });
  }
}
