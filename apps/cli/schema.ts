/** `millwright schema`: the JSON Schemas of the definition files, each complete in itself, for editors and other checkers. contract 8, 11. */
import { DEFINITION_SCHEMAS, type DefinitionSchemaName } from '#contracts';
import agent from '../../schemas/agent.schema.json' with { type: 'json' };
import { UsageProblem, verb } from './command.ts';
import { EXIT } from './exit-codes.ts';

const NAMES = Object.keys(DEFINITION_SCHEMAS) as DefinitionSchemaName[];

/** The verb `schema`. */
export const schema = verb({
  name: 'schema',
  arguments: `[${NAMES.join('|')}]`,
  summary: 'Prints the JSON Schema of a definition file; without a name, of all of them by name.',
  positionals: [0, 1],
  options: {},
  run({ positionals: [name] }, io) {
    if (name !== undefined && !isSchemaName(name)) throw new UsageProblem(`the documents are ${NAMES.join(', ')}`);
    const printed = name === undefined ? Object.fromEntries(NAMES.map((each) => [each, bundled(each)])) : bundled(name);
    io.stdout.write(`${JSON.stringify(printed, null, 2)}\n`);
    return Promise.resolve(EXIT.ok);
  },
});

function isSchemaName(text: string): text is DefinitionSchemaName {
  return Object.hasOwn(DEFINITION_SCHEMAS, text);
}

/** The schema with the one it refers to inside, under its `$id`, as JSON Schema 2020-12 bundles them. */
function bundled(name: DefinitionSchemaName): object {
  const own = DEFINITION_SCHEMAS[name] as { $defs?: object };
  const refersToAgent = JSON.stringify(own).includes(`"${agent.$id}`);
  return refersToAgent ? { ...own, $defs: { ...own.$defs, 'agent.schema.json': agent } } : own;
}
