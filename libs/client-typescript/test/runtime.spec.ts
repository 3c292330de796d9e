/** Which runtimes are told that they are too old. */
import { MillwrightError } from '../src/index.ts';
import { checkRuntime } from '../src/runtime.ts';

describe('a runtime', () => {
  it.each([
    { versions: { node: '18.20.4' }, why: 'the last that is not served' },
    { versions: { node: '9.0.0' }, why: 'numbers are compared, not texts' },
  ])('$versions is told of: $why', ({ versions }) => {
    expect(() => checkRuntime(versions)).toThrow(
      new MillwrightError(`@millwright/client needs Node.js 20 or newer; this is Node.js ${versions.node}`),
    );
  });

  it.each([
    { versions: { node: '20.0.0' }, why: 'the first that is served' },
    { versions: { node: '100.1.0' }, why: 'one that is still to come' },
    { versions: { node: '18.0.0', bun: '1.4.5' }, why: 'it only says that it is like Node.js' },
    { versions: { node: '18.0.0', deno: '2.9.6' }, why: 'so does this one' },
    { versions: {}, why: 'it is none' },
    { versions: undefined, why: 'a browser has none' },
  ])('$versions is served: $why', ({ versions }) => {
    expect(() => checkRuntime(versions)).not.toThrow();
  });
});
