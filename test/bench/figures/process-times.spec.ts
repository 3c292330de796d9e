/** What /proc says of processes, read finely enough for rounds of a tenth of a second. */
import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { bytesWrittenBy, familyOf, parentOf, timesOf } from './process-times.ts';

const FILE_BYTES = 1_048_576;

describe('processor time', () => {
  it('is finer than a tick of the clock, and never goes back', async () => {
    // A process of one thread: those of ended threads are known in ticks only.
    const child = spawn('/bin/sh', ['-c', 'echo begun; while :; do :; done'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await once(child.stdout, 'data');
      const seen = Array.from({ length: 20 }, () => timesOf(child.pid ?? 0).ownSeconds);
      expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
      const isWholeTicks = (seconds: number): boolean => Math.abs(seconds * 100 - Math.round(seconds * 100)) < 1e-6;
      expect(seen.every(isWholeTicks)).toBe(false);
    } finally {
      child.kill();
    }
  });
});

describe('a family of processes', () => {
  it('is a process with what it started and what that started', async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [text] = (await once(child.stdout, 'data')) as [Buffer];
      const grandchild = Number(text.toString());
      expect(new Set(familyOf(child.pid ?? 0))).toEqual(new Set([child.pid, grandchild]));
      expect([parentOf(child.pid ?? 0), parentOf(grandchild)]).toEqual([process.pid, child.pid]);
      process.kill(grandchild);
      await once(child, 'close');
      expect(() => parentOf(grandchild)).toThrow('there is no process');
    } finally {
      child.kill();
    }
  });
});

describe('bytes written', () => {
  it('count pages of files', () => {
    // beside the sources: where temporary files are may be memory
    const folder = mkdtempSync('.written-');
    try {
      const before = bytesWrittenBy(process.pid);
      const file = openSync(join(folder, 'file'), 'w');
      writeSync(file, Buffer.alloc(FILE_BYTES, 1));
      fdatasyncSync(file);
      closeSync(file);
      expect(bytesWrittenBy(process.pid) - before).toBeGreaterThanOrEqual(FILE_BYTES);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
