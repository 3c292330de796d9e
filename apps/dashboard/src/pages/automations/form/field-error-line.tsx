/** One thing that is wrong inside a text of the form, and where. */
import { Input } from '@mantine/core';
import { ForeignText } from '../../../components/text/untrusted-text.tsx';
import type { Fault } from './draft.ts';

export function FaultLine({ pointer, message }: Fault) {
  return (
    <Input.Error component="p" m={0}>
      {pointer !== '' && (
        <>
          <span className="mono">
            <ForeignText>{pointer}</ForeignText>
          </span>
          :{' '}
        </>
      )}
      <ForeignText>{message}</ForeignText>
    </Input.Error>
  );
}
