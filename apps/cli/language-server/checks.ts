/**
 * When repositories are checked: shortly after the last change, one check of each at a time, and a check that is
 * overtaken by a change ends early. contract §11.11 (Language server).
 */
import { checkRepository, type Checked } from './repositories.ts';

/** How long nothing may have been typed before a check begins. */
export const QUIET_MS = 150;

export interface ChecksDeps {
  /** Texts of open editors, by their path below the root. */
  openTexts(root: string): ReadonlyMap<string, string>;
  /** Hears of each check that nothing has overtaken; undefined: the folder cannot be read, for this reason. */
  onChecked(root: string, checked: Checked | undefined, reason?: string): void;
}

interface State {
  /** Counts changes. */
  version: number;
  timer: NodeJS.Timeout | undefined;
  running: Promise<void> | undefined;
  latest: Checked | undefined;
  /** The change that `latest` has seen. */
  checkedVersion: number;
}

/** The checks of every repository of a workspace. */
export class Checks {
  private readonly states = new Map<string, State>();

  constructor(private readonly deps: ChecksDeps) {}

  /** Something of this repository has changed. */
  changed(root: string): void {
    const state = this.stateOf(root);
    state.version += 1;
    clearTimeout(state.timer);
    state.timer = setTimeout(() => void this.run(root, state), QUIET_MS);
  }

  /** What was said last, however old; undefined before the first check. */
  latest(root: string): Checked | undefined {
    return this.states.get(root)?.latest;
  }

  /** What is said of the texts as they are now. */
  async fresh(root: string): Promise<Checked | undefined> {
    const state = this.stateOf(root);
    if (state.checkedVersion !== state.version) {
      clearTimeout(state.timer);
      await this.run(root, state);
    }
    return state.latest;
  }

  /** Repositories that were checked, or are to be. */
  get roots(): readonly string[] {
    return [...this.states.keys()];
  }

  /** Nothing of this repository is of interest any more. */
  forget(root: string): void {
    const state = this.states.get(root);
    if (state === undefined) return;
    clearTimeout(state.timer);
    state.version += 1;
    this.states.delete(root);
  }

  private stateOf(root: string): State {
    const state = this.states.get(root) ?? {
      version: 1,
      timer: undefined,
      running: undefined,
      latest: undefined,
      checkedVersion: 0,
    };
    this.states.set(root, state);
    return state;
  }

  /** Checks until a check has seen every change; whoever comes meanwhile waits for the same. */
  private run(root: string, state: State): Promise<void> {
    state.running ??= this.checkUntilCurrent(root, state).finally(() => (state.running = undefined));
    return state.running;
  }

  private async checkUntilCurrent(root: string, state: State): Promise<void> {
    const isForgotten = (): boolean => this.states.get(root) !== state;
    while (state.checkedVersion !== state.version && !isForgotten()) {
      const { version } = state;
      const isStale = (): boolean => state.version !== version;
      try {
        const checked = await checkRepository(root, this.deps.openTexts(root), state.latest?.reading, isStale);
        if (checked === undefined || isForgotten()) continue;
        [state.latest, state.checkedVersion] = [checked, version];
        this.deps.onChecked(root, checked);
      } catch (cause) {
        [state.latest, state.checkedVersion] = [undefined, version];
        this.deps.onChecked(root, undefined, cause instanceof Error ? cause.message : 'unknown');
      }
    }
  }
}
