/** Every kind of forge by its name. contract §9.9 (Feedback in pull requests). */
import type { ForgeKind } from '../addresses.ts';
import type { ForgeDialect } from './dialect.ts';
import { giteaDialect } from './gitea.ts';
import { githubDialect } from './github.ts';
import { gitlabDialect } from './gitlab.ts';

export const FORGE_DIALECTS: Readonly<Record<ForgeKind, ForgeDialect>> = {
  github: githubDialect,
  gitlab: gitlabDialect,
  gitea: giteaDialect,
};
