/** Definition files without a factory: their checks, as on the command line, and their schemas. contract §4.1, §8. */
import { Inject, Injectable } from '@nestjs/common';
import {
  EDITOR_DOCUMENTS,
  HOSTED_SCHEMA_VERSION,
  isSchemaDocumentName,
  SCHEMA_VERSION,
  type Diagnostic,
  type FactoryFilesValidateRequest,
  type FactoryFilesValidateResult,
  type SchemaDocumentList,
  type SchemaDocumentName,
} from '#contracts';
import {
  checkReferences,
  deferredResolutions,
  hasErrors,
  withoutUnsent,
  toTree,
  withExcerpts,
  type KnownFacts,
  type SecretFacts,
} from '#definitions';
import { toDiagnostic } from '../factories/factories.items.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import { dayOf, readDefinitionsYielding } from '../sync/reconcile-input.ts';
import { entityTagOf } from '../http/conditional-requests.ts';
import { CONFIG, Clock } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';

/** Checks of files without a key at once: they take turns with everything else, and strangers have few. */
const OPEN_CHECKS_MAX = 4;

/** What the hosted service calls a document by: the name of a file. */
const DOCUMENT_FILE_ENDING = '.schema.json';

/** One schema, ready to be sent. */
export interface SchemaDocument {
  text: string;
  etag: string;
}

@Injectable()
export class FactoryFileService {
  private readonly documents = new Map<SchemaDocumentName, SchemaDocument>();
  private readonly version = toDocument({
    schema_version: HOSTED_SCHEMA_VERSION,
    documents: Object.fromEntries(
      Object.entries(EDITOR_DOCUMENTS).map(([name, schema]) => [name + DOCUMENT_FILE_ENDING, schema]),
    ),
  });
  /** Checks for who has no key that are under way. */
  private open = 0;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
  ) {
    for (const [name, schema] of Object.entries(EDITOR_DOCUMENTS))
      this.documents.set(name as SchemaDocumentName, toDocument(schema));
  }

  /**
   * Every problem of a tree, and the checks that nobody can run who knows no factory. `mayBePart`: folders may have
   * been left out.
   */
  async validate(
    { files, secrets }: FactoryFilesValidateRequest,
    mayBePart = false,
  ): Promise<FactoryFilesValidateResult> {
    const reading = await readDefinitionsYielding(toTree(files));
    const { problems: found, notRun } = checkReferences(reading, {
      ...(secrets === undefined ? {} : namedSecrets(secrets)),
      today: dayOf(this.clock.nowMs()),
    });
    const { problems, deferred } = mayBePart
      ? withoutUnsent(
          found,
          files.map(({ path }) => path),
        )
      : { problems: found, deferred: [] };
    return {
      valid: !hasErrors(problems),
      schema_version: HOSTED_SCHEMA_VERSION,
      ...divided(withExcerpts(problems, reading).map(toDiagnostic)),
      deferred_resolutions: [...deferredResolutions(reading, secrets !== undefined), ...deferred],
      state_dependent_checks_not_run: notRun,
      validation_scope: { parser: 'checked', state_independent: 'checked', state_dependent: 'not_checked' },
    };
  }

  /** The same for who has no key, a few at once. Throws 503 while there are more. */
  async validateOpenly(request: FactoryFilesValidateRequest): Promise<FactoryFilesValidateResult> {
    if (this.open >= OPEN_CHECKS_MAX)
      throw new RefusalError('resource_unavailable', 'too many files are being checked without a key at once', {
        retryAfterSeconds: 1,
      });
    this.open += 1;
    try {
      return await this.validate(request, true);
    } finally {
      this.open -= 1;
    }
  }

  list(): SchemaDocumentList {
    const version = `${this.config.publicUrl}/api/v1/factory-files/schemas/${HOSTED_SCHEMA_VERSION}`;
    const schemas = [...this.documents].map(([name, { etag }]) => ({
      name,
      etag,
      url: `${this.config.publicUrl}/api/v1/factory-files/schemas/${name}`,
      description: (EDITOR_DOCUMENTS[name] as { description?: string }).description ?? '',
    }));
    return {
      schema_version: SCHEMA_VERSION,
      schemas,
      current_version: HOSTED_SCHEMA_VERSION,
      versions: [{ schema_version: HOSTED_SCHEMA_VERSION, schema_url: new URL(version).pathname }],
    };
  }

  /** Every document of the hosted format's version, or one by its name. Throws 404 for a name that is neither. */
  versionOrDocument(name: string): SchemaDocument {
    return name === HOSTED_SCHEMA_VERSION ? this.version : this.document(name);
  }

  /** By its name or its file's, which is what its `$id` says. Throws 404 for another version and for any other name. */
  versionedDocument(version: string, name: string): SchemaDocument {
    if (version !== HOSTED_SCHEMA_VERSION) throw notFound('the version of the schemas');
    return this.document(name.endsWith(DOCUMENT_FILE_ENDING) ? name.slice(0, -DOCUMENT_FILE_ENDING.length) : name);
  }

  /** Throws 404 for a name that is none. */
  document(name: string): SchemaDocument {
    const document = isSchemaDocumentName(name) ? this.documents.get(name) : undefined;
    if (document === undefined) throw notFound('the schema');
    return document;
  }
}

function toDocument(schema: object): SchemaDocument {
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  return { text, etag: entityTagOf(text) };
}

/** Published scripts take every diagnostic for an error: warnings stand apart. */
function divided(found: readonly Diagnostic[]): Pick<FactoryFilesValidateResult, 'diagnostics' | 'warnings'> {
  return {
    diagnostics: found.filter(({ severity }) => severity === 'error'),
    warnings: found.filter(({ severity }) => severity === 'warning'),
  };
}

/** Facts from a list of names: that secrets exist, not whether they are set or usable. */
function namedSecrets(names: readonly string[]): KnownFacts {
  return {
    webhookSecrets: new Map<string, SecretFacts>(names.map((name) => [name, { name, set: true }])),
    runSecrets: new Set(names),
  };
}
