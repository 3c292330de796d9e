/**
 * Which network one command gets on this machine: none, the machine's, or none but an egress proxy; what cannot be had
 * is said. contract §10.
 */
import { describeBytes, redact } from '#isolation';
import type { CommandSpec } from './command.ts';
import { openEgressAccess } from '../egress/egress-access.ts';
import { openEgressProxy } from '../egress/egress-proxy.ts';
import type { Confinement, NetworkPolicy } from '../sandbox/sandboxes.ts';

export interface CommandNetwork {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  network: NetworkPolicy;
  shown?: Confinement['shown'];
  /** Where the broker is, if not where runs expect it. */
  brokerOrigin?: string;
  /** Programs that are needed for it. */
  words?: readonly string[];
  /** Ends what serves the run's network. May be repeated; never rejects. */
  close(): Promise<void>;
}

const AS_ASKED = 'NOT ISOLATED: the operator gave this run the network of the machine';
const NOT_TAKEN_AWAY = 'NOT ISOLATED: this machine has no means to take the network away, so this run has all of it';
const NO_LOOPBACK =
  'this run has no network: no loopback can be had in its sandbox; install bubblewrap (or iproute2) to give it ' +
  'the one it may have';

/** The command line as it has to be started, and what goes with it. `tell` writes into the run's log. */
export async function networkFor(
  argv: CommandNetwork['argv'],
  spec: CommandSpec,
  tell: (text: string) => void,
): Promise<CommandNetwork> {
  const { network = 'none', sandbox, workspace, broker } = spec;
  const plain: CommandNetwork = { argv, env: {}, network: 'none', close: () => Promise.resolve() };
  // A host's name is the run's to choose: it may try to carry a secret, and comes in lower case.
  const secrets = (spec.secretValues ?? []).flatMap((value) => [value, value.toLowerCase()]);
  const onEvent = (text: string): void => tell(redact(text, secrets));
  if (network === 'host' || !sandbox.guarantees.network) {
    tell(network === 'host' ? AS_ASKED : NOT_TAKEN_AWAY);
    return onHost(argv, spec, onEvent);
  }
  if (network === 'none' || (network.policy.kind === 'none' && broker === undefined)) return plain;
  if (!sandbox.guarantees.loopback) {
    tell(NO_LOOPBACK);
    return plain;
  }
  const { egress, ...access } = await openEgressAccess(argv, {
    rules: network,
    workspace,
    node: process.execPath,
    onEvent,
    broker,
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const { hosts } = egress.usage();
    await egress.close();
    // The last word of a run's work; of its set-up only where there is something to tell.
    if (spec.facts !== undefined || hosts.length > 0) onEvent(describeBytes(hosts));
  };
  return { ...access, network: 'none', close: () => (closing ??= close()) };
}

/** The machine's network as it is; what the run has no credentials of is behind a port of its loopback. */
async function onHost(
  argv: CommandNetwork['argv'],
  { workspace: { folder, epoch }, broker }: CommandSpec,
  onEvent: (text: string) => void,
): Promise<CommandNetwork> {
  const host: CommandNetwork = { argv, env: {}, network: 'host', close: () => Promise.resolve() };
  if (broker === undefined) return host;
  const egress = await openEgressProxy({ rules: broker.rules, folder, epoch, onEvent, broker, isBrokerOnly: true });
  return { ...host, brokerOrigin: `http://127.0.0.1:${egress.port}`, close: () => egress.close() };
}
