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

/**
 * Files that were written from what is publicly known of attacks on agents, before their author had seen any rule: what
 * has to be said of the planted ones. The rules found 17 of these 20 before they had seen the files, and spoke of 3 of
 * the 20 clean ones.
 */
const INDEPENDENT: Readonly<Record<string, string>> = {
  '01-fixes-any-issue': 'trust-exposed-run',
  '02-builds-forks': 'trust-exposed-run',
  '03-slash-command': 'trust-unfiltered-authors',
  '04-command-from-payload': 'trust-payload-in-command',
  '05-title-of-the-issue': 'trust-payload-in-title',
  '06-contact-form': 'trust-no-budget',
  '07-foreign-skill': 'trust-moving-skill',
  '08-latest-image': 'trust-moving-image',
  '09-piped-installer': 'trust-piped-download',
  '10-npx-server': 'trust-moving-tool',
  '11-all-tools': 'trust-mcp-all-tools',
  '12-comment-that-orders': 'trust-hidden-comment',
  '13-smuggled-letters': 'trust-invisible-text',
  '14-turned-letters': 'trust-bidi-text',
  '15-keys-nobody-needs': 'trust-secret-unused',
  '16-half-the-internet': 'trust-wide-network',
  '17-notes-of-anybody': 'trust-public-push',
  '18-keys-for-everybody': 'trust-secret-unused',
  '19-obeys-the-ticket': 'trust-payload-as-instructions',
  '20-packed-command': 'trust-encoded-text',
};
/** Anybody who had a change merged is a CONTRIBUTOR: the rule insists, though this run has nothing to lose. */
const DISPUTED = ['13-warned-agent.automation.md'];

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

function problemsOfKind(kind: string, isMeant: (problem: Problem) => boolean): [name: string, message: string][] {
  return namesOf(kind).flatMap((name) =>
    problemsOf(kind, name)
      .filter(isMeant)
      .map(({ message }): [string, string] => [name, message]),
  );
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
  });

  it('finds what others have planted', () => {
    const names = namesOf('independent/planted');
    expect(names.map((name) => name.split('.')[0])).toEqual(Object.keys(INDEPENDENT));
    const missed = names.filter(
      (name) =>
        !problemsOf('independent/planted', name).some(({ rule }) => rule === INDEPENDENT[name.split('.')[0] ?? '']),
    );
    expect(missed).toEqual([]);
    expect(problemsOfKind('independent/planted', ({ severity }) => severity === 'error')).toEqual([]);
  });

  it(`says something of at most ${FALSE_MAX * 100} % of all that is in order`, () => {
    const names = [...namesOf('clean'), ...namesOf('independent/clean')];
    const found = problemsOfKind('independent/clean', ({ rule }) => rule.startsWith('trust-'));
    expect(problemsOfKind('independent/clean', ({ severity }) => severity === 'error')).toEqual([]);
    expect([...new Set(found.map(([name]) => name))]).toEqual(DISPUTED);
    expect(DISPUTED.length / names.length).toBeLessThanOrEqual(FALSE_MAX);
  });
});
