/** The systemd unit: what systemd says of it, and a service with a run under what it takes away. decision 0079. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../test/support/network/ports.ts';
import { IS_BUILT, pageText, ROOT } from '../../../test/support/guide/documents.ts';

const UNIT = join(ROOT, 'apps/deploy/systemd/millwright.service');
const CONFINEMENT = join(ROOT, 'test/support/deploy/unit-confinement.py');

/** In tenths, of ten: systemd calls up to 3.0 OK, and more than that exposed. */
const EXPOSURE_MAX = 29;

/** Of no user of the machine that runs the test. */
const UID = '60993';

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const canConfine =
  hasSystemd && process.getuid?.() === 0 && spawnSync('/usr/bin/python3', ['-c', 'import seccomp']).status === 0;
const isRequired = process.env['REQUIRE_SYSTEMD'] === '1';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millwright-unit-'));
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

(hasSystemd || isRequired ? describe : describe.skip)('the systemd unit', () => {
  it('is understood by systemd, every line of it', () => {
    const copy = join(folder, 'millwright.service');
    // The program is not installed where the test runs.
    writeFileSync(copy, readFileSync(UNIT, 'utf8').replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', copy], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it(`is exposed by at most ${EXPOSURE_MAX / 10} of 10`, () => {
    const args = ['security', '--offline=yes', `--threshold=${EXPOSURE_MAX}`, UNIT];
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect({ status, said: stdout.split('\n').filter((line) => line.startsWith('→')) }).toMatchObject({ status: 0 });
  });

  it('starts what the guide installs', () => {
    const [, program = ''] = /^ExecStart=(\S+) start --supervised$/m.exec(readFileSync(UNIT, 'utf8')) ?? [];
    expect(program).toBe('/opt/millwright/node_modules/.bin/millwright');
    expect(pageText('how-to/install.md')).toContain('npm install --prefix /opt/millwright');
  });
});

(IS_BUILT && (canConfine || isRequired) ? describe : describe.skip)('under the unit', () => {
  it('a service starts, and a run works in its sandbox', async () => {
    const port = await freePort();
    cpSync(CONFINEMENT, join(folder, 'confine.py'));
    writeFileSync(join(folder, 'unit'), readFileSync(UNIT));
    writeFileSync(join(folder, 'inside.sh'), INSIDE, { mode: 0o755 });
    // Mounts of its own: nothing outside changes. A user namespace with one user, no capabilities, nothing regained.
    const outside = [
      'set -e',
      'mount -t tmpfs -o mode=0755 tmpfs /mnt',
      'mkdir /mnt/checkout /mnt/test /mnt/state',
      `mount --bind '${ROOT}' /mnt/checkout`,
      `mount --bind '${folder}' /mnt/test`,
      `chown ${UID}:${UID} /mnt/state`,
      'mount -t tmpfs -o mode=1777 tmpfs /tmp',
      'mount -t proc -o nosuid,nodev,noexec,hidepid=invisible proc /proc',
      'exec /usr/bin/python3 /mnt/test/confine.py /mnt/test/unit setpriv --bounding-set=-all --no-new-privs ' +
        `--reuid ${UID} --regid ${UID} --clear-groups unshare --user --map-user=${UID} --map-group=${UID} ` +
        `sh /mnt/test/inside.sh '${process.execPath}' ${port}`,
    ].join('\n');
    const said = execFileSync(
      'unshare',
      ['--mount', '--pid', '--fork', '--propagation', 'private', 'sh', '-c', outside],
      {
        encoding: 'utf8',
        timeout: 280_000,
      },
    );
    expect(said).toMatch(/Sandbox for runs: bubblewrap/);
    expect(said).toMatch(/-- SUCCEEDED/);
    expect(said).toMatch(/stopped with 0$/m);
  }, 300_000);
});

const INSIDE = `
set -e
cd /mnt/state
export HOME=/mnt/state MILLWRIGHT_DATA_DIR=/mnt/state/data MILLWRIGHT_PORT=$2
command="$1 --disable-warning=ExperimentalWarning /mnt/checkout/apps/cli/millwright.mjs"
$command start --supervised --example > log 2>&1 & service=$!
for attempt in $(seq 900); do
  curl -sf http://127.0.0.1:$2/readyz > /dev/null && break
  sleep 0.2
done
curl -sf http://127.0.0.1:$2/readyz > /dev/null || { cat log; exit 1; }
$command run --prompt 'Say hello' --follow --server http://127.0.0.1:$2 2>&1
grep 'Sandbox for runs' log
kill $service
code=0; wait $service || code=$?
echo "stopped with $code"
`;
