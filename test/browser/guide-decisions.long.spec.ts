/** Every decision of the built guide in a browser. */
import type { Browser } from 'playwright-core';
import { launch, visit, type Visit } from '../support/browser/browser.ts';
import { ADDRESSES, describeGuide, expectShown, isDecision } from '../support/guide/guide-in-browser.ts';
import { bootService, type TestService } from '../support/services/service.ts';

describeGuide('a decision in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let window: Visit;

  beforeAll(async () => {
    service = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    browser = await launch();
    window = await visit(browser, service, '/docs/guide/');
  });
  afterAll(async () => {
    await window.close();
    await browser.close();
    await service.stop();
  });

  it.each(ADDRESSES.filter(isDecision))('is shown without a fault: /docs/guide/%s', (address) =>
    expectShown(window, service, address),
  );
});
