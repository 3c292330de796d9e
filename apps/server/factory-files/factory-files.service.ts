/** Definition files without a factory: their checks, as on the command line, and their schemas. contract §4.1, §8. */
import { Inject, Injectable } from '@nestjs/common';
import {
  isSchemaDocumentName,
  SCHEMA_DOCUMENTS,
  SCHEMA_VERSION,
  type FactoryFilesValidateRequest,
  type FactoryFilesValidateResult,
  type SchemaDocumentList,
  type SchemaDocumentName,
} from '#contracts';
import { checkReferences, hasErrors, toTree, withExcerpts, type KnownFacts, type SecretFacts } from '#definitions';
import { toDiagnostic } from '../factories/factories.items.ts';
import { notFound } from '../http/error-codes.ts';
import { readDefinitionsYielding } from '../sync/reconcile-input.ts';
import { entityTagOf } from '../http/conditional-requests.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';

/** One schema, ready to be sent. */
export interface SchemaDocument {
  text: string;
  etag: string;
}

@Injectable()
export class FactoryFileService {
  private readonly documents = new Map<SchemaDocumentName, SchemaDocument>();

  constructor(@Inject(CONFIG) private readonly config: Config) {
    for (const [name, schema] of Object.entries(SCHEMA_DOCUMENTS)) {
      const text = `${JSON.stringify(schema, null, 2)}\n`;
      this.documents.set(name as SchemaDocumentName, { text, etag: entityTagOf(text) });
    }
  }

  /** Every problem of a tree, and the checks that nobody can run who knows no factory. */
  async validate({ files, secrets }: FactoryFilesValidateRequest): Promise<FactoryFilesValidateResult> {
    const reading = await readDefinitionsYielding(toTree(files));
    const { problems, notRun } = checkReferences(reading, secrets === undefined ? {} : namedSecrets(secrets));
    return {
      valid: !hasErrors(problems),
      schema_version: SCHEMA_VERSION,
      diagnostics: withExcerpts(problems, reading).map(toDiagnostic),
      state_dependent_checks_not_run: notRun,
    };
  }

  list(): SchemaDocumentList {
    const schemas = [...this.documents].map(([name, { etag }]) => ({
      name,
      etag,
      url: `${this.config.publicUrl}/api/v1/factory-files/schemas/${name}`,
      description: (SCHEMA_DOCUMENTS[name] as { description?: string }).description ?? '',
    }));
    return { schema_version: SCHEMA_VERSION, schemas };
  }

  /** Throws 404 for a name that is none. */
  document(name: string): SchemaDocument {
    const document = isSchemaDocumentName(name) ? this.documents.get(name) : undefined;
    if (document === undefined) throw notFound('the schema');
    return document;
  }
}

/** Facts from a list of names: that secrets exist, not whether they are set or usable. */
function namedSecrets(names: readonly string[]): KnownFacts {
  return {
    webhookSecrets: new Map<string, SecretFacts>(names.map((name) => [name, { name, set: true }])),
    runSecrets: new Set(names),
  };
}
