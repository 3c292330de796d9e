/** `millwright login`: a service and a key for it, remembered as a context. contract §11.8. */
import { UsageError, verb, type CliIo } from '../command.ts';
import { readAddress } from '../connection/address.ts';
import { checkedKey, connectWith, type ApiKey } from '../connection/api.ts';
import { exchangedKey } from '../connection/exchanged-key.ts';
import { EXIT } from '../exit-codes.ts';
import { readHidden } from '../terminal/hidden-input.ts';
import { readStdin, toText } from '../terminal/input.ts';
import { FORMAT_OPTION, outputFor } from '../terminal/output.ts';
import { checkedName, readContexts, writeContexts, type Contexts } from './context-file.ts';

/** The verb `login`. */
export const login = verb({
  name: 'login',
  arguments: '[NAME]',
  summary: 'Remembers a service and an API key for it as a context, and uses it from now on.',
  details: [
    'The key is read from standard input (typed at a terminal it is not shown), tried at once, and stored in a file ' +
      'that only you',
    'may read. It is sent to this server and to no other. NAME is the host of the server unless said.',
    'With --oidc a token of the build server that runs this job is exchanged for a key that lasts ten minutes:',
    'that of GitHub Actions (permission id-token: write), or the one in MILLWRIGHT_ID_TOKEN (id_tokens of GitLab).',
  ],
  positionals: [0, 1],
  options: {
    server: { type: 'string', value: 'URL', help: 'address of the service (default: that of the context)' },
    factory: { type: 'string', value: 'FACTORY', help: 'factory that is meant where none is named' },
    oidc: { type: 'boolean', help: 'exchange a token of the build server; nothing is read' },
    credential: { type: 'string', value: 'ID', help: 'with --oidc, where several federated credentials fit' },
    format: FORMAT_OPTION,
  },
  async run({ values, positionals: [name] }, io) {
    const output = await outputFor(io, values.format);
    const contexts = readContexts(io);
    const place = placeOf(name, values.server, contexts, io);
    const base = new URL(place.server);
    const key = values.oidc === true ? await keyOfToken(base, io, values.credential) : await keyOfInput(io);
    const api = connectWith({ base, key });
    const known = await api.apiKeys.current();
    const factory = values.factory ?? contexts.byName.get(place.name)?.factory;
    const byName = new Map([...contexts.byName, [place.name, { server: place.server, factory, key: key.value }]]);
    const file = writeContexts({ current: place.name, byName }, io);
    output.result({ name: place.name, server: place.server, file, key: known }, () => {
      output.line(`${place.name}: ${place.server} as ${known.principal.display_name}, ${known.role}`);
      output.note(`the key is in ${file}`);
    });
    return EXIT.ok;
  },
});

function placeOf(
  name: string | undefined,
  server: string | undefined,
  { current, byName }: Contexts,
  io: CliIo,
): { name: string; server: string } {
  const wanted = name === undefined ? undefined : checkedName(name);
  if (server !== undefined) {
    const { href, hostname } = readAddress(server, '--server', io.environment);
    return {
      name: wanted ?? checkedName(hostname.replace(/^\[|\]$/g, '').replaceAll(':', '-') || 'local'),
      server: href,
    };
  }
  const known = wanted ?? current;
  const found = known === undefined ? undefined : byName.get(known);
  if (known === undefined || found === undefined) throw new UsageError('--server URL is missing');
  return { name: known, server: found.server };
}

async function keyOfInput(io: CliIo): Promise<ApiKey> {
  return checkedKey(await readKey(io), 'standard input');
}

async function keyOfToken(base: URL, io: CliIo, credential: string | undefined): Promise<ApiKey> {
  const key = await exchangedKey(base, io, credential);
  if (key !== undefined) return key;
  throw new UsageError(
    'there is no token here: give the job of GitHub the permission id-token: write, or that of GitLab id_tokens ' +
      'with MILLWRIGHT_ID_TOKEN',
  );
}

async function readKey(io: CliIo): Promise<string> {
  if (io.stdin.isTTY === true) return readHidden('API key (not shown): ', io);
  return toText(await readStdin(io, ''), 'the key');
}
