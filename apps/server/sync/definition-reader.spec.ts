/** That a long reading lets other work through and answers what one without stops does. */
import { readDefinitions, type TreeFile } from '#definitions';
import { readDefinitionsYielding } from './reconcile-input.ts';

const files: TreeFile[] = Array.from({ length: 5 }, (_, n) => ({
  path: `webhooks/w${n}.yaml`,
  content: Buffer.from('secretName: hook\n'),
}));

describe('a reading in slices', () => {
  it('answers what a reading in one go does', async () => {
    const { definitions, problems, brokenPaths } = await readDefinitionsYielding(files);
    expect(readDefinitions(files)).toMatchObject({ definitions, problems, brokenPaths });
  });

  it('that knows an earlier one reads what changed only, and answers the same', async () => {
    const earlier = await readDefinitionsYielding(files);
    const later = files
      .map((file, n) => (n === 3 ? { ...file, content: Buffer.from('secretName: other\nenabld: true\n') } : file))
      .slice(1);
    const { readFiles, positions, ...reading } = await readDefinitionsYielding(later, earlier);
    const { readFiles: _, positions: __, ...afresh } = readDefinitions(later);
    expect(reading).toEqual(afresh);
    const reused = [...readFiles]
      .filter(([path, { reading: read }]) => earlier.readFiles.get(path)?.reading === read)
      .map(([path]) => path);
    expect(reused).toEqual(['webhooks/w1.yaml', 'webhooks/w2.yaml', 'webhooks/w4.yaml']);
    expect(positions.get('webhooks/w3.yaml')?.key('/enabld')).toMatchObject({ line: 2, column: 1 });
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
    await readDefinitionsYielding(files, undefined, () => (nowMs += 1_000));
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(files.length - 1);
  });
});
