/** When the disk counts as nearly full. contract §5.8 (503). */
import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { DiskWatch, roomAbove } from './disk-watch.ts';

describe('the disk', () => {
  it.each([
    { folder: tmpdir(), reserveBytes: 0, low: false, why: 'no reserve is asked for' },
    { folder: tmpdir(), reserveBytes: 1, low: false, why: 'there is a byte' },
    { folder: tmpdir(), reserveBytes: Number.MAX_SAFE_INTEGER, low: true, why: 'less than the reserve is free' },
    {
      folder: '/nonexistent/folder',
      reserveBytes: 0,
      low: true,
      why: 'a folder that cannot be looked at cannot be written either',
    },
  ])('low: $low, because $why', async ({ folder, reserveBytes, low }) => {
    const disk = new DiskWatch(folder, reserveBytes);
    await disk.start();
    expect(disk.isLow()).toBe(low);
    disk.stop();
  });

  it('is not low before anybody looked', () => {
    expect(new DiskWatch('/nonexistent/folder', 1).isLow()).toBe(false);
  });

  it.each([
    { free: 300, reusable: 0, room: 44, why: 'the disk has more than the reserve' },
    { free: 250, reusable: 0, room: -6, why: 'it has less' },
    { free: 250, reusable: 100, room: 94, why: 'what is free within the database file counts' },
    { free: 128, reusable: 10_000, room: 0, why: 'but half of the reserve has to be free outside' },
    { free: 127, reusable: 10_000, room: -1, why: 'less than half of the reserve is free outside' },
  ])(
    '$free free and $reusable within the database of a reserve of 256 leave $room: $why',
    ({ free, reusable, room }) => {
      expect(roomAbove(256, free, reusable)).toBe(room);
    },
  );

  it('asks the database only where the disk alone has too little', async () => {
    let asked = 0;
    const reusable = async () => ((asked += 1), Number.MAX_SAFE_INTEGER);
    for (const [reserveBytes, low] of [
      [1, false],
      [Number.MAX_SAFE_INTEGER, true],
    ] as const) {
      const disk = new DiskWatch(tmpdir(), reserveBytes, reusable);
      expect(await disk.isLowNow()).toBe(low);
    }
    expect(asked).toBe(1);
  });

  it('that cannot be asked is low', async () => {
    const disk = new DiskWatch(tmpdir(), Number.MAX_SAFE_INTEGER, () => Promise.reject(new Error('away')));
    expect(await disk.isLowNow()).toBe(true);
  });
});
