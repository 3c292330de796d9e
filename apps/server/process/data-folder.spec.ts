/** The data folder: made privately, closed to others, and one process's own for as long as that lives. contract §1. */
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram, type ChildProgram } from '../../../test/support/processes/child-program.ts';
import { DataFolderError, lockDataFolder } from './data-folder.ts';

const HOLDER = 'test/conformance/programs/hold-folder.ts';

describe('the data folder', () => {
  let parent: string;
  let folder: string;
  const programs: ChildProgram[] = [];
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'millwright-folder-'));
    folder = join(parent, 'deep', 'folder');
  });
  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.process.kill('SIGKILL');
      await program.ended;
    }
    rmSync(parent, { recursive: true });
  });

  async function held(): Promise<ChildProgram> {
    const program = startProgram(HOLDER, [folder]);
    programs.push(program);
    await program.line(1);
    return program;
  }

  it('is made for this user only', async () => {
    const lock = await lockDataFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    lock.release();
  });

  it('is closed to others when it was open', async () => {
    chmodSync(parent, 0o755);
    (await lockDataFolder(parent)).release();
    expect(statSync(parent).mode & 0o777).toBe(0o700);
  });

  it('is refused to a second process with the way out, and free when the first one releases it', async () => {
    const lock = await lockDataFolder(folder);
    expect((await held()).lines).toEqual([
      `refused: the data folder ${folder} is used by another millwright process; stop that one or set ` +
        'MILLWRIGHT_DATA_DIR',
    ]);
    lock.release();
    expect((await held()).lines).toEqual(['locked']);
  });

  it('is refused while another process holds it, and free when that one was killed', async () => {
    const holder = await held();
    expect(holder.lines).toEqual(['locked']);
    await expect(lockDataFolder(folder)).rejects.toThrow(DataFolderError);
    holder.process.kill('SIGKILL');
    await holder.ended;
    (await lockDataFolder(folder)).release();
  });

  it('is refused twice within one process too', async () => {
    const lock = await lockDataFolder(folder);
    await expect(lockDataFolder(folder)).rejects.toThrow(/used by another/);
    lock.release();
  });

  it('that is a file is refused by name', async () => {
    const file = join(parent, 'file');
    writeFileSync(file, '');
    await expect(lockDataFolder(file)).rejects.toThrow(DataFolderError);
    await expect(lockDataFolder(join(file, 'below'))).rejects.toThrow(
      `the data folder ${join(file, 'below')} cannot be written (ENOTDIR); set MILLWRIGHT_DATA_DIR to a folder ` +
        'of this user',
    );
  });
});
