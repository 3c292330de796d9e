/** What tests of pages do again and again. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import type { Visit } from '../support/browser.ts';
import type { TestService } from '../support/service.ts';

type Place = Page | Locator;

export function press(within: Place, name: string): Promise<void> {
  return within.getByRole('button', { name, exact: true }).click();
}

/** The label of a field, with the star of one that has to be filled. */
export function labelled(label: string): RegExp {
  return new RegExp(`^${label}( \\*)?$`);
}

/** What stands beside a copy button. */
export async function shown(within: Place, what: string): Promise<string> {
  const button = within.getByRole('button', { name: `Copy ${what}`, exact: true });
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

/** A factory that is managed on the page; answers its UID. */
export async function factoryOf(mill: TestService, slug: string, name = slug): Promise<string> {
  return String((await mill.api('POST', '/factory', { slug, name, source: { kind: 'dashboard' } })).body['uid']);
}

/** Whether nothing is wider than the window. */
export function fits(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
}

/** Turns what follows of a line around, as a file name of malice would. */
export const HIDDEN = '\u202E';

/** What a command prints that is pasted into a shell and given these lines. */
export async function inShell(command: string, typed = ''): Promise<string> {
  const shell = spawn('sh', ['-c', command], { stdio: ['pipe', 'pipe', 'ignore'] });
  shell.stdin.end(typed);
  return text(shell.stdout);
}
