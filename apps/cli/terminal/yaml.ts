/** JSON values as YAML that no terminal obeys. contract §11.2. */
import { Document, Scalar, visit } from 'yaml';
import { escapedText, isUnprintable } from '../reports/report.ts';

/** One document; texts with characters that steer a terminal stand between double quotes, escaped. */
export function printableYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false, version: '1.2' });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && isUnprintable(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapedText(document.toString({ lineWidth: 0 }));
}
