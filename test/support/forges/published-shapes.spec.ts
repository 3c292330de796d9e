/** Requests and answers that are none of what forges publish are told apart from those that are. */
import { FORGE_DIALECTS, FORGES, installationRequest, installationTokenRequest, type ForgeRequest } from '#reconcile';
import { departuresOf, type ForgeExchange } from './published-shapes.ts';
import { FORGE_SHAPES } from './forge-shapes.ts';

const A = 'a'.repeat(40);
const pull = {
  number: 7,
  title: 't',
  author: 'ann',
  head: A,
  base: 'main',
  isFork: false,
  state: 'merged' as const,
  mergeBase: A,
  mergeCommit: A,
};

describe.each(FORGES)('%s', (kind) => {
  const dialect = FORGE_DIALECTS[kind];
  const shape = FORGE_SHAPES[kind];
  const listed = (shape.listed ?? shape.pull)(pull);
  const exchange = ({ method, path, body }: ForgeRequest, status: number, answer: unknown): ForgeExchange => ({
    method,
    path,
    body,
    status,
    answer,
  });
  const posted = { commit: A, description: 'd', context: 'millwright/shop', targetUrl: 'https://mill.example/p' };
  const comment = shape.comment({ id: 12, number: 7, body: 'x' });

  it.each<[string, () => ForgeExchange]>([
    ['lists pull requests', () => exchange(dialect.listPulls('acme/shop', 'main', 2), 200, [listed])],
    ['reads one', () => exchange(dialect.pull('acme/shop', 7), 200, shape.pull(pull))],
    [
      'reads one that is open',
      () => exchange(dialect.pull('acme/shop', 7), 200, shape.pull({ ...pull, state: 'open' })),
    ],
    ['lists commits', () => exchange(dialect.pullCommits('acme/shop', 7, 1), 200, shape.commits([A]))],
    ['lists comments', () => exchange(dialect.listComments('acme/shop', 7, 1), 200, [comment])],
    ['makes a comment', () => exchange(dialect.createComment('acme/shop', 7, 'x'), 201, comment)],
    ['edits a comment', () => exchange(dialect.editComment('acme/shop', 7, '12', 'x'), 200, comment)],
  ])('%s as it is published', (_what, made) => expect(departuresOf(kind, made())).toEqual([]));

  it.each(['pending', 'success', 'failure', 'error', 'superseded'] as const)('posts %s as it is published', (state) => {
    const request = dialect.status('acme/shop', { ...posted, state });
    const { state: said, status: word = said } = request.body as { state: string; status?: string };
    const answer = shape.status({ ...posted, state: word });
    expect(departuresOf(kind, exchange(request, 201, answer))).toEqual([]);
  });

  it('asks for a merge base as it is published, where it asks', () => {
    const request = dialect.mergeBase?.('acme/shop', A, A);
    expect(request === undefined ? [] : departuresOf(kind, exchange(request, 200, shape.mergeBase(A)))).toEqual([]);
  });

  it('departs with another path, parameter, body or answer', () => {
    const { method, path } = dialect.listPulls('acme/shop', 'main', 1);
    const status = dialect.status('acme/shop', { ...posted, state: 'success' });
    const departed = [
      { method: 'DELETE', path, status: 200, answer: [] },
      { method, path: `${path}&sorting=new`, status: 200, answer: [] },
      { method, path: path.replace(/state=[a-z]+/, 'state=new'), status: 200, answer: [] },
      { method, path: path.replace(/page=1/, 'page=one'), status: 200, answer: [] },
      { method, path, status: 200, answer: {} },
      { method, path, status: 200, answer: [{ ...(listed as object), of_our_own: 1 }] },
      { method, path, status: 302, answer: {} },
      exchange({ ...status, body: { ...status.body, state: 5 } }, 400, {}),
      exchange({ ...status, body: { ...status.body, of_our_own: 1 } }, 400, {}),
    ].map((each) => departuresOf(kind, each));
    expect(departed.map((departures) => departures.length)).toEqual(departed.map(() => 1));
  });
});

it('an app asks for its installation and a token as it is published', () => {
  const token = installationTokenRequest({ id: 1, isSuspended: false }, 'acme/shop');
  const answer = { token: 'ghs_x', expires_at: '2030-01-01T00:00:00Z' };
  expect([
    departuresOf('github', { ...installationRequest('acme/shop'), status: 404, answer: { message: 'Not Found' } }),
    departuresOf('github', { ...token, status: 201, answer }),
  ]).toEqual([[], []]);
});
