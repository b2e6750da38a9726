import { lookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { Agent, buildConnector } from 'undici'
import type { AddressGuard } from './address-guard.ts'

/** Resolves a host name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

export type GuardedAgentOptions = {
  readonly guard: AddressGuard
  /** Trusted instead of the public certificate authorities, for destinations with a self-signed certificate. */
  readonly caPem?: string | undefined
  readonly resolve?: Resolve
  readonly connectTimeoutMs?: number
  /** The most connections to the destination. Null: no limit. */
  readonly connections?: number | null
}

const lookupAll = promisify(lookup)
export const systemResolve: Resolve = (hostname) => lookupAll(hostname, { all: true })

/**
 * An undici agent that connects only to addresses that the guard allows. A name is resolved once; all of its addresses must
 * be allowed, and only those are used. It follows no redirect. Use one agent per destination: connections are reused without
 * a new check, so tenants must not share them.
 */
export function createGuardedAgent(options: GuardedAgentOptions): Agent {
  const { guard, caPem, resolve = systemResolve, connectTimeoutMs = 10_000, connections = 4 } = options
  const connectorTo = (addresses: readonly LookupAddress[]): buildConnector.connector =>
    buildConnector({
      timeout: connectTimeoutMs,
      allowH2: false,
      maxCachedSessions: 0,
      lookup: pinned(addresses),
      ...(caPem !== undefined && { ca: caPem }),
    })

  const dial = async (target: buildConnector.Options, callback: buildConnector.Callback): Promise<void> => {
    try {
      const isAllowed = allowedBy(guard, target)
      const addresses = await addressesOf(target.hostname, resolve)
      if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) {
        throw new Error(
          `${target.hostname} is at ${addresses.map(({ address }) => address).join(', ')}, which is not allowed`,
        )
      }
      connectorTo(addresses)(target, (...result) => callback(...checked(result, isAllowed)))
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null)
    }
  }

  const connect: buildConnector.connector = (target, callback) => void dial(target, callback)
  return new Agent({ connect, pipelining: 1, connections, keepAliveTimeout: 30_000 })
}

function allowedBy(guard: AddressGuard, { protocol, port }: buildConnector.Options): (address: string) => boolean {
  const isSecure = protocol === 'https:'
  const defaultPort = isSecure ? 443 : 80
  return (address) => guard({ address, isSecure, port: port === '' ? defaultPort : Number(port) })
}

/** Node resolves no IP literals, so they are returned here and checked like a resolved address. */
async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const family = isIP(hostname)
  return family === 0 ? resolve(hostname) : [{ address: hostname, family }]
}

/** A lookup function that always returns the addresses that were checked. */
function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}

type Connected = Parameters<buildConnector.Callback>

/** Checks the address of the connected socket as well (defence in depth). */
function checked(result: Connected, isAllowed: (address: string) => boolean): Connected {
  const [error, socket] = result
  if (error || isAllowed(socket.remoteAddress ?? '')) return result
  socket.destroy()
  return [new Error('connected to an address that is not allowed'), null]
}
