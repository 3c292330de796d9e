/**
 * Refusals a second beside a bare node:http server that accepts the same requests: unknown webhooks, wrong tokens,
 * bodies too large, too many.
 */
import { busyText, CONNECTIONS } from './accept.ts';
import type { Bench, Server, Stage } from '../bench.ts';
import { inTurn, middle, unwanted, type Contestant, type LoadOrder } from '../loads/loads.ts';
import type { Cell, Report } from '../figures/report.ts';
import { seededService, type SeededService } from '../seeds/seeded-service.ts';
import type { Sender, Target } from '../loads/senders.ts';

const FACTORIES = 100;
const WEBHOOKS = 20;
const REQUESTS_MAX = 1_000_000;
/**
 * 20 failed authentications a minute for a webhook and an address are answered 401, the next ones 429: so many pairs
 * never get there.
 */
const ADDRESSES = 64;
/** Different requests: a large one is made once and sent again. */
const DISTINCT = { small: 2_000, large: 8 };
const AIM = 0.8;

interface Case {
  name: string;
  status: string;
  sender: Sender;
  targets: readonly Target[];
  addresses: number;
}

export const refused: Stage = { name: 'refused', run: async (bench) => [await run(bench)] };

async function run(bench: Bench): Promise<Report> {
  const seeded = await seededService(bench, {
    backend: 'SQLite',
    senders: ['token'],
    factories: FACTORIES,
    webhooks: WEBHOOKS,
  });
  if ('reason' in seeded) throw new Error(seeded.reason);
  const generator = bench.generator();
  const [bare, service] = [await bench.bare(), await seeded.start()];
  const cases = casesOf(seeded);
  const drive = ({ sender, targets, addresses }: Case, server: Server) => {
    const order: LoadOrder = {
      port: server.port,
      sender,
      targets,
      from: 0,
      connections: CONNECTIONS,
      count: REQUESTS_MAX,
      secondsMax: bench.quick ? 1 : 1.5,
      addresses,
      distinct: sender === 'too_large' ? DISTINCT.large : DISTINCT.small,
    };
    return generator.drive(order, [server.pid]);
  };
  const contestants = cases.flatMap((one): Contestant[] => [
    { name: `bare ${one.name}`, measure: () => drive(one, bare) },
    { name: one.name, measure: () => drive(one, service) },
  ]);
  for (const { measure } of contestants) await measure(0); // warms them up, and spends the budgets of those who guess
  const measured = await inTurn(contestants, bench.quick ? 2 : 3);
  const ratio = ({ name }: Case): number =>
    middle(measured.get(name)).perSecond / middle(measured.get(`bare ${name}`)).perSecond;
  return {
    name: 'refused',
    title: 'refused requests, one process, SQLite',
    columns: [
      'refusal',
      '/s',
      'bare /s',
      'of bare',
      'CPU µs',
      'bare CPU µs',
      'by CPU',
      'busy',
      'p99 ms',
      'bare p99 ms',
    ],
    rows: cases.map((one): Cell[] => {
      const [own, beside] = [middle(measured.get(one.name)), middle(measured.get(`bare ${one.name}`))];
      return [
        one.name,
        own.perSecond,
        beside.perSecond,
        ratio(one),
        own.cpuMicros,
        beside.cpuMicros,
        beside.cpuMicros / own.cpuMicros,
        busyText(own),
        own.p99Ms,
        beside.p99Ms,
      ];
    }),
    aims: cases.map((one) => ({ what: `${one.name}, of bare`, wanted: { atLeast: AIM }, value: ratio(one) })),
    remarks: [
      'bare answers 202 to the same requests, and reads every body to its end; a 401 within the budget and a ' +
        '413 write an entry into the delivery log (60 a minute and webhook, then a count), a 413 also closes the ' +
        'connection',
      ...cases.flatMap(({ name, status }) => {
        const others = unwanted(measured.get(name) ?? [], status);
        return others === undefined ? [] : [`${name}: beside ${status} there was ${others}`];
      }),
    ],
  };
}

function casesOf({ targets: { token } }: SeededService): Case[] {
  const [first, second] = [token.slice(0, 1), token.slice(1, 2)];
  const unknown = token.map(({ path, secret }) => ({ path: path.replace(/....$/, '0000'), secret }));
  const more = { addresses: 1 };
  return [
    { ...more, name: '404 unknown webhook', status: '404', sender: 'token', targets: unknown },
    {
      ...more,
      name: '401 wrong token',
      status: '401',
      sender: 'wrong_token',
      targets: token.slice(2),
      addresses: ADDRESSES,
    },
    { ...more, name: '429 after wrong tokens', status: '429', sender: 'wrong_token', targets: first },
    { ...more, name: '429 over the rate', status: '429', sender: 'token', targets: second },
    { ...more, name: '413 body of 256 KiB + 1', status: '413', sender: 'too_large', targets: token.slice(2) },
  ];
}
