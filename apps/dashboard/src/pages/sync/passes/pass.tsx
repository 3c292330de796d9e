/** One pass. */
import { useParams } from 'react-router';
import { QueryView } from '../../../components/feedback/query-view.tsx';
import { PageTitle } from '../../../components/page-title.tsx';
import { useFactory } from '../../factories/frame.tsx';
import { EndingBadge, PassView } from './pass-view.tsx';
import { useSync } from '../queries.ts';
import { shortRevision } from '../../../components/text/revision.ts';

export function SyncPassPage() {
  const { uid } = useFactory();
  const { syncId = '' } = useParams();
  return (
    <QueryView query={useSync(uid, syncId)}>
      {(sync) => (
        <>
          <PageTitle
            above={[
              { label: 'Sync', to: `/factories/${uid}/sync` },
              { label: 'History', to: `/factories/${uid}/sync/history` },
            ]}
            aside={<EndingBadge ending={sync.ending} />}
          >
            {`Pass ${sync.revision === null ? 'without a revision' : `over ${shortRevision(sync.revision)}`}`}
          </PageTitle>
          <PassView factoryUid={uid} sync={sync} />
        </>
      )}
    </QueryView>
  );
}
