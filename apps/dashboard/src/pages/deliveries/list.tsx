/** The delivery log of a webhook, with the filter in the address. */
import { Button, Chip, Group, Title } from '@mantine/core';
import { useSearchParams } from 'react-router';
import type { Api } from '../../api/client.ts';
import { Empty } from '../../components/lists/empty.tsx';
import { OUTCOMES, type Outcome } from './queries.ts';
import { FirstDelivery } from './first-delivery.tsx';
import { DeliveryTable } from './table.tsx';

const FILTER = 'outcome';

export function DeliveryList({ factoryUid, webhook }: { factoryUid: string; webhook: Api<'Webhook'> }) {
  const [search, setSearch] = useSearchParams();
  const wanted = search.getAll(FILTER);
  const outcomes = OUTCOMES.filter((outcome) => wanted.includes(outcome));
  const choose = (chosen: readonly string[]): void => {
    setSearch(
      (now) => {
        now.delete(FILTER);
        for (const outcome of chosen) now.append(FILTER, outcome);
        return now;
      },
      { replace: true },
    );
  };
  const empty =
    outcomes.length === 0 ? (
      <FirstDelivery webhook={webhook} />
    ) : (
      <Empty title="No delivery that is kept has such an outcome">
        <Button size="xs" variant="default" onClick={() => choose([])}>
          Show all
        </Button>
      </Empty>
    );
  return (
    <section aria-labelledby="deliveries">
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2} size="h4" id="deliveries">
          Deliveries
        </Title>
        <OutcomeFilter chosen={outcomes} onChange={choose} />
      </Group>
      {/* Another question is another list. */}
      <DeliveryTable
        key={`${webhook.uid} ${outcomes.join()}`}
        query={{ factoryUid, webhookUid: webhook.uid, outcomes }}
        empty={empty}
      />
    </section>
  );
}

function OutcomeFilter({
  chosen,
  onChange,
}: {
  chosen: readonly Outcome[];
  onChange: (chosen: readonly string[]) => void;
}) {
  return (
    <Group gap={6} role="group" aria-label="Outcomes to show">
      <Chip.Group multiple value={[...chosen]} onChange={onChange}>
        {OUTCOMES.map((outcome) => (
          <Chip key={outcome} value={outcome} size="xs">
            {outcome}
          </Chip>
        ))}
      </Chip.Group>
    </Group>
  );
}
