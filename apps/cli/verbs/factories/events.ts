/** `millwright events`: what happened to a factory, and what people asked for. contract §9, §11. */
import type { FactoryEvent } from '#client';
import { apiVerb } from '../../connection/api.ts';
import { UsageError } from '../../command.ts';
import { findFactory } from '../../connection/name-resolution.ts';
import { followNewest } from '../../connection/newest.ts';
import { noteMore, PAGE_OPTIONS, pageQuery } from '../../connection/pages.ts';
import { EXIT } from '../../exit-codes.ts';
import { toSeconds, type Cell } from '../../terminal/output.ts';

/** The verb `events`. */
export const events = apiVerb({
  name: 'events',
  arguments: '[FACTORY]',
  summary: 'Lists what happened to a factory, newest first: what passes found and changed, and what people asked for.',
  details: ['With --follow the newest are shown oldest first, then each new one as it comes, until it is interrupted.'],
  positionals: [0, 1],
  options: { follow: { type: 'boolean', help: 'go on with what comes' }, ...PAGE_OPTIONS },
  async run({ values: { follow = false, ...page }, positionals: [name] }, { api, output }) {
    const query = pageQuery(page);
    if (follow && query.cursor !== undefined) throw new UsageError('--follow begins with the newest: no --cursor');
    const factory = await findFactory(api, name);
    if (follow)
      return followNewest<FactoryEvent>(
        {
          list: (asked) => api.factories.events(factory.uid, asked),
          keyOf: ({ id }) => id,
          print: (entries) =>
            Promise.resolve(entries.forEach((entry) => output.entry(entry, () => output.cells(rowOf(entry))))),
        },
        { output, first: query.limit },
      );
    const { body: answer } = await api.factories.events(factory.uid, query);
    output.result(answer, () => {
      if (answer.events.length === 0) return output.note(`nothing has happened to factory ${factory.slug}`);
      output.table(['AT', 'REASON', 'REVISION', 'MESSAGE'], answer.events.map(rowOf), 3);
      noteMore(output, answer.page_info);
    });
    return EXIT.ok;
  },
});

function rowOf({ at, type, reason, message, revision }: FactoryEvent): Cell[] {
  const short = revision?.replace(/((?:^|@)sha\d+:[0-9a-f]{12})[0-9a-f]+$/, '$1') ?? '-';
  return [toSeconds(at), { text: reason, colour: type === 'Warning' ? 'yellow' : undefined }, short, message];
}
