/** Notice for an address that is not reachable from other machines. */
import { Alert } from '@mantine/core';

export function LocalAddressNotice({ url }: { url: string }) {
  if (!isLocalAddress(url)) return null;
  return (
    <Alert color="orange" title="This address is on this machine only">
      A sender elsewhere cannot reach it. An administrator of the service can give it an address that others reach
      (MILLWRIGHT_INGRESS_URL); until then a command on this machine can send.
    </Alert>
  );
}

export function isLocalAddress(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname) || /(^|\.)localhost$/.test(hostname);
}
