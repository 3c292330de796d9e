/** Where project quotas are, as the kernel's list of mounts says it, and the commands that set one. */
import { projectIdOf, quotaCommands, quotaPlaceOf } from './index.ts';

const MOUNTS = [
  '22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro',
  '30 22 259:2 / /srv rw,relatime shared:2 - xfs /dev/vdb rw,attr2,inode64,prjquota',
  '31 22 259:3 / /data\\040disk rw,relatime shared:3 master:4 - ext4 /dev/vdc rw,prjquota',
  '32 30 0:40 / /srv/cache rw - tmpfs tmpfs rw,size=1k',
  '33 22 259:4 / /counted rw - xfs /dev/vdd rw,prjquota,pqnoenforce',
  '34 22 259:5 / /twice rw - ext4 /dev/vde rw,prjquota',
  '35 34 259:6 / /twice rw - btrfs /dev/vdf rw',
].join('\n');

describe('project quotas', () => {
  it.each([
    { folder: '/srv', found: '/dev/vdb', why: 'the mount itself' },
    { folder: '/srv/millwright/runs', found: '/dev/vdb', why: 'a folder of it' },
    { folder: '/data disk/runs', found: '/dev/vdc', why: 'a name with a blank' },
  ])('are on $found for $folder: $why', ({ folder, found }) => {
    expect(quotaPlaceOf(MOUNTS, folder)).toMatchObject({ ok: true, device: found });
  });

  it.each([
    { folder: '/var/lib/millwright', reason: 'ext4 at / is mounted without prjquota' },
    { folder: '/srvx', reason: 'ext4 at / is mounted without prjquota' },
    { folder: '/srv/cache/runs', reason: 'tmpfs at /srv/cache has no project quotas' },
    { folder: '/counted', reason: 'xfs at /counted is mounted without prjquota' },
    { folder: '/twice', reason: 'btrfs at /twice has no project quotas' },
  ])('are not on $folder: $reason', ({ folder, reason }) => {
    expect(quotaPlaceOf(MOUNTS, folder)).toEqual({ ok: false, reason });
  });

  it('are not where no mounts are known', () => {
    expect(quotaPlaceOf('', '/srv')).toEqual({ ok: false, reason: 'its file system is not known' });
  });

  it('give each run a project of its own, far from those of people', () => {
    const one = projectIdOf('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
    expect(one).toBeGreaterThanOrEqual(1_000_000_000);
    expect(one).toBeLessThan(2_000_000_000);
    expect(projectIdOf('017f22e2-79b0-7cc3-98c4-dc0c0c073990')).not.toBe(one);
  });

  it('are set by the folder first, then its bound; and taken away by the bound alone', () => {
    const tools = { chattr: '/usr/bin/chattr', perl: '/usr/bin/perl', quotactl: 179 };
    const quota = { device: '/dev/vdb', folder: '/srv/runs/x', projectId: 1_000_000_007, bytesMax: 1_025 };
    const [mark = [], limit = []] = quotaCommands(quota, tools);
    expect(mark).toEqual(['/usr/bin/chattr', '-R', '+P', '-p', '1000000007', '/srv/runs/x']);
    expect(limit.slice(3)).toEqual(['--', '179', '/dev/vdb', '1000000007', '2']);
    expect(quotaCommands({ ...quota, bytesMax: undefined }, tools).map((words) => words.slice(4))).toEqual([
      ['179', '/dev/vdb', '1000000007', '0'],
    ]);
  });
});
