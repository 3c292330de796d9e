/** The image: built by buildah from Debian's own packages, and run as nobody on a file system that it cannot write. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { builtImage, NOBODY, type BuiltImage } from '../../../test/support/deploy/built-image.ts';
import { eventually, freePort } from '../../../test/support/services/service.ts';

const MEGABYTES_MAX = 500;
const BUILT_MS_MAX = 900_000;

describe('the image', () => {
  let image: BuiltImage;

  beforeAll(async () => {
    image = await builtImage();
  }, BUILT_MS_MAX);
  afterAll(() => image?.remove());

  it('is configured to be nobody, and starts the service', () => {
    const { OCIv1 } = JSON.parse(image.buildah('inspect', '--type', 'image', 'localhost/mw')) as {
      OCIv1: { config: Record<string, unknown> };
    };
    expect(OCIv1.config).toMatchObject({
      User: '10001:10001',
      Entrypoint: ['millwright'],
      Cmd: ['start'],
      Volumes: { '/data': {} },
    });
  });

  it('holds no compiler, no package manager of JavaScript, and nothing that makes one root', () => {
    const programs = ['/usr/bin/c++', '/usr/bin/make', '/usr/local/bin/npm', '/usr/local/lib/node_modules', '/build'];
    expect(programs.filter((path) => existsSync(join(image.root, path)))).toEqual([]);
    expect(execFileSync('find', [image.root, '-perm', '/6000', '-type', 'f'], { encoding: 'utf8' })).toBe('');
    const kilobytes = parseInt(execFileSync('du', ['-sk', image.root], { encoding: 'utf8' }), 10);
    console.log(`the image has ${Math.round(kilobytes / 1_024)} MB`);
    expect(kilobytes / 1_024).toBeLessThanOrEqual(MEGABYTES_MAX);
    expect(existsSync(join(image.root, 'opt/millwright/node_modules/@millwright/server/sbom.cdx.json'))).toBe(true);
  });

  it('serves and runs with a read-only root, as nobody, without capabilities', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const inside = (...command: string[]): string[] => image.inside(url, command);
    const service = spawn('unshare', inside('millwright', 'start'), { stdio: 'ignore', detached: true });
    const said = (...command: string[]): string => {
      const { stdout, stderr } = spawnSync('unshare', inside(...command), { encoding: 'utf8' });
      return stdout + stderr;
    };
    try {
      await eventually('the service is ready', async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok);
      const run = said('millwright', 'run', '--prompt', 'Say hello', '--follow', '--server', url);
      expect(run).toMatch(/-- SUCCEEDED/);
      expect(run).not.toMatch(/NOT isolated/i);
      expect(said('touch', '/opt/millwright/x')).toMatch(/Read-only file system/);
      expect(said('id', '-u')).toBe(`${NOBODY}\n`);
    } finally {
      // Its group: what has changed its user does not end with its parent.
      if (service.pid !== undefined) process.kill(-service.pid, 'SIGKILL');
    }
  }, 120_000);
});
