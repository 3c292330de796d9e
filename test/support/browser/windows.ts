/**
 * Browser windows that are used again: a new one fetches and reads the whole page anew, which takes longer than most
 * tests.
 */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { visit, type Visit } from './browser.ts';
import type { TestService } from '../services/service.ts';

const DESK = { width: 1280, height: 900 };

export interface WindowOptions extends Pick<BrowserContextOptions, 'colorScheme' | 'viewport'> {
  /** Whose window it is; the first admin's if not said. */
  key?: string;
}

export class Windows {
  private readonly browser: Browser;
  private readonly service: TestService;
  private readonly free: Visit[] = [];

  constructor(browser: Browser, service: TestService) {
    [this.browser, this.service] = [browser, service];
  }

  /** A window at a path, signed in. Closing it gives it back, for whoever asks next. */
  async open(
    path: string,
    { key = this.service.adminKey, viewport = DESK, colorScheme = 'light' }: WindowOptions = {},
  ): Promise<Visit> {
    const window = this.free.pop() ?? (await visit(this.browser, this.service));
    const { page, faults } = window;
    await page.setViewportSize(viewport ?? DESK);
    await page.emulateMedia({ colorScheme });
    await page.context().clearCookies();
    const answer = await page.context().request.post(`${this.service.url}/api/v1/session`, {
      data: { api_key: key },
      headers: { origin: this.service.url },
    });
    if (!answer.ok()) throw new Error(`the sign-in was refused: ${answer.status()}`);
    await page.goto(this.service.url + path);
    const close = async (): Promise<void> => {
      await page.goto('about:blank');
      faults.length = 0;
      this.free.push(window);
    };
    return { page, faults, close };
  }
}
