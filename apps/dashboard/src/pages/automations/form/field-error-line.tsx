/** One validation error inside a text of the form, with its position. */
import { Input } from '@mantine/core';
import { UntrustedText } from '../../../components/text/untrusted-text.tsx';
import type { FieldError } from './draft.ts';

export function FieldErrorLine({ pointer, message }: FieldError) {
  return (
    <Input.Error component="p" m={0}>
      {pointer !== '' && (
        <>
          <span className="mono">
            <UntrustedText>{pointer}</UntrustedText>
          </span>
          :{' '}
        </>
      )}
      <UntrustedText>{message}</UntrustedText>
    </Input.Error>
  );
}
