/** Which names this server goes by, and what a request has to say. contract §1.2 (Host). */
import { describe, expect, it } from '@jest/globals';
import { hostsOf, hostVerdict, originForm } from './hosts.ts';

describe('the hosts of a base URL', () => {
  it.each([
    {
      urls: ['https://mill.example'],
      hosts: ['mill.example', 'mill.example:443'],
      why: 'with and without the default port',
    },
    {
      urls: ['http://mill.example/base/'],
      hosts: ['mill.example', 'mill.example:80'],
      why: 'the path does not matter',
    },
    { urls: ['https://mill.example:8443'], hosts: ['mill.example:8443'], why: 'only with a port that is no default' },
    {
      urls: ['http://127.0.0.1:8080'],
      hosts: ['127.0.0.1:8080', 'localhost:8080', '[::1]:8080'],
      why: 'loopback has three names',
    },
    {
      urls: ['https://A.example', 'https://b.example'],
      hosts: ['a.example', 'a.example:443', 'b.example', 'b.example:443'],
      why: 'several',
    },
  ])('$urls: $why', ({ urls, hosts }) => {
    expect([...hostsOf(urls)].sort()).toEqual([...hosts].sort());
  });
});

describe('a request', () => {
  const ours = new Set(['mill.example', 'mill.example:443']);
  it.each([
    { rawHeaders: ['Host', 'mill.example'], url: '/x', verdict: 'ours', why: 'our name' },
    { rawHeaders: ['hOST', 'MILL.example:443'], url: '/x', verdict: 'ours', why: 'any case' },
    {
      rawHeaders: ['Host', 'mill.example'],
      url: 'https://mill.example/x',
      verdict: 'ours',
      why: 'absolute form agrees',
    },
    {
      rawHeaders: ['Host', 'mill.example'],
      url: 'https://evil.example/x',
      verdict: 'foreign',
      why: 'absolute form names another',
    },
    {
      rawHeaders: ['Host', 'evil.example'],
      url: 'https://mill.example/x',
      verdict: 'foreign',
      why: 'the header names another',
    },
    { rawHeaders: ['Host', 'evil.example'], url: '/x', verdict: 'foreign', why: 'another name' },
    { rawHeaders: ['Host', ''], url: '/x', verdict: 'foreign', why: 'an empty name' },
    { rawHeaders: ['Host', 'mill.example', 'Host', 'mill.example'], url: '/x', verdict: 'unclear', why: 'twice' },
    { rawHeaders: ['X', 'Host', 'Y', 'host'], url: '/x', verdict: 'unclear', why: 'values are not names' },
    { rawHeaders: [], url: '/x', verdict: 'unclear', why: 'none' },
  ])('is $verdict: $why', ({ rawHeaders, url, verdict }) => {
    expect(hostVerdict({ rawHeaders, url }, ours)).toBe(verdict);
  });
});

describe('a target', () => {
  it.each([
    { target: '/a/b?c', path: '/a/b?c', why: 'in origin form' },
    { target: 'http://mill.example/a/b?c', path: '/a/b?c', why: 'in absolute form' },
    { target: 'HTTPS://mill.example', path: '/', why: 'in absolute form without a path' },
    { target: 'http://mill.example?c', path: '/?c', why: 'in absolute form with a query only' },
    { target: '*', path: '*', why: 'of the server as a whole' },
    { target: '/http://mill.example/a', path: '/http://mill.example/a', why: 'whose path looks like an address' },
  ])('$why', ({ target, path }) => expect(originForm(target)).toBe(path));
});
