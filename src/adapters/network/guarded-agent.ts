import { lookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { Agent, buildConnector } from 'undici'
import type { AddressGuard, Target } from './address-guard.ts'

/** Every address of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

export type GuardedAgentOptions = {
  readonly guard: AddressGuard
  /** Trusted instead of the public authorities, where the destination has a certificate of its own making. */
  readonly caPem?: string | undefined
  readonly resolve?: Resolve
}

const connectTimeoutMs = 10_000
const lookupAll = promisify(lookup)
const systemResolve: Resolve = (hostname) => lookupAll(hostname, { all: true })

/**
 * An undici agent that dials only what the guard allows. A name is resolved once; all of its addresses must be
 * allowed, and only those are dialled. It follows no redirects. One agent per destination: connections are reused
 * without asking the guard again, so they must not be shared between owners.
 */
export function createGuardedAgent({ guard, caPem, resolve = systemResolve }: GuardedAgentOptions): Agent {
  const connect: buildConnector.connector = (options, callback) => {
    const dial = async (): Promise<void> => {
      const target = targetOf(options)
      const addresses = await addressesOf(options.hostname, resolve)
      if (addresses.length === 0 || !addresses.every(({ address }) => guard({ ...target, address }))) {
        throw new Error(`${options.hostname} is at ${addresses.map(({ address }) => address).join(', ')}: refused`)
      }
      const connector = buildConnector({
        timeout: connectTimeoutMs,
        allowH2: false,
        maxCachedSessions: 0,
        lookup: pinned(addresses),
        ...(caPem !== undefined && { ca: caPem }),
      })
      connector(options, (...result) => callback(...checked(result, (address) => guard({ ...target, address }))))
    }
    dial().catch((error: Error) => callback(error, null))
  }
  return new Agent({ connect, pipelining: 1, connections: 4 })
}

/** Node asks no resolver for an address literal, so literals take this road too and are checked like any answer. */
async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const family = isIP(hostname)
  return family === 0 ? resolve(hostname) : [{ address: hostname, family }]
}

function targetOf({ protocol, port }: buildConnector.Options): Omit<Target, 'address'> {
  const isSecure = protocol === 'https:'
  return { isSecure, port: port === '' ? (isSecure ? 443 : 80) : Number(port) }
}

/** A lookup that knows one answer: the addresses that were checked. */
function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}

type Connected = Parameters<buildConnector.Callback>

/** The last wall: whatever happened on the way, the socket must end where it may. */
function checked(result: Connected, isAllowed: (address: string) => boolean): Connected {
  const [error, socket] = result
  if (error || isAllowed(socket.remoteAddress ?? '')) return result
  socket.destroy()
  return [new Error('connected to an address that is refused'), null]
}
