/** What a process that shares its database with others says of itself at its start: what it does, under which addresses, and for which runs. contract 1, 11. */
import { ROLES, type Config } from './config/config.ts';

/** Where the service is, and what of it this process does, where others do the rest. */
export function roleLines(config: Config): string[] {
  const { roles, host, port, publicUrl, isPublicUrlGiven } = config;
  const others = ROLES.filter((role) => !roles.has(role));
  const about = roles.has('api') ? [`Its interface is described at ${publicUrl}/docs`] : [];
  if (others.length === 0) return [`Millwright is running at ${publicUrl}/`, ...about];
  return [
    `Millwright is running here as ${[...roles].join(', ')}; other processes do ${others.join(', ')}`,
    `This process answers at ${host.includes(':') ? `[${host}]` : host}:${port}${isPublicUrlGiven ? `, the service at ${publicUrl}/` : ''}`,
    ...addressLines(config),
    ...about,
  ];
}

/** Links are made of two addresses; where none is named they are this process's own, which is wrong for what others do. */
function addressLines({ roles, isPublicUrlGiven, isIngressUrlGiven }: Config): string[] {
  const lacksPublic = !isPublicUrlGiven && !(roles.has('api') && roles.has('dashboard'));
  const lacksIngress = !isPublicUrlGiven && !isIngressUrlGiven && !roles.has('ingress');
  const ways = [
    ...(lacksPublic ? ['MILLWRIGHT_PUBLIC_URL to the address under which people reach api and dashboard'] : []),
    ...(lacksIngress
      ? [
          `MILLWRIGHT_INGRESS_URL to the one under which senders reach ingress${lacksPublic ? ', where that is another' : ''}`,
        ]
      : []),
  ];
  return ways.length === 0
    ? []
    : [
        `WARNING: links that this process makes lead to itself, also those to what it does not do; set ${ways.join(', and ')}, the same in every process`,
      ];
}

/** Root of the API, for who is to call it; a word to be replaced where this process does not know it. */
export function knownApiUrl({ roles, publicUrl, isPublicUrlGiven }: Config): string {
  return roles.has('api') || isPublicUrlGiven ? publicUrl : 'URL_OF_THE_API';
}

/** Root of the ingress, likewise. */
export function knownIngressUrl({ roles, ingressUrl, isPublicUrlGiven, isIngressUrlGiven }: Config): string {
  return roles.has('ingress') || isPublicUrlGiven || isIngressUrlGiven ? ingressUrl : 'URL_OF_THE_INGRESS';
}

/** Which runs this worker takes, and who tells it of them. */
export function workerLines({ roles, engine, redisUrl, workerHost, workerEnvironments }: Config): string[] {
  const environments =
    workerEnvironments.length === 0
      ? 'of every environment'
      : `only of the environments ${workerEnvironments.join(', ')}`;
  return [
    ...(engine === 'embedded'
      ? []
      : [`Engine: ${engine}, with its queue in ${redisUrl === undefined ? 'PostgreSQL' : 'Redis'}`]),
    ...(roles.size === ROLES.length && workerEnvironments.length === 0
      ? []
      : [`Takes runs ${environments}, and those that ask for the machine ${workerHost} (MILLWRIGHT_WORKER_HOST)`]),
  ];
}

/** Where an admin key is that this process neither made nor was given. */
export function otherAdminKeyLine({ databaseUrl, adminKey }: Config): string {
  return databaseUrl === undefined || adminKey !== undefined
    ? 'Admin key: the one that was given or shown at the first start'
    : 'Admin key: in the data folder of the process that made it (file admin-key), or the one that was given to it';
}
