import { BODY_BYTES_MAX, FILES_MAX, readFound, type Found } from './tree-files.ts';

const found = (files: Record<string, string | Uint8Array<ArrayBuffer>>): Found[] =>
  Object.entries(files).map(([path, content]) => ({ path, file: new File([content], path) }));

describe('the files of a plan', () => {
  it('are the definitions, by name, with their texts as they are', async () => {
    const picked = await readFound(
      found({
        'webhooks/b.yaml': 'b: ä\r\n',
        'README.md': 'words',
        'webhooks/.gitkeep': '',
        'automations/a/automation.md': '\ufeffa',
        'src/webhooks/x.yaml': 'x',
      }),
    );
    expect(picked).toEqual({
      files: [
        { path: 'automations/a/automation.md', content: '\ufeffa' },
        { path: 'webhooks/b.yaml', content: 'b: ä\r\n' },
      ],
      unreadable: [],
      ignored: 3,
      root: '',
    });
  });

  it(
    'are those of the factory’s folder where the whole repository was chosen, and of what was chosen where that ' +
      'is the folder',
    async () => {
      const whole = await readFound(
        found({ 'deploy/factory/webhooks/a.yaml': 'a', 'webhooks/elsewhere.yaml': 'b' }),
        'deploy/factory',
      );
      expect(whole).toMatchObject({ files: [{ path: 'webhooks/a.yaml' }], root: 'deploy/factory', ignored: 1 });
      expect(await readFound(found({ 'webhooks/a.yaml': 'a' }), 'deploy/factory')).toMatchObject({
        files: [{ path: 'webhooks/a.yaml' }],
        root: '',
      });
    },
  );

  it('that are no text are named, and none of them is sent as something else', async () => {
    expect(
      await readFound(found({ 'webhooks/a.yaml': Uint8Array.of(0xff, 0xfe), 'factory.yaml': '{}' })),
    ).toMatchObject({ files: [{ path: 'factory.yaml' }], unreadable: ['webhooks/a.yaml'] });
  });

  it('are no more than a plan takes', async () => {
    const many = Object.fromEntries(
      Array.from({ length: FILES_MAX + 1 }, (_, number) => [`webhooks/w${number}.yaml`, '']),
    );
    await expect(readFound(found(many))).rejects.toThrow('2,001 definition files');
    await expect(readFound(found({ 'webhooks/a.yaml': new Uint8Array(BODY_BYTES_MAX + 1) }))).rejects.toThrow(
      'bytes; a plan takes 1,048,576',
    );
    await expect(
      readFound(found({ 'data.bin': new Uint8Array(BODY_BYTES_MAX + 1), 'factory.yaml': '' })),
    ).resolves.toMatchObject({ ignored: 1 });
  });
});
