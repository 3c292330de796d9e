/** U+0000 anywhere in an address is refused; everything else passes. contract §3. */
import { RefusalError } from './error-codes.ts';
import { refuseNul } from './requests.ts';

const statusOf = (request: { params?: unknown; query?: unknown }): number | undefined => {
  try {
    refuseNul(request);
    return undefined;
  } catch (error) {
    return error instanceof RefusalError ? error.status : -1;
  }
};

describe('an address with U+0000', () => {
  it.each([
    { request: { params: { uid: 'a\0b' } }, status: 404, why: 'in the path' },
    { request: { params: { uid: 'a' }, query: { search: '\0' } }, status: 400, why: 'in the query' },
    { request: { query: { search: ['a', 'b\0'] } }, status: 400, why: 'in a parameter that is repeated' },
    { request: { params: { uid: 'a' }, query: { search: ['a', 'b'] } }, status: undefined, why: 'without' },
    { request: { query: { search: '\ud800' } }, status: undefined, why: 'a lone surrogate is text' },
    { request: {}, status: undefined, why: 'no parameters at all' },
  ])('$why: $status', ({ request, status }) => {
    expect(statusOf(request)).toBe(status);
  });
});
