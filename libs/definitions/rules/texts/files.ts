/** What rules of trees and of YAML are for, with an example of what breaks each and of the way out. contract §8.1. */
import type { RuleText } from './rule-text.ts';

export const FILE_RULE_TEXTS = {
  'not-a-factory': {
    why:
      'Nothing in the folder is a definition file. Mostly it is the wrong folder: name the one that holds ' +
      'webhooks/ and automations/, or write a first one with "millwright init".',
  },
  'wrong-place': {
    why:
      'Each kind of file is read from one place only, in exactly this spelling. A file beside it would be ' +
      'committed, look right and never act. "millwright validate --fix" moves it.',
    wrong: 'webhook/orders.yml',
    right: 'webhooks/orders.yaml',
  },
  'bad-name': {
    why:
      'The name of a file or folder is the identity of what it defines: UIDs and URLs are made of it, so ' +
      'it has to be the same on every system.',
    wrong: 'webhooks/Orders_EU.yaml',
    right: 'webhooks/orders-eu.yaml',
  },
  'not-a-file': {
    why:
      'Links and submodules lead out of the commit that was reviewed. What they point to could change ' +
      'without a commit.',
  },
  'lfs-pointer': {
    why:
      'With Git LFS the commit holds a pointer, and the file itself lies on another server. Take the path ' +
      'out of .gitattributes, and add the file again.',
  },
  'file-too-large': {
    why:
      'The bound keeps the time of a pass short, whatever a commit holds. Long instructions belong into a ' +
      'skill, whose further files may be larger together.',
  },
  'skill-too-large': { why: 'All files of a skill are copied into each run that uses it.' },
  'too-many-files': {
    why:
      'The bound keeps the time of a pass short. Files beyond it are not read, in the order of their ' +
      'paths; use a second factory.',
  },
  'not-utf8': { why: 'Other encodings read differently on different systems. Save the file as UTF-8.' },
  'byte-order-mark': {
    why:
      'The mark is invisible, and becomes a part of the first key. Save the file as "UTF-8", not as "UTF-8 ' +
      'with BOM".',
  },
  'nul-character': { why: 'No text holds NUL. Mostly the file is UTF-16, or no text at all.' },
  'skill-missing': {
    why: 'A skill is what its SKILL.md says; the other files stand beside it.',
    wrong: 'skills/review/notes.md',
    right: 'skills/review/SKILL.md',
  },
  'yaml-syntax': {
    why:
      'The text is no YAML. Look at the line above too: an open quote, a tab in the indentation or a ' +
      'missing space behind a colon is found only later.',
    wrong: 'secretName:orders-hook',
    right: 'secretName: orders-hook',
  },
  'yaml-documents': { why: 'A second document would not be read. Give it a file of its own.' },
  'yaml-root': {
    why: 'A definition file is keys with their values.',
    wrong: '- secretName: orders-hook',
    right: 'secretName: orders-hook',
  },
  'yaml-anchor': {
    why:
      'A reader of one line shall know what it says. With anchors a change in one place changes others, ' +
      'and a small file can stand for gigabytes.',
    wrong: 'description: &d Orders\nsecretName: *d',
    right: 'description: Orders\nsecretName: orders-hook',
  },
  'yaml-tag': {
    why: 'Tags say types that no key here has.',
    wrong: 'secretName: !!str 12',
    right: "secretName: 'x12'",
  },
  'yaml-directive': { why: 'Files are YAML 1.2 without saying so.', wrong: '%YAML 1.1', right: '(nothing)' },
  'yaml-merge-key': {
    why: 'A merge key takes over keys that stand elsewhere; write them where they count.',
    wrong: '<<: *defaults',
    right: 'enabled: true',
  },
  'yaml-duplicate-key': {
    why: 'Of two equal keys programs take the first or the last, as they like.',
    wrong: 'enabled: true\nenabled: false',
    right: 'enabled: false',
  },
  'yaml-key-type': { why: 'A number, a list or nothing is no key.', wrong: '404: [a]', right: "'404': [a]" },
  'yaml-nesting': { why: 'No file needs to be so deep; the bound keeps hostile ones from exhausting the reader.' },
  'yaml-number': {
    why: 'A number beyond 2^53 is read as another one nearby. Identifiers are texts.',
    wrong: 'id: [12345678901234567890]',
    right: "id: ['12345678901234567890']",
  },
  'yaml-ambiguous': {
    why:
      'The value is a text in YAML 1.2 and something else in YAML 1.1, or for people. Values of a filter ' +
      'are compared with their type, so that the difference decides.',
    wrong: 'merged: [yes]',
    right: 'merged: [true]',
  },
  'duplicate-definition': {
    why: 'automations/x.md and automations/x/automation.md are two places of one automation; each could be meant.',
    wrong: 'automations/triage.md\nautomations/triage/automation.md',
    right: 'automations/triage/automation.md',
  },
  'unsupported-here': {
    why:
      'The key or file belongs to the hosted service, whose repositories can be used here. It is ignored, and the ' +
      'message says what is lost; remove it when nothing else reads it. One warning names all keys of a file.',
  },
} as const satisfies Readonly<Record<string, RuleText>>;
