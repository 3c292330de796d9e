/** Reading what strace says: which calls wrote to files, and which synced them. */
import { fileCallsIn } from './file-calls.ts';

const linesOf = (...lines: string[]): string => `${lines.join('\n')}\n`;

describe('calls that strace has seen', () => {
  it('are counted where they sync a file', () => {
    const text = linesOf(
      '101   fsync(4</data/log>)                = 0',
      '101   fdatasync(4</data/log>)            = 0',
      '102   write(4</data/log>, ""..., 10)     = 10',
    );
    expect(fileCallsIn(text).syncs).toBe(2);
  });

  it('are summed up by the bytes that files took, not by those of sockets, pipes and devices', () => {
    const text = linesOf(
      '101   pwrite64(4</data/log>, ""..., 4096, 0) = 4096',
      '101   writev(5</data/other>, [{iov_base=""..., iov_len=24}], 1) = 24',
      '101   write(6<socket:[12345]>, ""..., 500) = 500',
      '101   write(7<pipe:[12346]>, ""..., 1)   = 1',
      '101   write(8</dev/null>, ""..., 700)    = 700',
      '101   write(4</data/log>, ""..., 9)      = -1 ENOSPC (No space left on device)',
    );
    expect(fileCallsIn(text)).toEqual({ syncs: 0, bytesWritten: 4_120 });
  });

  it('count once where another thread interrupts them', () => {
    const text = linesOf(
      '101   fdatasync(4</data/log> <unfinished ...>',
      '102   pwrite64(4</data/log>, ""..., 100, 0 <unfinished ...>',
      '103   write(6<socket:[12345]>, ""..., 500 <unfinished ...>',
      '102   <... pwrite64 resumed>)            = 100',
      '103   <... write resumed>)               = 500',
      '101   <... fdatasync resumed>)           = 0',
    );
    expect(fileCallsIn(text)).toEqual({ syncs: 1, bytesWritten: 100 });
  });
});
