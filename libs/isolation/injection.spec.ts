/** Which names and values of secrets may become variables of a run. */
import { isReservedVariable } from '#definitions';
import { injectableSumProblem, isInjectableEnvName, isInjectableValue } from './index.ts';

describe('a secret as environment variable', () => {
  it.each(['OPENAI_API_KEY', 'GITHUB_TOKEN', 'A', 'NPM_TOKEN', 'DB2_PASSWORD', 'NODE_AUTH_TOKEN'])(
    '%s may be injected',
    (name) => {
      expect(isInjectableEnvName(name)).toBe(true);
    },
  );

  it.each([
    { name: 'lower_case', why: 'not upper case' },
    { name: '2FA', why: 'starts with a digit' },
    { name: 'A-B', why: 'no variable name' },
    { name: 'A=B', why: 'would set another variable' },
    { name: 'A\n', why: 'a line break' },
    { name: '', why: 'no name' },
    { name: 'LD_PRELOAD', why: 'the loader' },
    { name: 'DYLD_INSERT_LIBRARIES', why: 'the loader elsewhere' },
    { name: 'BASH_ENV', why: 'the shell' },
    { name: 'ENV', why: 'the shell' },
    { name: 'IFS', why: 'the shell' },
    { name: 'GIT_SSH_COMMAND', why: 'git runs it' },
    { name: 'MILLWRIGHT_RUN_ID', why: 'the service' },
    { name: 'PATH', why: 'which programs run' },
    { name: 'HOME', why: 'where a run keeps its files' },
    { name: 'NODE_OPTIONS', why: 'loads code' },
    { name: 'PYTHONSTARTUP', why: 'loads code' },
    { name: 'HTTPS_PROXY', why: 'whom the run talks through' },
  ])('$name may not, because $why', ({ name }) => {
    expect(isInjectableEnvName(name)).toBe(false);
  });

  it('is refused in a file exactly when it could not be injected: there is one list', () => {
    for (const name of [
      'HTTPS_PROXY',
      'SSH_ASKPASS',
      'XDG_CONFIG_HOME',
      'BASH_FUNC_X',
      'MALLOC_CHECK_',
      'PYTHONINSPECT',
      'TZ',
      'NPM_TOKEN',
    ]) {
      expect({ name, injectable: isInjectableEnvName(name) }).toEqual({ name, injectable: !isReservedVariable(name) });
    }
    expect(isReservedVariable('HTTPS_PROXY')).toBe(true);
  });

  it('has a value of at least eight characters without NUL', () => {
    expect(isInjectableValue('1234567')).toBe(false);
    expect(isInjectableValue('12345678')).toBe(true);
    expect(isInjectableValue('1234\x005678')).toBe(false);
  });

  it.each([
    { value: 'x'.repeat(16_384), injectable: true, why: 'the bound exactly' },
    { value: 'x'.repeat(16_385), injectable: false, why: 'one byte more' },
    { value: 'ä'.repeat(8_193), injectable: false, why: 'bytes count, not characters' },
  ])('has a value of at most 16 KiB: $why', ({ value, injectable }) => {
    expect(isInjectableValue(value)).toBe(injectable);
  });

  it('has values of at most 64 KiB together, each counted once', () => {
    const values = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(16_384));
    expect(injectableSumProblem([...values, ...values])).toBeUndefined();
    expect(injectableSumProblem([...values, 'one-more'])).toMatch(/65544 bytes together, and at most 65536/);
  });
});
