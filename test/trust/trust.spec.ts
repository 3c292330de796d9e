/**
 * How many faults of trust are found, and how often something is told that is in order: a corpus of small files, each
 * laid over the tree of `base`. The name of a planted one is the rule that it breaks. contract §8.5 (Trust).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkReferences, readDefinitions, RULES, type Problem } from '#definitions';
import { filesUnder } from '../support/factories/golden-tree.ts';

const here = dirname(fileURLToPath(import.meta.url));
const base = filesUnder(join(here, 'base'));
const WITHOUT_ERRORS = { today: '2026-11-23' };

/** Share of planted faults that are found, and of clean files that anything is said of. */
const FOUND_MIN = 0.95;
const FALSE_MAX = 0.02;

/** Where a file of the corpus stands, and what uses it there. */
const PLACES: Readonly<Record<string, { path: string; user?: string }>> = {
  'automation.md': { path: 'automations/case/automation.md' },
  'skill.md': { path: 'skills/case/SKILL.md', user: userOf('skill: case', 'Do the review.') },
  'environment.yaml': { path: 'environments/case.yaml', user: userOf('environmentId: case', 'Run the tests.') },
  'webhook.yaml': {
    path: 'webhooks/case.yaml',
    user: userOf('environmentId: release', 'Update the notes.', 'case'),
  },
  'factory.yaml': { path: 'factory.yaml', user: userOf('idleTimeoutMinutes: 5', 'Look into the failure.') },
};

function userOf(keys: string, prompt: string, webhook = 'ci'): string {
  const filter = `filter: {webhooks: [${webhook}], payload: {status: [failed]}}`;
  return `---\n${keys}\ntriggers:\n  - {provider: webhook, event: received, ${filter}}\n---\n${prompt}\n`;
}

const namesOf = (kind: string): string[] => readdirSync(join(here, kind)).sort();

function problemsOf(kind: string, name: string): Problem[] {
  const place = PLACES[/[^.]+\.[^.]+$/.exec(name)?.[0] ?? ''];
  if (place === undefined) throw new Error(`${name} stands nowhere`);
  const files = [
    ...base.filter(({ path }) => path !== place.path),
    { path: place.path, content: readFileSync(join(here, kind, name)) },
    ...(place.user === undefined ? [] : [{ path: 'automations/case/automation.md', content: Buffer.from(place.user) }]),
  ];
  return checkReferences(readDefinitions(files), WITHOUT_ERRORS).problems;
}

describe('the corpus of trust', () => {
  it('holds sixty files of either kind, without any error, and every rule that a file alone can break', () => {
    expect(namesOf('planted').length).toBeGreaterThanOrEqual(60);
    expect(namesOf('clean').length).toBeGreaterThanOrEqual(60);
    const errors = ['planted', 'clean'].flatMap((kind) =>
      namesOf(kind).flatMap((name) =>
        problemsOf(kind, name)
          .filter(({ severity }) => severity === 'error')
          .map(({ message }) => `${kind}/${name}: ${message}`),
      ),
    );
    expect(errors).toEqual([]);
    const planted = new Set(namesOf('planted').map((name) => name.split('--')[0]));
    const rules = Object.keys(RULES).filter((id) => /^trust-(?!acceptance-)/.test(id));
    expect(rules.length).toBeGreaterThanOrEqual(20);
    expect(rules.filter((rule) => !planted.has(rule))).toEqual([]);
  });

  it(`finds ${FOUND_MIN * 100} % of what is planted`, () => {
    const names = namesOf('planted');
    const missed = names.filter(
      (name) => !problemsOf('planted', name).some(({ rule }) => rule === name.split('--')[0]),
    );
    expect(1 - missed.length / names.length).toBeGreaterThanOrEqual(FOUND_MIN);
    expect(missed).toEqual([]);
  });

  it(`says something of at most ${FALSE_MAX * 100} % of what is in order`, () => {
    const names = namesOf('clean');
    const found = names.flatMap((name) => {
      const rules = problemsOf('clean', name).filter(({ rule }) => rule.startsWith('trust-'));
      return rules.length === 0
        ? []
        : [`${name}: ${rules.map(({ rule, message }) => `${rule}: ${message}`).join('; ')}`];
    });
    expect(found).toEqual([]);
    expect(found.length / names.length).toBeLessThanOrEqual(FALSE_MAX);
  });
});
