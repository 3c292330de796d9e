/**
 * The broker of a run: what stands between its sandbox and everything for which the run has no credentials itself.
 * contract §10.3 (Model calls).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BROKER_ORIGIN } from '#agents';
import type { EgressRules } from '#isolation';
import { answerWith, CallBodies } from './broker-answers.ts';
import { Upstreams } from './broker-upstreams.ts';
import type { Reached } from './egress-gate.ts';
import { ModelCalls, type ModelCallsOptions } from './model-calls.ts';

/** What an execution gives its broker. */
export interface BrokerOptions {
  /** Where the broker itself may connect to. */
  rules: EgressRules;
  models: ModelCallsOptions;
  /** Certificates (PEM) accepted beside the usual ones. */
  ca?: string;
}

export interface BrokerDeps extends BrokerOptions {
  reach(target: string, gone: AbortSignal): Promise<Reached>;
  /** Resolves when so many bytes may be passed on. */
  pace(bytes: number): Promise<void>;
  /** Tells what was refused, without a value. */
  onRefused(what: string, why: string): void;
}

const MODELS = '/models/';

/** Path and query of a request to the broker itself; undefined: it is meant for somebody else. */
export function brokerTarget(url: string): string | undefined {
  if (url.startsWith(`${BROKER_ORIGIN}/`)) return url.slice(BROKER_ORIGIN.length);
  return url.startsWith(MODELS) ? url : undefined;
}

export class Broker {
  private readonly upstreams: Upstreams;
  private readonly models: ModelCalls;
  /** Requests that are being answered. */
  private readonly open = new Set<Promise<void>>();

  constructor(deps: BrokerDeps) {
    this.upstreams = new Upstreams(deps);
    this.models = new ModelCalls({
      ...deps,
      ...deps.models,
      upstreams: this.upstreams,
      bodies: new CallBodies(),
    });
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
    this.upstreams.close();
    await Promise.all(this.open);
  }

  private async dispatch(request: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    if (target.startsWith(MODELS)) return this.models.answer(request, response, target.slice(MODELS.length));
    await answerWith(request, response, 404, { text: 'there is nothing at this path\n' });
  }
}
