/** What /proc says of processes, read finely enough for rounds of a tenth of a second. */
import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { bytesWrittenBy, familyOf, parentOf, timesOf } from './process-times.ts';

const FILE_BYTES = 1_048_576;

describe('processor time', () => {
  it('is finer than a tick of the clock, and never goes back', () => {
    const seen = [timesOf(process.pid).ownSeconds];
    for (let look = 0; look < 20; look += 1) seen.push(timesOf(process.pid).ownSeconds);
    const steps = seen.slice(1).map((seconds, at) => seconds - (seen[at] ?? 0));
    expect(steps.every((step) => step >= 0)).toBe(true);
    const isWholeTicks = (seconds: number): boolean => Math.abs(seconds * 100 - Math.round(seconds * 100)) < 1e-6;
    expect(seen.every(isWholeTicks)).toBe(false);
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
