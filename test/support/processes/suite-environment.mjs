/**
 * What suites run in: Jest's environment of Node.js, and, behind a build, a door to bundled modules outside of the
 * suite's own registry. They are loaded once for all suites of a process, where the registry compiles each module for
 * each suite.
 */
import { TestEnvironment } from 'jest-environment-node';

const BUILD = new URL('../../../dist/programs/', import.meta.url);

export default class SuiteEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    if (process.env.SUITES_ON_BUILD === '1') this.global.importBuilt = (path) => import(new URL(path, BUILD).href);
  }
}
