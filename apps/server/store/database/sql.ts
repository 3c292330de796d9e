/** Statements that are put together from parts, each with its parameters beside it. */
import type { SqlValue } from './transactions.ts';

/** A piece of a statement; placeholders are `?`, in the order of `params`. */
export interface Sql {
  readonly text: string;
  readonly params: readonly SqlValue[];
}

/** Names, operators and whole phrases that this program writes; never what somebody sent. */
export function phrase(text: string): Sql {
  return { text, params: [] };
}

/** A piece from a template: pieces in it are taken over, everything else becomes a parameter. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  return joinSql(
    strings.flatMap((text, at) =>
      at < parts.length ? [phrase(text), pieceOf(parts[at] as Sql | SqlValue)] : [phrase(text)],
    ),
    '',
  );
}

/** Pieces with the same words between them. */
export function joinSql(pieces: readonly Sql[], between: string): Sql {
  return { text: pieces.map(({ text }) => text).join(between), params: pieces.flatMap(({ params }) => params) };
}

/** All of these; without any, everything. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? phrase('1 = 1') : joinSql(conditions, ' AND ');
}

/** The column has one of these values; without any, nothing has. */
export function oneOf(column: string, values: readonly SqlValue[]): Sql {
  if (values.length === 0) return phrase('1 = 0');
  const [first] = values as [SqlValue];
  return values.length === 1
    ? sql`${phrase(column)} = ${first}`
    : sql`${phrase(column)} IN (${joinSql(
        values.map((value) => sql`${value}`),
        ', ',
      )})`;
}

function pieceOf(part: Sql | SqlValue): Sql {
  return isSql(part) ? part : { text: '?', params: [part] };
}

function isSql(part: Sql | SqlValue): part is Sql {
  return typeof part === 'object' && part !== null && 'text' in part;
}
