/** When the disk counts as nearly full. contract 5 (503). */
import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { DiskWatch } from './disk.ts';

describe('the disk', () => {
  it.each([
    { folder: tmpdir(), reserveBytes: 0, low: false, why: 'no reserve is asked for' },
    { folder: tmpdir(), reserveBytes: 1, low: false, why: 'there is a byte' },
    { folder: tmpdir(), reserveBytes: Number.MAX_SAFE_INTEGER, low: true, why: 'less than the reserve is free' },
    { folder: '/nonexistent/folder', reserveBytes: 0, low: true, why: 'a folder that cannot be looked at cannot be written either' },
  ])('low: $low, because $why', async ({ folder, reserveBytes, low }) => {
    const disk = new DiskWatch(folder, reserveBytes);
    await disk.start();
    expect(disk.isLow()).toBe(low);
    disk.stop();
  });

  it('is not low before anybody looked', () => {
    expect(new DiskWatch('/nonexistent/folder', 1).isLow()).toBe(false);
  });
});
