/** The team's secrets: for any factory that they are granted to. */
import { useMay } from '../../api/session.tsx';
import { SecretList } from './list.tsx';

export function TeamSecretsPage() {
  return (
    <SecretList
      title="Team secrets"
      owner={undefined}
      mayManage={useMay('admin')}
      hint={
        'The team’s secrets, for all factories or for those that they are granted to. ' +
        'A factory’s own secrets are on its own page.'
      }
    />
  );
}
