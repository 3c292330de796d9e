/** `/factory-files`: definition files, before they are anybody's. */
import type { APIPromise } from '../answers.ts';
import type { FactoryFilesValidateRequest, FactoryFilesValidateResult, SchemaDocumentList } from '../models.ts';
import type { RequestOptions } from '../options.ts';
import { Resource } from '../resource.ts';

/** Checks of definition files, and their JSON Schemas. */
export class FactoryFiles extends Resource {
  /**
   * Checks definition files as `millwright validate` does; files with problems are an answer, no error:
   * `diagnostics` are errors, `warnings` the rest. Needs no role; 64 MiB of text at most.
   */
  validate(params: FactoryFilesValidateRequest, options?: RequestOptions): APIPromise<FactoryFilesValidateResult> {
    return this.client.call({
      method: 'POST',
      template: '/factory-files/validate',
      body: params,
      answer: 'FactoryFilesValidateResult',
      options,
    });
  }

  /** Lists the JSON Schemas of the definition files. Needs no role. */
  schemas(options?: RequestOptions): APIPromise<SchemaDocumentList> {
    return this.client.call({
      method: 'GET',
      template: '/factory-files/schemas',
      answer: 'SchemaDocumentList',
      options,
    });
  }

  /**
   * Gets one JSON Schema: `factory`, `webhook`, `automation`, `environment` or `agent`. Needs no role. Throws
   * NotFoundError (404) for another name.
   */
  schema(document: string, options?: RequestOptions): APIPromise<Record<string, unknown>> {
    return this.client.call({
      method: 'GET',
      template: '/factory-files/schemas/{document}',
      path: { document },
      answer: 'unchecked',
      options,
    });
  }
}
