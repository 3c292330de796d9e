/** That a long reading lets other work through and answers what one without stops does. */
import { readDefinitions, type TreeFile } from '#definitions';
import { readInSlices } from './reading.ts';

const files: TreeFile[] = Array.from({ length: 5 }, (_, n) => ({ path: `webhooks/w${n}.yaml`, content: Buffer.from('secretName: hook\n') }));

describe('a reading in slices', () => {
  it('answers what a reading in one go does', async () => {
    const { definitions, problems, brokenPaths } = await readInSlices(files);
    expect(readDefinitions(files)).toMatchObject({ definitions, problems, brokenPaths });
  });

  it('lets other work through when time has passed', async () => {
    let nowMs = 0;
    let isOver = false;
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await readInSlices(files, () => (nowMs += 1_000));
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(files.length - 1);
  });
});
