/** The argument of `--factory`, as people type it. */
import { describe, expect, it } from '@jest/globals';
import { FactoryArgumentError, parseFactoryArgument } from './parse-source.ts';

describe('--factory', () => {
  it.each([
    { text: './examples/factory-repo', spec: { kind: 'directory', path: './examples/factory-repo' } },
    { text: '/srv/factory', spec: { kind: 'directory', path: '/srv/factory' } },
    { text: 'factory:v2', spec: { kind: 'directory', path: 'factory:v2' } },
    { text: 'https://git.example.com/o/r.git', spec: { kind: 'git', url: 'https://git.example.com/o/r.git' } },
    {
      text: 'https://git.example.com/o/r.git#main',
      spec: { kind: 'git', url: 'https://git.example.com/o/r.git', branch: 'main' },
    },
    {
      text: 'https://example.com/r#a/1:ops/f',
      spec: { kind: 'git', url: 'https://example.com/r', branch: 'a/1', path: 'ops/f' },
    },
    {
      text: 'git@git.example.com:o/r.git#main:./f/',
      spec: { kind: 'git', url: 'git@git.example.com:o/r.git', branch: 'main', path: 'f' },
    },
    { text: 'file:///srv/r.git#main', spec: { kind: 'git', url: 'file:///srv/r.git', branch: 'main' } },
  ])('$text', ({ text, spec }) => {
    expect(parseFactoryArgument(text)).toEqual(spec);
  });

  it.each([
    { text: '', says: 'empty', why: 'nothing' },
    { text: '  ', says: 'empty', why: 'nothing to see' },
    { text: '--help', says: '"-"', why: 'a forgotten value' },
    { text: 'a\nb', says: 'control character', why: 'pasted with a line break' },
    { text: './dir#main', says: 'file:///absolute/path#branch', why: 'a directory has no branch' },
    { text: 'http://git.example.com/r', says: 'https://', why: 'not encrypted' },
    { text: 'https://u:hunter2@git.example.com/r', says: 'password', why: 'it would be seen by everyone' },
    { text: 'https://git.example.com/r#', says: 'is empty', why: 'a branch was meant' },
    { text: 'https://git.example.com/r#a..b', says: 'valid branch name', why: 'git has rules' },
    { text: 'https://git.example.com/r#:path', says: 'is empty', why: 'the branch comes first' },
    { text: 'https://git.example.com/r#main:', says: 'is empty', why: 'a path was meant' },
    { text: 'https://git.example.com/r#main:../x', says: 'relative path', why: 'it leads out' },
  ])('says what is wrong with $text: $why', ({ text, says }) => {
    expect(() => parseFactoryArgument(text)).toThrow(FactoryArgumentError);
    expect(() => parseFactoryArgument(text)).toThrow(says);
    expect(() => parseFactoryArgument(text)).not.toThrow('hunter2');
  });
});
