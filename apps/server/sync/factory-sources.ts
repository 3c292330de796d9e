/**
 * Opens the sources of factories. What they share is one in a process, whoever reads: places of git processes, and what
 * is known of hosts that do not answer. contract §9.
 */
import { Inject, Injectable } from '@nestjs/common';
import type { Config } from '../config/config.ts';
import { CONFIG, TrustedFactories } from '../process/injection-tokens.ts';
import { SecretReader } from '../secrets/secret-reader.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { SOURCES } from './sources/registry.ts';
import type { Source, SourceOpener } from './sources/source.ts';

@Injectable()
export class FactorySourceOpener {
  private readonly opener: SourceOpener;

  constructor(
    @Inject(CONFIG) config: Config,
    secrets: SecretReader,
    private readonly trusted: TrustedFactories,
  ) {
    this.opener = SOURCES.opener({ config, secrets });
  }

  /** The caller closes it. */
  open(factory: Factory): Source {
    return this.opener(factory, this.isTrusted(factory));
  }

  /** Whether the operator named the factory on the command line, so that its source may be local. */
  isTrusted({ slug }: Factory): boolean {
    return this.trusted.isTrusted(slug);
  }
}
