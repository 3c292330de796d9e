/** What a route asks: what it says, and the most there is where it says nothing. contract §2. */
import type { FastifyRequest } from 'fastify';
import { Allow, AllowEverybody, isBelowBase, needsOf } from './access-guard.ts';

const requestTo = (config: unknown): FastifyRequest => ({ routeOptions: { config } }) as FastifyRequest;

/** What a decorator leaves on a handler for the framework. */
function configOf(decorator: MethodDecorator): unknown {
  const handler = (): void => undefined;
  decorator({}, 'handler', { value: handler });
  return Reflect.getMetadataKeys(handler).map((key) => Reflect.getMetadata(key, handler) as unknown)[0];
}

describe('a route', () => {
  it.each<{
    why: string;
    config: unknown;
    role: string;
    withAttachments?: boolean;
    readsBodyItself?: boolean;
    ownPagesOnly?: boolean;
  }>([
    { why: 'that says nothing is for admins', config: {}, role: 'admin' },
    { why: 'without any configuration is for admins', config: undefined, role: 'admin' },
    { why: 'that names a role asks for it', config: configOf(Allow('viewer')), role: 'viewer' },
    {
      why: 'that takes attachments says so',
      config: configOf(Allow('operator', { withAttachments: true })),
      role: 'operator',
      withAttachments: true,
    },
    { why: 'for everybody is named as such', config: configOf(AllowEverybody()), role: 'everybody' },
    {
      why: 'that reads its body itself says so',
      config: configOf(AllowEverybody({ readsBodyItself: true })),
      role: 'everybody',
      readsBodyItself: true,
    },
    {
      why: 'that browsers call from our pages only says so',
      config: configOf(AllowEverybody({ ownPagesOnly: true })),
      role: 'everybody',
      ownPagesOnly: true,
    },
  ])('$why', ({ config, role, withAttachments = false, readsBodyItself = false, ownPagesOnly = false }) =>
    expect(needsOf(requestTo(config))).toEqual({
      role,
      withAttachments,
      readsBodyItself,
      ownPagesOnly,
      withTree: false,
    }),
  );
});

describe('the base of the API', () => {
  it.each([
    ['/api/v1', true],
    ['/api/v1/', true],
    ['/api/v1/x?y', true],
    ['/api/v1?x', true],
    ['/api/v1#x', true],
    ['/api/v11', false],
    ['/api', false],
    ['/', false],
    ['/x/api/v1/', false],
    ['/API/v1/x', false],
  ])('%s: %s', (target, below) => expect(isBelowBase(target)).toBe(below));
});
