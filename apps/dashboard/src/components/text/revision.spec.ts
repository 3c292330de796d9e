/** Revisions are short where people read them and whole in addresses. */
import { revisionPath, shortRevision } from './revision.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';

describe('shortRevision', () => {
  it.each([
    [COMMIT, '0123456789ab'],
    [`main@sha1:${COMMIT}`, 'main@0123456789ab'],
    [`feature/a@b#1@sha1:${COMMIT}`, 'feature/a@b#1@0123456789ab'],
    [`sha256:${COMMIT}0123456789abcdef01234567`, 'sha256:0123456789ab'],
    ['dashboard@3', 'dashboard@3'],
    ['', ''],
  ])('%s', (revision, short) => expect(shortRevision(revision)).toBe(short));
});

describe('revisionPath', () => {
  it.each([
    [`main@sha1:${COMMIT}`, `/factories/f/sync/revisions/main%40sha1%3A${COMMIT}`],
    [`50%#/x@sha1:${COMMIT}`, `/factories/f/sync/revisions/50%25%23%2Fx%40sha1%3A${COMMIT}`],
    ['dashboard@3', undefined],
    [`dashboard@sha1:${COMMIT}`, `/factories/f/sync/revisions/dashboard%40sha1%3A${COMMIT}`],
  ])('%s', (revision, path) => expect(revisionPath('f', revision)).toBe(path));
});
