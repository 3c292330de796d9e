/** A factory by its UID, as people call it. */
import { useFactoryName } from '../../api/factories.ts';
import { UntrustedText } from './untrusted-text.tsx';

export function FactoryName({ uid }: { uid: string }) {
  return <UntrustedText>{useFactoryName(uid) ?? uid}</UntrustedText>;
}
