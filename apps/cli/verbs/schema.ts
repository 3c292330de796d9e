/**
 * `millwright schema`: the JSON Schemas of the definition files, each complete in itself, for editors and other
 * checkers. contract §8, §11.
 */
import { EDITOR_DOCUMENTS, isSchemaDocumentName } from '#contracts';
import { UsageError, verb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Output } from '../terminal/output.ts';

const NAMES = Object.keys(EDITOR_DOCUMENTS);

/** The verb `schema`. */
export const schema = verb({
  name: 'schema',
  arguments: `[${NAMES.join('|')}]`,
  summary: 'Prints the JSON Schema of a definition file; without a name, of all of them by name.',
  positionals: [0, 1],
  options: { list: { type: 'boolean', help: 'print the names of the documents and what they are about instead' } },
  run({ values, positionals: [name] }, io) {
    if (values.list === true && name !== undefined) throw new UsageError('--list takes no name');
    if (values.list === true) {
      new Output(io, 'text').table(
        ['NAME', 'DESCRIPTION'],
        Object.entries(EDITOR_DOCUMENTS).map(([document, schema]) => [
          document,
          (schema as { description?: string }).description ?? '',
        ]),
        1,
      );
      return Promise.resolve(EXIT.ok);
    }
    if (name !== undefined && !isSchemaDocumentName(name))
      throw new UsageError(`the documents are ${NAMES.join(', ')}`);
    io.stdout.write(`${JSON.stringify(name === undefined ? EDITOR_DOCUMENTS : EDITOR_DOCUMENTS[name], null, 2)}\n`);
    return Promise.resolve(EXIT.ok);
  },
});
