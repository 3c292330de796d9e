/** `millwright config`: which services the command line knows by name, and which one is meant. contract §11.8. */
import { group, UsageError, verb, type CliIo } from '../command.ts';
import { readAddress } from '../connection/address.ts';
import { EXIT } from '../exit-codes.ts';
import { FORMAT_OPTION, outputFor } from '../terminal/output.ts';
import {
  checkedName,
  contextFile,
  contextOf,
  currentContext,
  readContexts,
  writeContexts,
  type Context,
} from './context-file.ts';

const list = verb({
  name: 'config list',
  summary: 'Lists contexts; * is the one in use. Keys are never shown.',
  options: { format: FORMAT_OPTION },
  async run({ values: { format } }, io) {
    const output = await outputFor(io, format);
    const { byName } = readContexts(io);
    const used = usedName(io);
    const contexts = [...byName].map(([name, context]) => ({ name, ...shown(context), current: name === used }));
    output.result({ file: contextFile(io) ?? null, contexts }, () => {
      if (contexts.length === 0) return output.note('there are no contexts; make one with: millwright login');
      output.table(
        ['', 'NAME', 'SERVER', 'FACTORY', 'KEY'],
        contexts.map(({ name, server, factory, has_key: hasKey, current }) => [
          current ? '*' : '',
          name,
          server,
          factory ?? '-',
          hasKey ? 'yes' : 'no',
        ]),
      );
    });
    return EXIT.ok;
  },
});

const current = verb({
  name: 'config current',
  summary: 'Shows the context in use.',
  options: { format: FORMAT_OPTION },
  async run({ values: { format } }, io) {
    const output = await outputFor(io, format);
    const found = currentContext(io);
    const value = found === undefined ? null : { name: found.name, ...shown(found), file: found.file };
    output.result({ context: value }, () =>
      found === undefined
        ? output.note('no context is in use: --server, MILLWRIGHT_SERVER or the service of this folder is asked')
        : output.line(
            `${found.name}: ${found.server}${found.factory === undefined ? '' : `, factory ${found.factory}`}`,
          ),
    );
    return EXIT.ok;
  },
});

const use = verb({
  name: 'config use',
  arguments: 'NAME',
  summary: 'Makes a context the one in use; - makes it none.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [name = ''] }, io) {
    const contexts = readContexts(io);
    if (name !== '-') contextOf(contexts.byName, name);
    writeContexts({ ...contexts, current: name === '-' ? undefined : name }, io);
    (await outputFor(io)).line(name === '-' ? 'no context is in use' : `${name} is in use`);
    return EXIT.ok;
  },
});

const set = verb({
  name: 'config set',
  arguments: 'NAME',
  summary: 'Makes or changes a context. Its key comes from `millwright login` only; another server has none.',
  positionals: [1, 1],
  options: {
    server: { type: 'string', value: 'URL', help: 'address of the service' },
    factory: { type: 'string', value: 'FACTORY', help: 'factory that is meant where none is named; - for none' },
  },
  async run({ values: { server, factory }, positionals: [name = ''] }, io) {
    const contexts = readContexts(io);
    const before = contexts.byName.get(checkedName(name));
    if ((server ?? factory) === undefined) throw new UsageError('say --server or --factory');
    const address = server === undefined ? before?.server : readAddress(server, '--server', io.environment).href;
    if (address === undefined) throw new UsageError(`--server URL is missing: there is no context ${name} yet`);
    const changed: Context = {
      server: address,
      factory: factory === '-' ? undefined : (factory ?? before?.factory),
      // A key goes to the server that it was given for, and to no other.
      key: address === before?.server ? before.key : undefined,
    };
    writeContexts({ ...contexts, byName: new Map([...contexts.byName, [name, changed]]) }, io);
    const output = await outputFor(io);
    output.line(`${name}: ${address}`);
    if (changed.key === undefined) output.note(`it has no key: millwright login ${name}`);
    return EXIT.ok;
  },
});

const remove = verb({
  name: 'config delete',
  arguments: 'NAME',
  summary: 'Deletes a context with its key. The key itself lives on: `millwright keys revoke` ends it.',
  positionals: [1, 1],
  options: {},
  async run({ positionals: [name = ''] }, io) {
    const { current: used, byName } = readContexts(io);
    contextOf(byName, name);
    const left = new Map([...byName].filter(([other]) => other !== name));
    writeContexts({ current: used === name ? undefined : used, byName: left }, io);
    (await outputFor(io)).line(`${name}: deleted`);
    return EXIT.ok;
  },
});

/** The verb `config`. */
export const config = group('config', { list, current, use, set, delete: remove }, list);

function usedName(io: CliIo): string | undefined {
  const named = io.environment['MILLWRIGHT_CONTEXT'] ?? '';
  return named === '' ? readContexts(io).current : named;
}

function shown({ server, factory, key }: Context): { server: string; factory: string | null; has_key: boolean } {
  return { server, factory: factory ?? null, has_key: key !== undefined };
}
