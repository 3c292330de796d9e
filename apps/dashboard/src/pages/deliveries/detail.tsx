/** Everything that is known of one delivery. */
import { Alert, Anchor, Stack, Title } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { useMay } from '../../api/session.tsx';
import { Copyable } from '../../components/text/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Loading } from '../../components/lists/empty.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemAlert } from '../../components/feedback/problem-alert.tsx';
import { RevisionText } from '../../components/text/revision-text.tsx';
import { Time } from '../../components/text/time.tsx';
import { useFactory } from '../factories/frame.tsx';
import { useWebhook } from '../../api/webhooks.ts';
import { isGone, useDelivery, useResends, type Delivery, type EntryPlace } from './queries.ts';
import { Decided } from './started-runs.tsx';
import { Explained } from './explanation.tsx';
import { deliveredSize, Marks } from './marks.tsx';
import { PayloadView } from './payload.tsx';
import { Refusal } from './refusal.tsx';
import { ResendButton } from './resend.tsx';
import { ResendLinks } from './resend-links.tsx';

export function DeliveryPage() {
  const { webhookUid = '', entryId = '' } = useParams();
  const { uid: factoryUid } = useFactory();
  const place = { factoryUid, webhookUid, entryId };
  const { data: webhook } = useWebhook(factoryUid, webhookUid);
  const { data: delivery, error } = useDelivery(place);
  const base = `/factories/${factoryUid}/webhooks`;
  const mayResend = useMay('operator') && delivery?.outcome === 'Accepted' && !isGone(error);
  return (
    <>
      <PageTitle
        above={[
          { label: 'Webhooks', to: base },
          { label: webhook?.name ?? webhookUid, to: `${base}/${webhookUid}` },
        ]}
        aside={delivery && <Marks delivery={delivery} />}
        actions={mayResend ? <ResendButton key={entryId} place={place} /> : undefined}
      >
        Delivery
      </PageTitle>
      <div role="status">{delivery !== undefined && isGone(error) && <Pruned />}</div>
      <Seen place={place} delivery={delivery} error={error} />
    </>
  );
}

function isRefused({ outcome }: Delivery): boolean {
  return outcome !== 'Accepted' && outcome !== 'Duplicate';
}

/** What was seen stays, also when the entry is gone. */
function Seen({ place, delivery, error }: { place: EntryPlace; delivery: Delivery | undefined; error: unknown }) {
  if (delivery === undefined) return <NotSeen place={place} error={error} />;
  return (
    <Stack gap="lg">
      {error !== null && !isGone(error) && <ProblemAlert error={error} />}
      <What delivery={delivery} place={place} />
      {isRefused(delivery) && <Refusal delivery={delivery} />}
      {delivery.outcome === 'Duplicate' && (
        <Alert color="gray" title="It was here before">
          A delivery with the same identity was accepted already, so that this one started nothing. Its bytes were not
          kept.
        </Alert>
      )}
      {delivery.outcome === 'Accepted' && <Decided factoryUid={place.factoryUid} delivery={delivery} />}
      {delivery.count === 1 && delivery.outcome !== 'Throttled' && <Explained key={place.entryId} place={place} />}
      {delivery.outcome === 'Accepted' && (
        <section aria-labelledby="payload">
          <Title order={2} size="h4" id="payload" mb="xs">
            Payload
          </Title>
          <PayloadView key={place.entryId} {...place} />
        </section>
      )}
    </Stack>
  );
}

function Pruned() {
  return (
    <Alert color="orange" mb="lg" title="This delivery was pruned">
      It is not in the log any more: it was removed as an old one, or its webhook was deleted. What you see is what was
      there.
    </Alert>
  );
}

function NotSeen({ place: { factoryUid, webhookUid }, error }: { place: EntryPlace; error: unknown }) {
  if (error === null) return <Loading />;
  if (!isGone(error)) return <ProblemAlert error={error} />;
  return (
    <Alert color="orange" role="alert" title="There is no such delivery">
      The log keeps at least the latest 50 deliveries and those of the last 7 days; older ones are pruned.{' '}
      <Anchor component={Link} to={`/factories/${factoryUid}/webhooks/${webhookUid}`} size="sm">
        The deliveries that are kept
      </Anchor>
    </Alert>
  );
}

function What({ delivery, place }: { delivery: Delivery; place: EntryPlace }) {
  const {
    delivery_id: id,
    entry_id: entryId,
    received_at: at,
    client_address: address,
    revision,
    count,
    resent_from: from,
  } = delivery;
  const { data: resends = [] } = useResends(place, delivery);
  return (
    <Facts
      facts={[
        [
          'Received',
          <span key="at">
            <Time at={at} /> (<Time at={at} as="ago" />)
          </span>,
        ],
        ['Delivery ID', <Copyable key={id} value={id} what="the delivery ID" />],
        ['Size', deliveredSize(delivery)],
        [
          'Client address',
          address === '' ? (
            'not known'
          ) : (
            <span key="address" className="mono foreign">
              {address}
            </span>
          ),
        ],
        [
          'Judged by revision',
          <RevisionText key={revision} factoryUid={place.factoryUid} revision={revision} what="the revision" />,
        ],
        ['Log entry', <Copyable key={entryId} value={entryId} what="the entry’s ID" />],
        count > 1 && ['Stands for', `${count.toLocaleString()} deliveries`],
        (from !== undefined || resends.length > 0) && [
          'Delivered again',
          <ResendLinks key="resends" from={from} resends={resends} place={place} />,
        ],
      ]}
    />
  );
}
