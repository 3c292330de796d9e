/** A provider's secret in the form, typed or generated: a generated one is shown once. */
import { useState } from 'react';
import { randomHex } from '../../../api/random.ts';

export interface SecretDraft {
  text: string;
  type: (text: string) => void;
  makeUp: () => void;
  forget: () => void;
  /** The secret to be shown: the generated one, else the one that was made up here. */
  shown: (generated: string | undefined) => { secret?: string };
}

/** 32 random bytes, as text that every provider takes. */
export function generatedSecret(): string {
  return randomHex(32);
}

export function useSecretDraft(): SecretDraft {
  const [{ text, isOurs }, setGiven] = useState({ text: '', isOurs: false });
  const type = (typed: string): void => setGiven({ text: typed, isOurs: false });
  return {
    text,
    type,
    makeUp: () => setGiven({ text: generatedSecret(), isOurs: true }),
    forget: () => type(''),
    shown(generated) {
      const secret = generated ?? (isOurs ? text : undefined);
      return secret === undefined ? {} : { secret };
    },
  };
}
