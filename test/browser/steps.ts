/** What tests of pages do again and again. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { PATIENCE_MS, type Visit } from '../support/browser/browser.ts';
import { eventually as within, type TestService } from '../support/services/service.ts';

type Place = Page | Locator;

/** Waits until a condition of a page holds, as patiently as for everything else on it. */
export function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  return within(what, look, timeoutMs);
}

export function press(place: Place, name: string): Promise<void> {
  return place.getByRole('button', { name, exact: true }).click();
}

/** The label of a field, with the star of one that has to be filled. */
export function labelled(label: string): RegExp {
  return new RegExp(`^${label}( \\*)?$`);
}

/** What stands beside a copy button. */
export async function shown(place: Place, what: string): Promise<string> {
  const button = place.getByRole('button', { name: `Copy ${what}`, exact: true });
  return (await button.locator('xpath=preceding-sibling::*').first().innerText()).trim();
}

export async function closed(...visits: Visit[]): Promise<void> {
  for (const { faults, close } of visits) {
    expect(faults).toEqual([]);
    await close();
  }
}

/** Name of what has the keyboard. */
export function focused(page: Page): Promise<string> {
  return page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.innerText');
}

/** Waits until what is called so has the keyboard: it comes back a moment after a dialog has gone. */
export async function hasKeyboard(page: Page, name: string): Promise<void> {
  await eventually(`${name} has the keyboard`, async () => (await focused(page)) === name);
}

/** Waits until there are so many. */
export async function hasCount(found: Locator, count: number): Promise<void> {
  await eventually(`${count} of ${String(found)}`, async () => (await found.count()) === count);
}

/** Waits for a text, where it may be another one first; white space counts as one space. */
export async function says(place: Locator, words: string | RegExp): Promise<void> {
  let text = '';
  const isSaid = async (): Promise<boolean> => {
    text = (await place.innerText()).replaceAll(/\s+/g, ' ').trim();
    return typeof words === 'string' ? text.includes(words) : words.test(text);
  };
  await eventually(`${String(place)} says ${String(words)}`, isSaid).catch((cause: unknown) => {
    throw new Error(`it says: ${text}`, { cause });
  });
}

/** Closes a dialog by the keyboard once it has the keyboard: before that, Escape goes to nobody. */
export async function escape(page: Page, dialog: Locator): Promise<void> {
  await dialog.locator(':focus').waitFor({ state: 'attached' });
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

/** A factory that is managed on the page; answers its UID. */
export async function factoryOf(mill: TestService, slug: string, name = slug): Promise<string> {
  return String((await mill.api('POST', '/factory', { slug, name, source: { kind: 'dashboard' } })).body['uid']);
}

/** Waits until nothing is wider than the window: what a phone has no room for takes a moment to go. */
export async function fits(page: Page): Promise<void> {
  // Frames are asked for, so that what moves does move on.
  await eventually('nothing stands out of the window', () =>
    page.evaluate<boolean>(`new Promise((tell) => {
    const look = () => tell(document.documentElement.scrollWidth <= document.documentElement.clientWidth);
    requestAnimationFrame(look);
    setTimeout(look, 500);
  })`),
  );
}

/** Turns what follows of a line around, as a file name of malice would. */
export const HIDDEN = '\u202E';

/** What a command prints that is pasted into a shell and given these lines. */
export async function inShell(command: string, typed = ''): Promise<string> {
  const shell = spawn('sh', ['-c', command], { stdio: ['pipe', 'pipe', 'ignore'] });
  shell.stdin.end(typed);
  return text(shell.stdout);
}
