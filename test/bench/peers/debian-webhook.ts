/** Debian's `webhook`: a command for each delivery. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, type Bench } from '../bench.ts';
import type { SeededService } from '../seeds/seeded-service.ts';
import { programOf, PROOFS, secretsOf, type Found, type Proof, type Receiver } from './receiver.ts';

export const DEBIAN = "Debian's webhook";
/** Commands that are started behind answers and have not ended are waited for: so many at most. */
const STARTING_REQUESTS_MAX = 3_000;

/** Once as it is by default and once waiting for its command. */
export async function debianWebhook(bench: Bench, seeded: SeededService): Promise<Found[]> {
  const program = programOf('BENCH_WEBHOOK', 'webhook');
  if (program === undefined) return [`${DEBIAN} SKIPPED: no program webhook on the PATH (apt-get install webhook)`];
  const version = spawnSync(program, ['-version'], { encoding: 'utf8' }).stdout.trim();
  const secrets = secretsOf(seeded);
  const file = join(bench.folder('webhook'), 'hooks.json');
  writeFileSync(
    file,
    JSON.stringify([true, false].flatMap((waits) => PROOFS.map((proof) => hookOf(proof, waits, secrets[proof])))),
  );
  const server = await bench.program(
    program,
    (port) => ['-hooks', file, '-ip', '127.0.0.1', '-port', String(port), '-nopanic'],
    answers,
  );
  const receiver = (waits: boolean): Omit<Receiver, 'name' | 'goesOn' | 'does'> => ({
    server,
    databases: [],
    targets: {
      token: [{ path: `/hooks/${hookName('token', waits)}`, secret: secrets.token }],
      ...(waits ? {} : { github: [{ path: `/hooks/${hookName('github', waits)}`, secret: secrets.github }] }),
    },
    requestsMax: STARTING_REQUESTS_MAX,
    durable: 'nothing',
    duplicates: 'no',
    signatures: 'yes',
  });
  return [
    {
      ...receiver(false),
      name: DEBIAN,
      goesOn: true,
      does:
        `${version}, as it is by default: answers, and starts a process (here /bin/true) behind the answer; keeps ` +
        'nothing, limits nothing; a crash loses what it has answered',
    },
    {
      ...receiver(true),
      name: `${DEBIAN}, waiting`,
      goesOn: false,
      does: 'the same, answering when its command has ended (include-command-output-in-response)',
    },
  ];
}

const hookName = (proof: Proof, waits: boolean): string => `${proof}${waits ? '-waits' : ''}`;

function hookOf(proof: Proof, waits: boolean, secret: string): object {
  return {
    id: hookName(proof, waits),
    'execute-command': '/bin/true',
    'success-http-response-code': 202,
    'trigger-rule-mismatch-http-response-code': 401,
    'include-command-output-in-response': waits,
    'trigger-rule': {
      match:
        proof === 'token'
          ? { type: 'value', value: `Bearer ${secret}`, parameter: { source: 'header', name: 'Authorization' } }
          : { type: 'payload-hmac-sha256', secret, parameter: { source: 'header', name: 'X-Hub-Signature-256' } },
    },
  };
}
