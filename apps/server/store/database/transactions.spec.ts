/** Bodies of transactions side by side: what they ask for in one round, and what each of them is answered. */
import { StoreError } from './store-errors.ts';
import { type Outcome, row, runSteps, type Statement, together, type Transaction } from './transactions.ts';

/** Runs a body whose queries are answered with their own text, and tells what was asked for in each round. */
async function run<T>(body: Transaction<T>, fault?: { at: string; with: Error }) {
  const rounds: (string | string[])[] = [];
  const textOf = (statement: Statement): string => (statement.kind === 'query' ? statement.text : statement.kind);
  const answer = (statement: Statement): Outcome => {
    if (statement.kind === 'together') return { rows: [], changes: 0, each: statement.statements.map(answer) };
    if (textOf(statement) === fault?.at) throw fault.with;
    return { rows: [{ text: textOf(statement) }], changes: 1 };
  };
  const flat = (statement: Statement): string[] =>
    statement.kind === 'together' ? statement.statements.flatMap(flat) : [textOf(statement)];
  const result = await runSteps(body, async (statement) => {
    rounds.push(statement.kind === 'together' ? flat(statement) : textOf(statement));
    return answer(statement);
  });
  return { result, rounds };
}

/** Asks for one after the other, and answers what it was answered. */
function* asking(...texts: string[]): Transaction<string[]> {
  const answers: string[] = [];
  for (const text of texts) answers.push((yield* row<{ text: string }>(text))?.text ?? '');
  return answers;
}

describe('bodies together', () => {
  it('ask in rounds, in their order, and each is answered what it asked for', async () => {
    expect(await run(together(asking('a1', 'a2'), asking('b1'), asking('c1', 'c2', 'c3')))).toEqual({
      rounds: [['a1', 'b1', 'c1'], ['a2', 'c2'], 'c3'],
      result: [['a1', 'a2'], ['b1'], ['c1', 'c2', 'c3']],
    });
  });

  it('may be together with others themselves', async () => {
    expect(await run(together(asking('a1', 'a2'), together(asking('b1'), asking('c1'))))).toEqual({
      rounds: [['a1', 'b1', 'c1'], 'a2'],
      result: [
        ['a1', 'a2'],
        [['b1'], ['c1']],
      ],
    });
  });

  it('that ask for nothing cost no round', async () => {
    expect(await run(together(asking(), asking('b1'), asking()))).toEqual({
      rounds: ['b1'],
      result: [[], ['b1'], []],
    });
    expect((await run(together(asking(), asking()))).rounds).toEqual([]);
  });

  it('end with the first fault, which whoever put them together may catch', async () => {
    const fault = { at: 'b1', with: new StoreError('conflict', '23505') };
    function* catching(): Transaction<string> {
      try {
        yield* together(asking('a1', 'a2'), asking('b1'));
        return 'went on';
      } catch (error) {
        return error instanceof StoreError ? error.kind : 'another';
      }
    }
    expect(await run(catching(), fault)).toEqual({ rounds: [['a1', 'b1']], result: 'conflict' });
    await expect(run(together(asking('a1'), asking('b1')), fault)).rejects.toMatchObject({ kind: 'conflict' });
  });
});
