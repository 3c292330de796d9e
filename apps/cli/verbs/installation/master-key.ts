/** `millwright keys rotate-master`: another master key, while the service runs. contract §2.3, §11. */
import { CommandError, verb } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { count, outputFor } from '../../terminal/output.ts';

/** The verb `keys rotate-master`. */
export const rotateMaster = verb({
  name: 'keys rotate-master',
  summary: 'Replaces the master key: wraps every secret value anew, while services run. Goes on where it was ended.',
  details: [
    'Reads the same MILLWRIGHT_ variables as start. The next key is the file beside the master key of the same name',
    'with .next; it is made where there is none. Processes on other machines need a copy of it first. When all is',
    'done it takes the place of the master key, and the one of before lies beside it: backups without keys need it.',
  ],
  options: { format: { type: 'string', value: 'text|json', help: 'text for people (default), or JSON' } },
  async run({ values }, io) {
    const output = await outputFor(io, values.format);
    const { rotateMasterKey, RotationError } = await import('../../../server/keys/master-key-rotation.ts');
    const { ConfigError, readConfig } = await import('../../../server/config/config.ts');
    const { explainFailure } = await import('../../../server/start-failures.ts');
    try {
      const done = await rotateMasterKey({ config: readConfig(io.environment), nowMs: Date.now });
      output.result({ name: done.name, rewrapped: done.rewrapped, old_key: done.oldKey ?? null }, () => {
        output.line(`master key ${done.name}: ${count(done.rewrapped, 'value')} wrapped anew`);
        output.note(
          done.oldKey === undefined
            ? 'the files could not be moved: put the file with .next in the place of the master key'
            : `the key of before is ${done.oldKey}; delete it when no backup without keys needs it`,
        );
      });
      return EXIT.ok;
    } catch (error) {
      if (error instanceof RotationError) throw new CommandError(error.message, EXIT.problems, [], { cause: error });
      if (error instanceof ConfigError) {
        const lines = error.faults.map(({ variable, rule }) => `${variable} ${rule}`);
        throw new CommandError('the configuration is wrong', EXIT.usage, lines, { cause: error });
      }
      const { lines, code } = explainFailure(error);
      throw new CommandError(lines[0] ?? 'failed', code, lines.slice(1), { cause: error });
    }
  },
});
