/** What `start` tells people to paste works where they stand, and reaches no registry. contract §11. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownCommand } from './program.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const PROGRAM = join(ROOT, 'apps/cli/millwright.mjs');

const INSTALLED = '/home/op/.npm/_npx/1a/node_modules/@millwright/server';

it.each([
  { cwd: '/', calledAs: '/usr/local/bin/millwright', environment: {}, words: ['millwright'], why: 'it is on the path' },
  { cwd: ROOT, calledAs: PROGRAM, environment: {}, words: ['npx', 'millwright'], why: 'npx knows the checkout' },
  {
    cwd: ROOT,
    calledAs: join(ROOT, 'node_modules/.bin/millwright'),
    environment: { npm_command: 'exec' },
    words: ['npx', 'millwright'],
    why: 'the path of npm is gone with it',
  },
  {
    cwd: '/',
    calledAs: '/x/node_modules/.bin/millwright',
    environment: { npm_command: 'exec' },
    words: ['node', PROGRAM],
    why: 'npx would ask a registry there',
  },
  { cwd: '/', calledAs: PROGRAM, environment: {}, words: ['node', PROGRAM], why: 'it was called by its path' },
  { cwd: '/', calledAs: undefined, environment: {}, words: ['node', PROGRAM], why: 'nobody called it' },
  {
    cwd: '/srv',
    calledAs: `${INSTALLED}/../../.bin/millwright`,
    environment: { npm_command: 'exec' },
    root: INSTALLED,
    words: ['npx', '@millwright/server'],
    why: 'npx brought the published package',
  },
  {
    cwd: '/srv',
    calledAs: `${INSTALLED}/apps/cli/millwright.mjs`,
    environment: {},
    root: INSTALLED,
    words: ['node', `${INSTALLED}/apps/cli/millwright.mjs`],
    why: 'the published package was called by its path',
  },
])('is $words: $why', ({ words, ...where }) => {
  expect(ownCommand(where)).toEqual(words);
  expect(existsSync(PROGRAM)).toBe(true);
});
