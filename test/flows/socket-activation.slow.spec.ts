/**
 * The socket unit of systemd: its file, and the service on a socket that systemd's own program passes. contract §1.8.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { freePort } from '../support/network/ports.ts';
import { nodeArguments } from '../support/processes/node-arguments.ts';

const ACTIVATE = '/usr/bin/systemd-socket-activate';
const ANALYZE = '/usr/bin/systemd-analyze';
const UNIT = 'apps/deploy/systemd/millwright.socket';
const HAS_SYSTEMD = existsSync(ACTIVATE) && existsSync(ANALYZE);
const suite = HAS_SYSTEMD ? describe : describe.skip;

describe('the socket unit', () => {
  it('has one address, that of the service unless something else is said', () => {
    const lines = readFileSync(UNIT, 'utf8').split('\n');
    expect(lines.filter((line) => line.startsWith('ListenStream='))).toEqual(['ListenStream=127.0.0.1:8080']);
    expect(lines).toContain('Service=millwright.service');
    expect(lines).toContain('Backlog=4096');
  });
});

suite(`the socket unit and systemd${HAS_SYSTEMD ? '' : ' (SKIPPED: no systemd programs)'}`, () => {
  it('is understood by systemd', () => {
    const box = mkdtempSync(join(tmpdir(), 'mw-unit-'));
    cpSync(UNIT, join(box, 'millwright.socket'));
    writeFileSync(
      join(box, 'millwright.service'),
      '[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\nSockets=millwright.socket\n',
    );
    const said = spawnSync(ANALYZE, ['verify', '--man=no', join(box, 'millwright.socket')], { encoding: 'utf8' });
    rmSync(box, { recursive: true, force: true });
    expect(said.stderr.split('\n').filter((line) => line.includes('millwright'))).toEqual([]);
  });

  it.each([[[]], [['--supervised']]])(
    'passes its socket to a service that is started with %j',
    async (words) => {
      const box = mkdtempSync(join(tmpdir(), 'mw-sock-'));
      const port = await freePort();
      const program = `test/support/services/${words.length === 0 ? 'serve' : 'supervised'}-program.ts`;
      const environment = [
        `MILLWRIGHT_DATA_DIR=${join(box, 'data')}`,
        `MILLWRIGHT_PORT=${await freePort()}`, // nobody listens there
        'MILLWRIGHT_RUN_CONCURRENCY=0',
        `PATH=${process.env['PATH'] ?? ''}`,
      ];
      const child = spawn(
        ACTIVATE,
        [
          '-l',
          `127.0.0.1:${port}`,
          ...environment.flatMap((pair) => ['-E', pair]),
          process.execPath,
          ...nodeArguments(program),
          'start',
        ],
        { stdio: ['ignore', 'ignore', 'pipe'] },
      );
      const listens = new Promise((resolve) => child.stderr.once('data', resolve));
      child.stderr.resume();
      try {
        await listens;
        // The connection is there before the service is: it waits, and is answered.
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(110_000) });
        expect(answer.status).toBe(200);
      } finally {
        const ended = new Promise((resolve) => child.once('close', resolve));
        child.kill('SIGTERM');
        await ended;
        rmSync(box, { recursive: true, force: true });
      }
    },
    120_000,
  );
});
