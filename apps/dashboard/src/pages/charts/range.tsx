/** How far back charts look; it stands in the address. */
import { SegmentedControl } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { DAY, SPANS, type Span } from '../../charts/spans.ts';
import { useAddress } from '../../components/use-address.ts';

export function useSpan(): Span {
  const [params] = useSearchParams();
  return SPANS.find(({ name }) => name === params.get('range')) ?? DAY;
}

export function RangePicker() {
  const [, choose] = useChoices();
  return (
    <SegmentedControl
      aria-label="Time"
      data={SPANS.map(({ name, label }) => ({ value: name, label }))}
      value={useSpan().name}
      onChange={(range) => choose('range', range)}
    />
  );
}

/** What is chosen in the address, and a way to choose; null takes a choice away. */
export function useChoices(): [
  of: (name: string) => string | null,
  choose: (name: string, value: string | null) => void,
] {
  const [params, setParams] = useAddress();
  const choose = (name: string, value: string | null): void => {
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  };
  return [(name) => params.get(name), choose];
}
