/** Badges of a delivery, in the list and on its page. */
import { Badge } from '@mantine/core';
import { OutcomeBadge } from '../../components/feedback/states.tsx';
import { sizeText } from '../../components/text/time.tsx';
import type { Delivery } from './queries.ts';

export function Marks({ delivery }: { delivery: Delivery }) {
  return (
    <>
      <OutcomeBadge outcome={delivery.outcome} />
      <Count delivery={delivery} />
      <Resent delivery={delivery} />
    </>
  );
}

export function Count({ delivery: { count } }: { delivery: Delivery }) {
  return count > 1 ? (
    <Badge color="orange" title={`Stands for ${count} deliveries`}>
      ×{count.toLocaleString()}
    </Badge>
  ) : null;
}

export function Resent({ delivery: { resent_from: from } }: { delivery: Delivery }) {
  return from === undefined ? null : (
    <Badge color="grape" title="Stored bytes that somebody delivered again">
      Resent
    </Badge>
  );
}

/** `4.0 KiB`, `at least 4.0 KiB`. */
export function deliveredSize({ size, size_exact: isExact }: Pick<Delivery, 'size' | 'size_exact'>): string {
  return isExact ? sizeText(size) : `at least ${sizeText(size)}`;
}
