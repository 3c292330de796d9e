/** Instead of what a role may not do. */
import { Empty } from '../lists/empty.tsx';

/** `children` says who can. */
export function RoleNeeded({ children }: { children: string }) {
  return <Empty title="Your role does not suffice">{children}</Empty>;
}
