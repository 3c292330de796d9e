/** What rules of payload filters are for, with an example of what breaks each and of the way out. contract §7. */
import type { RuleText } from './rule-text.ts';

export const FILTER_RULE_TEXTS = {
  'filter-not-object': {
    why: 'A filter mirrors the body: fields with what is asked of them.',
    wrong: 'payload: opened',
    right: 'payload: {action: [opened]}',
  },
  'filter-bare-scalar': {
    why: 'Allowed values are a list, also a single one: so it is the same to read with two.',
    wrong: 'action: opened',
    right: 'action: [opened]',
  },
  'filter-empty-nested': {
    why: 'An empty mapping asks nothing of the field.',
    wrong: 'build: {}',
    right: 'build: {exists: true}',
  },
  'filter-operators-mixed': {
    why: 'A mapping holds operators or fields. Beside an operator a field is mostly a misspelt operator.',
    wrong: 'status: {in: [open], notIn: [draft]}',
    right: 'status: {in: [open], not_in: [draft]}',
  },
  'filter-operator-value': {
    why: 'in and not_in take a list, exists takes true or false.',
    wrong: 'status: {in: [open], exists: yes}',
    right: 'status: {in: [open], exists: true}',
  },
  'filter-item-not-scalar': {
    why: 'Lists and mappings are not compared as a whole; ask for their members.',
    wrong: 'labels: [[bug]]',
    right: 'labels: [bug]',
  },
  'filter-number-inexact': {
    why: 'Beyond 2^53 two different numbers are read as the same one.',
    wrong: 'id: [9007199254740993]',
    right: "node_id: ['MDU6…']",
  },
  'filter-in-and-not-in': {
    why: 'A value that is wanted and not wanted meets no payload.',
    wrong: 'status: {in: [a], not_in: [a]}',
    right: 'status: {in: [a]}',
  },
  'filter-exists-false-with-in': {
    why: 'A field that is missing equals no value.',
    wrong: 'status: {exists: false, in: [a]}',
    right: 'status: {exists: false}',
  },
  'filter-too-deep': { why: 'No known sender nests deeper; the bound keeps each look into a body short.' },
  'filter-too-many-fields': {
    why: 'The bound keeps the work for each delivery small. Let the run decide, or split the automation.',
  },
  'filter-too-many-values': { why: 'A longer list is a table, and belongs to what the run does.' },
  'filter-never': { why: 'No value is in an empty list.', wrong: 'status: []', right: 'status: [open]' },
  'filter-always': {
    why: 'Every value is outside of an empty list.',
    wrong: 'status: {not_in: []}',
    right: 'status: {not_in: [draft]}',
  },
  'filter-near-operator': {
    why:
      'Names of fields are literal: {notIn: […]} asks for a field "notIn" of the payload. Where there is ' +
      'none, the automation never fires. Where there is one, write {"notIn": {"in": […]}}; that is not ' +
      'warned of. "millwright validate --fix" mends it. Operators of other filter languages (contains, regex, ' +
      'gt, or) are told of too: nothing here does what they do.',
    wrong: 'sender: {login: {notIn: [dependabot]}}',
    right: 'sender: {login: {not_in: [dependabot]}}',
  },
  'filter-literal-path': {
    why:
      'A dot, a slash or a bracket has no meaning in a name: {"pull_request.draft": […]} asks for one field of that ' +
      'name, which hardly any payload has, so that the automation never fires, and with not_in always. Where there ' +
      'is one, write {"a.b": {"in": […]}}, or two operators; that is not warned of.',
    wrong: 'pull_request.draft: [false]',
    right: 'pull_request: {draft: [false]}',
  },
  'filter-literal-pattern': {
    why:
      'Values are compared letter by letter, so that a filter costs the same for every body. A glob, a ' +
      'regular expression or ${{ … }} equals only itself.',
    wrong: "ref: ['refs/heads/release/*']",
    right: 'ref: {not_in: [refs/heads/main]}',
  },
} as const satisfies Readonly<Record<string, RuleText>>;
