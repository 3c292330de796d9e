/** A project quota on a real file system: an image with `prjquota`, mounted for the test, where this kernel has it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeQuotas, findProjectQuotas, setProjectQuota } from './project-quotas.ts';

const RUN = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
const MIB = 1_024 ** 2;
const OTHER_UID = 60_311;

let base: string;
let mounted: string;
let refusal: string | undefined;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-quota-'));
  await chmod(base, 0o755);
  mounted = join(base, 'mounted');
  await mkdir(mounted);
  const image = join(base, 'image');
  const steps: [string, ...string[]][] = [
    ['truncate', '-s', '64M', image],
    ['mkfs.ext4', '-q', '-O', 'quota,project', '-E', 'quotatype=prjquota', image],
    ['mount', '-o', 'loop,prjquota', image, mounted],
  ];
  for (const [program, ...words] of steps) {
    const { status, error, stderr } = spawnSync(program, words, { encoding: 'utf8' });
    if (status !== 0) refusal ??= `${program}: ${error?.message ?? stderr.split('\n')[0]}`;
  }
}, 60_000);
afterAll(async () => {
  if (refusal === undefined) execFileSync('umount', [mounted]);
  await rm(base, { recursive: true, force: true });
});

it('bounds what a run writes, by the file system, until it is taken away', async () => {
  if (refusal !== undefined) return console.warn(`SKIPPED: project quotas of this kernel: ${refusal}`);
  const place = await findProjectQuotas(mounted);
  if (!place.ok) throw new Error(place.reason);
  const folder = join(mounted, RUN);
  await mkdir(folder);
  const write = (): string =>
    spawnSync('dd', ['if=/dev/zero', `of=${folder}/x`, 'bs=1M', 'count=16'], {
      uid: OTHER_UID,
      gid: OTHER_UID,
      encoding: 'utf8',
    }).stderr;
  await chmod(folder, 0o777);
  await setProjectQuota(place, { runId: RUN, folder, bytesMax: 4 * MIB });
  expect(write()).toContain('Disk quota exceeded');
  await rm(join(folder, 'x'));
  await setProjectQuota(place, { runId: RUN, folder, bytesMax: undefined });
  expect(write()).toContain('16777216 bytes');
});

it('is said loudly where it is not: a file system without', async () => {
  const place = await findProjectQuotas('/proc');
  expect(describeQuotas(place)).toContain('proc at /proc has no project quotas');
  expect(describeQuotas(place)).toContain('NOT ENFORCED');
});

it('fails aloud where the device has none', async () => {
  const missing = { ok: true, device: join(base, 'none'), fileSystem: 'ext4' } as const;
  await expect(setProjectQuota(missing, { runId: RUN, folder: base, bytesMax: undefined })).rejects.toThrow(
    'Command failed',
  );
});
