/** A factory's own secrets, and what it uses of the team's. */
import { useMay } from '../../api/session.tsx';
import { useFactory } from '../factories/frame.tsx';
import { SecretList } from './list.tsx';
import { TeamsHere } from './teams-here.tsx';

export function FactorySecretsPage() {
  const { uid } = useFactory();
  const mayManage = useMay('manager');
  return (
    <>
      <SecretList
        key={uid}
        title="Secrets"
        owner={uid}
        mayManage={mayManage}
        hint="Secrets of this factory alone. Where a secret of the team has the same name, this one is used here."
        empty="No secrets of its own yet"
      />
      {mayManage && <TeamsHere factoryUid={uid} />}
    </>
  );
}
