import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer as createNetServer, type AddressInfo, type Server as NetServer } from 'node:net'
import { Server as SecureServer } from 'node:tls'
import { getHeapStatistics } from 'node:v8'
import type { FastifyInstance } from 'fastify'
import { createBodyMemoryBudget } from '../http/body-memory-budget.ts'
import type { CallerOf } from '../http/caller.ts'
import { createInFlight, type InFlight } from '../http/inference/in-flight.ts'
import type { RequestRecorder } from '../http/request-record.ts'
import type { EndpointFamily } from '../http/route.ts'
import { createServer } from '../http/server.ts'
import { drain, closeNow } from '../http/shutdown.ts'
import type { Infrastructure } from './infrastructure.ts'
import { listenError, planListeners, type PlannedListener, type Purpose } from './listen-addresses.ts'
import { createTlsReload, readTlsFiles } from './tls-files.ts'

/** The URL of each purpose. */
export type Addresses = Readonly<Record<Purpose, string>>

/** The ports of this process. */
export type Listeners = AsyncDisposable & {
  readonly inFlight: InFlight
  readonly isShuttingDown: () => boolean
  /** The URL of the API in responses. */
  readonly publicUrl: () => string
  /** The URL of administration; empty until the port is open. */
  readonly administrationUrl: () => string
  /** Creates a server for each port, with the endpoint families of its purposes. */
  serve(familiesFor: (purposes: ReadonlySet<Purpose>) => [EndpointFamily, ...EndpointFamily[]]): Promise<void>
  listen(): Promise<Addresses>
  drain(): Promise<void>
}

type ListenerParts = { readonly recorder: RequestRecorder; readonly identify: CallerOf['identify'] }

type Listener = PlannedListener & { readonly server: FastifyInstance; readonly isSecure: boolean }

/** TCP backlog. A connection that the kernel drops is retried only after a second or more. */
const backlog = 4_096

/** Enough for two of the largest bodies, even on a machine with little memory. */
const minBodyMemoryBytes = 64 * 1024 * 1024

export function createListeners(infrastructure: Infrastructure, { recorder, identify }: ListenerParts): Listeners {
  const { config, clock, ids, log, jobs } = infrastructure
  const { tls: tlsSettings, ...settings } = config.server
  const tls = tlsSettings && readTlsFiles(tlsSettings)
  const inFlight = createInFlight(clock)
  const listeners: Listener[] = []
  const others: NetServer[] = []
  const opened = new AsyncDisposableStack()
  opened.defer(async () => void (await Promise.all(others.map(closed))))
  let isShuttingDown = false
  const listenerOf = (purpose: Purpose): Listener | undefined => listeners.find(({ purposes }) => purposes.has(purpose))
  const publicUrl = (): string => settings.public_url?.replace(/\/+$/, '') ?? addressOf(listenerOf('api'))
  const addressFor = (purpose: Purpose): string => {
    const listener = listenerOf(purpose)
    return listener?.purposes.has('api') === true ? publicUrl() : addressOf(listener)
  }

  return {
    inFlight,
    isShuttingDown: () => isShuttingDown,
    publicUrl,
    administrationUrl: () => addressFor('administration'),
    async serve(familiesFor) {
      const shared = {
        recorder,
        identify,
        clock,
        ids,
        log,
        onHalfClose: inFlight.halfClosed,
        bodyMemory: createBodyMemoryBudget(Math.max(minBodyMemoryBytes, getHeapStatistics().heap_size_limit / 4)),
        requestTimeoutMs: settings.request_timeout_ms,
        proxyHops: settings.trust_proxy ? settings.proxy_hops : 0,
      }
      for (const planned of planListeners(config.server)) {
        const isSecure = tlsSettings !== undefined && (tlsSettings.metrics || !isForMetricsAlone(planned))
        const families = familiesFor(planned.purposes)
        const server = await createServer({ ...shared, families, tls: isSecure ? tls : undefined })
        listeners.push({ ...planned, server, isSecure })
      }
      opened.defer(() => closeNow({ servers: listeners.map(({ server }) => server), inFlight }))
    },
    async listen() {
      // The API port opens last, when everything else is reachable.
      for (const listener of listeners.toReversed()) others.push(...(await open(listener)))
      if (tlsSettings && tls) {
        const servers = listeners.map(({ server }) => server.server)
        const apply = (options: typeof tls): void => {
          for (const server of servers) if (server instanceof SecureServer) server.setSecureContext(options)
        }
        opened.use(jobs.start('reload-tls-certificate', createTlsReload(tlsSettings, tls, { log, apply })))
      }
      return {
        api: publicUrl(),
        administration: addressFor('administration'),
        metrics: addressFor('metrics'),
      }
    },
    async drain() {
      isShuttingDown = true
      // The metrics port stays open, so that the last requests are still scraped.
      const servers = listeners.filter((listener) => !isForMetricsAlone(listener)).map(({ server }) => server)
      await drain({ servers, inFlight, clock }, settings.drain_delay_ms)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const isForMetricsAlone = ({ purposes }: PlannedListener): boolean => purposes.size === 1 && purposes.has('metrics')

function addressOf(listener: Listener | undefined): string {
  const address = listener?.server.server.address() ?? null
  if (address === null || typeof address === 'string') return ''
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `${listener?.isSecure === true ? 'https' : 'http'}://${host}:${address.port}`
}

async function open(listener: Listener): Promise<NetServer[]> {
  const { server, host, port } = listener
  try {
    await server.listen({ host, port, backlog })
    return host === 'localhost' ? await alsoListen(server) : []
  } catch (error) {
    throw listenError(error, listener)
  }
}

/** `localhost` has two addresses on most machines. Connections to the second one go to the same server. */
async function alsoListen({ server }: FastifyInstance): Promise<NetServer[]> {
  const { address: first, port } = server.address() as AddressInfo
  const addresses = await lookup('localhost', { all: true })
  const others = addresses
    .filter(({ address }) => address !== first)
    .map(async ({ address }) => {
      const options = { allowHalfOpen: true, noDelay: true }
      const other = createNetServer(options, (socket) => void server.emit('connection', socket))
      other.listen({ host: address, port, backlog })
      // The hosts file may list an address that the machine does not have; the first one is enough.
      return once(other, 'listening').then(
        () => [other],
        () => [],
      )
    })
  return (await Promise.all(others)).flat()
}

const closed = (server: NetServer): Promise<unknown> => new Promise((resolve) => server.close(resolve))
