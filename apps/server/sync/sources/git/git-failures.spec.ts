/** What git's messages mean, and what never gets into ours. */
import { describe, expect, it } from '@jest/globals';
import { toFailure } from './git-failures.ts';
import type { GitOutput } from './git-process.ts';

/** What git adds when ssh, or a local repository, did not do. */
const NO_ANSWER = '\nfatal: Could not read from remote repository.';
const SUBJECT = 'https://git.example.com/o/r.git';

function failed(stderr: string, ended: GitOutput<string>['ended'] = 'exit'): GitOutput<string> {
  return { stdout: '', stderr, exitCode: 128, ended };
}

describe('what git says', () => {
  it.each([
    { stderr: "fatal: unable to access 'U': Could not resolve host: git.example.com", reason: 'unreachable' },
    {
      stderr: "fatal: unable to access 'U': Failed to connect to git.example.com port 443 after 0 ms",
      reason: 'unreachable',
    },
    {
      stderr: "fatal: unable to access 'U': SSL certificate problem: unable to get local issuer certificate",
      reason: 'unreachable',
    },
    {
      stderr: "fatal: unable to access 'U': server certificate verification failed. CAfile: none CRLfile: none",
      reason: 'unreachable',
    },
    { stderr: "fatal: unable to access 'U': The requested URL returned error: 502", reason: 'unreachable' },
    { stderr: "fatal: unable to access 'U': The requested URL returned error: 429", reason: 'unreachable' },
    {
      stderr: 'error: RPC failed; curl 18 transfer closed with outstanding read data remaining\nfatal: early EOF',
      reason: 'unreachable',
    },
    { stderr: 'fatal: the remote end hung up unexpectedly', reason: 'unreachable' },
    {
      stderr: "fatal: unable to access 'U': Operation too slow. Less than 1000 bytes/sec transferred",
      reason: 'timeout',
    },
    { stderr: 'ssh: connect to host git.example.com port 22: Connection timed out' + NO_ANSWER, reason: 'timeout' },
    { stderr: 'ssh: connect to host git.example.com port 22: Connection refused' + NO_ANSWER, reason: 'unreachable' },
    {
      stderr: "fatal: could not read Username for 'https://git.example.com': terminal prompts disabled",
      reason: 'denied',
    },
    { stderr: "fatal: Authentication failed for 'https://git.example.com/'", reason: 'denied' },
    { stderr: "fatal: unable to access 'U': The requested URL returned error: 403", reason: 'denied' },
    { stderr: 'git@git.example.com: Permission denied (publickey).' + NO_ANSWER, reason: 'denied' },
    { stderr: "fatal: detected dubious ownership in repository at '/srv/r.git'" + NO_ANSWER, reason: 'denied' },
    { stderr: 'Host key verification failed.' + NO_ANSWER, reason: 'refused' },
    { stderr: "fatal: transport 'file' not allowed", reason: 'refused' },
    {
      stderr: 'error: object 1234: badTree: cannot be parsed as a tree\nfatal: fsck error in packed object',
      reason: 'refused',
    },
    { stderr: "fatal: unable to access 'U': The requested URL returned error: 302", reason: 'refused' },
    {
      stderr: "remote: Repository not found.\nfatal: repository 'https://git.example.com/' not found",
      reason: 'repository-missing',
    },
    { stderr: 'ERROR: Repository not found.' + NO_ANSWER, reason: 'repository-missing' },
    { stderr: "fatal: '/srv/r.git' does not appear to be a git repository" + NO_ANSWER, reason: 'repository-missing' },
    { stderr: "fatal: couldn't find remote ref refs/heads/main", reason: 'branch-missing' },
    { stderr: 'fatal: write error: No space left on device', reason: 'disk' },
    { stderr: "fatal: Unable to create '/data/cache/shallow.lock': File exists.", reason: 'corrupt' },
    { stderr: 'fatal: packed object 1234 (stored in x.pack) is corrupt', reason: 'corrupt' },
    { stderr: '', reason: 'corrupt' },
  ])('$stderr → $reason', ({ stderr, reason }) => {
    expect(toFailure(failed(stderr), SUBJECT, []).failure.reason).toBe(reason);
  });

  it.each([
    {
      stderr: "fatal: repository 'https://git.example.com/tls-timeout-certificate/' not found",
      why: 'words of an address mean nothing',
    },
    {
      stderr: "remote: error: 401 SSL timeout\nfatal: repository 'https://h/x/' not found",
      why: 'nor do those of the server',
    },
  ])('is judged by its own words: $why', ({ stderr }) => {
    expect(toFailure(failed(stderr), SUBJECT, []).failure.reason).toBe('repository-missing');
  });
});

describe('the message', () => {
  it('names the address without its user, and the line that says most', () => {
    const output = failed("warning: x\nremote: hello\nfatal: repository 'U' not found\n");
    const { failure } = toFailure(output, 'https://u@git.example.com/r', []);
    expect(failure.message).toBe("https://***@git.example.com/r: repository 'U' not found");
  });

  it('holds no secret, no line of the server, no control or direction character, and has an end', () => {
    const long = 'x'.repeat(5000);
    const stderr = `remote: token-1234 echoed\nfatal: \u001b[31mbad\u202e token-1234 https://a:b@h/ ${long}`;
    const { message } = toFailure(failed(stderr), SUBJECT, ['token-1234']).failure;
    expect(message).not.toMatch(/token-1234|echoed|a:b|[\u0000-\u001f\u202e]/);
    expect(message.length).toBeLessThan(500);
  });

  it.each([
    { ended: 'timeout' as const, reason: 'timeout' },
    { ended: 'aborted' as const, reason: 'timeout' },
    { ended: 'overflow' as const, reason: 'refused' },
  ])('says when git was ended by us: $ended', ({ ended, reason }) => {
    expect(toFailure(failed('fatal: whatever', ended), SUBJECT, []).failure).toMatchObject({
      reason,
      retry: 'backoff',
    });
  });
});
