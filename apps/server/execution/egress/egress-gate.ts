/** Judges a target by its name, then by every address of it, and connects to these and no others. contract §10. */
import type { Socket } from 'node:net';
import {
  decideAddresses,
  decideTarget,
  formatTarget,
  readTarget,
  type EgressRefusal,
  type EgressRules,
} from '#isolation';
import type { EgressRateLimit } from './egress-rate-limit.ts';
import { dial, machineAddresses, PacedResolver, resolverFor, type Resolve } from './egress-resolution.ts';

/** A connection that the run may have, or the answer it gets instead. */
export type Reached = { ok: true; socket: Socket } | { ok: false; status: number; reason: string };

export interface EgressGateDeps {
  rules: EgressRules;
  rateLimit: EgressRateLimit;
  /** Aborted when the run's network ends. */
  over: AbortSignal;
  resolve?: Resolve;
  /** Addresses of this machine. */
  own?: () => readonly string[];
  /** A target was refused; `why` in words. */
  onDenied(shown: string, why: string): void;
  /** Bounds and counts a connection that was made. */
  track(shown: string, socket: Socket): Socket;
}

const WORDS: Readonly<Record<EgressRefusal, string>> = {
  'not-allowed': 'the network policy of this run does not name it',
  'private-address': 'it is in a private network and the operator has not named it',
  'internal-address': 'it is this machine, its metadata or no public address, and the operator has not named it',
  'unknown-host': 'the name has no address',
};

export class EgressGate {
  private readonly deps: EgressGateDeps;
  private readonly resolver: PacedResolver;

  constructor(deps: EgressGateDeps) {
    this.deps = deps;
    this.resolver = new PacedResolver(deps.resolve ?? resolverFor(deps.rules), deps.over);
  }

  /** `text`: host:port. */
  async reach(text: string, gone: AbortSignal): Promise<Reached> {
    const { rules, rateLimit, over, own = machineAddresses, track } = this.deps;
    const target = readTarget(text);
    if (target === undefined) return { ok: false, status: 400, reason: 'this is no host:port' };
    await rateLimit.admit(gone);
    const { host, port } = target;
    const shown = formatTarget(host, port);
    const byName = decideTarget(rules, host, port);
    if (!byName.ok) return this.denied(shown, byName.reason);
    const found = host.kind === 'address' ? [host.address] : await this.resolver.addressesOf(host.name);
    if (found === undefined)
      return { ok: false, status: 503, reason: `the name of ${shown} could not be resolved in time` };
    const byAddress = decideAddresses(rules, host, port, found, own());
    if (!byAddress.ok)
      return byAddress.reason === 'unknown-host'
        ? { ok: false, status: 502, reason: `${shown}: ${WORDS[byAddress.reason]}` }
        : this.denied(shown, byAddress.reason);
    const socket = await dial(byAddress.addresses, port, AbortSignal.any([gone, over]));
    return socket === undefined
      ? { ok: false, status: 502, reason: `${shown} does not answer` }
      : { ok: true, socket: track(shown, socket) };
  }

  private denied(shown: string, reason: EgressRefusal): Reached {
    this.deps.onDenied(shown, WORDS[reason]);
    return { ok: false, status: 403, reason: `egress denied: ${shown}: ${WORDS[reason]}` };
  }
}
