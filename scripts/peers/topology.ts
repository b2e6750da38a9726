import { canInstall, install } from '../install/apt.mjs'
import { findPostgres, findProgram, findRedis } from '../test/binaries.ts'
import type { Peer } from './peer.ts'

const packages: Readonly<Record<string, () => string | undefined>> = {
  postgresql: findPostgres,
  'redis-server': findRedis,
  haproxy: () => findProgram('haproxy'),
  prometheus: () => findProgram('prometheus'),
}

const missing = (): string[] => Object.keys(packages).filter((name) => packages[name]?.() === undefined)

/** The cluster of deploy/compose, of Debian's packages and two nodes of this source. The suite starts it: `topology/start.ts`. */
export const topology: Peer = {
  name: 'Topology of the compose file',
  tests: 'the proxy, PostgreSQL, Valkey or Redis, Prometheus and two nodes, with the files of deploy/compose',
  variable: 'PEER_TOPOLOGY',
  prepare() {
    if (missing().length > 0 && canInstall()) install(missing())
    if (missing().length > 0) throw new Error(`these packages are not installed: ${missing().join(', ')}`)
  },
  start: async () => ({ url: 'installed', [Symbol.asyncDispose]: async () => {} }),
}
