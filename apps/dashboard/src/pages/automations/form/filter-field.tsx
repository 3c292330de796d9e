/** A payload filter of the form: its editor, its errors, and tests of it. */
import { Button, Group, Input, Stack } from '@mantine/core';
import { lazy, Suspense, useId, useMemo, useState } from 'react';
import { Loading } from '../../../components/lists/empty.tsx';
import { useSamplePayloads } from '../../../api/automations.ts';
import type { FieldError } from './draft.ts';
import { FieldErrorLine } from './field-error-line.tsx';
import { FilterTests } from '../filter-tests/filter-tests.tsx';

const FilterEditor = lazy(() => import('../../../editor/filter-editor.tsx'));

interface FilterFieldProps {
  factoryUid: string;
  webhookUids: readonly string[];
  value: string;
  /** Absent where nobody may change it. */
  onChange?: (value: string) => void;
  /** Names it to screen readers. */
  label: string;
  /** What the server said of it, by pointers into the filter. */
  faults?: readonly FieldError[];
}

const NO_FAULTS: readonly FieldError[] = [];

export function FilterField({ factoryUid, webhookUids, value, onChange, label, faults = NO_FAULTS }: FilterFieldProps) {
  const [isTrying, setTrying] = useState(false);
  // The key that failed, and the text for which it did.
  const [failing, setFailing] = useState<{ pointer: string; of: string }>();
  const samples = useSamplePayloads(factoryUid, webhookUids);
  const errorId = useId();
  const marks = useMemo(
    () => [
      ...faults.map((fault) => ({ ...fault, severity: 'error' as const })),
      ...(failing?.of === value
        ? [{ pointer: failing.pointer, message: 'The tested delivery fails here.', severity: 'warning' as const }]
        : []),
    ],
    [faults, failing, value],
  );
  return (
    <Stack gap={6}>
      <Input.Label component="div">Payload filter</Input.Label>
      <Input.Description>
        {onChange === undefined
          ? ''
          : 'JSON that mirrors the body: {"status": ["failed"]}. Every key must match; without a filter every ' +
            'delivery does.'}
      </Input.Description>
      <Suspense fallback={<Loading />}>
        <FilterEditor
          label={label}
          value={value}
          onChange={onChange}
          readOnly={onChange === undefined}
          marks={marks}
          specimens={samples}
          describedBy={errorId}
          isInvalid={faults.length > 0}
        />
      </Suspense>
      <div id={errorId}>
        {faults.map(({ pointer, message }) => (
          <FieldErrorLine key={`${pointer} ${message}`} pointer={pointer} message={withoutPlace(message)} />
        ))}
      </div>
      <Group>
        <Button
          variant="default"
          size="xs"
          aria-expanded={isTrying}
          disabled={webhookUids.length === 0}
          onClick={() => setTrying(!isTrying)}
        >
          {isTrying ? 'Close the test' : 'Test filter…'}
        </Button>
      </Group>
      {isTrying && webhookUids.length > 0 && (
        <FilterTests
          factoryUid={factoryUid}
          webhookUids={webhookUids}
          filter={value}
          onFilter={onChange}
          onFailing={(pointer) => setFailing(pointer === undefined ? undefined : { pointer, of: value })}
        />
      )}
    </Stack>
  );
}

/** The server names the place from the root of the request; here it stands at its field. */
function withoutPlace(message: string): string {
  return message.replace(/^triggers\[\d+\]\.payload[^:]*: /, '');
}
