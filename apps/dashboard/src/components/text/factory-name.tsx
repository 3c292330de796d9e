/** A factory by its UID, as people call it. */
import { useFactoryName } from '../../api/factories.ts';
import { ForeignText } from './untrusted-text.tsx';

export function FactoryName({ uid }: { uid: string }) {
  return <ForeignText>{useFactoryName(uid) ?? uid}</ForeignText>;
}
