/** `millwright schema`: the JSON Schemas of the definition files, each complete in itself, for editors and other checkers. contract 8, 11. */
import { isSchemaDocumentName, SCHEMA_DOCUMENTS } from '#contracts';
import { UsageProblem, verb } from './command.ts';
import { EXIT } from './exit-codes.ts';

const NAMES = Object.keys(SCHEMA_DOCUMENTS);

/** The verb `schema`. */
export const schema = verb({
  name: 'schema',
  arguments: `[${NAMES.join('|')}]`,
  summary: 'Prints the JSON Schema of a definition file; without a name, of all of them by name.',
  positionals: [0, 1],
  options: {},
  run({ positionals: [name] }, io) {
    if (name !== undefined && !isSchemaDocumentName(name)) throw new UsageProblem(`the documents are ${NAMES.join(', ')}`);
    io.stdout.write(`${JSON.stringify(name === undefined ? SCHEMA_DOCUMENTS : SCHEMA_DOCUMENTS[name], null, 2)}\n`);
    return Promise.resolve(EXIT.ok);
  },
});
