import { isIP } from 'node:net'
import { createSemaphore } from '../../base/semaphore.ts'
import type { AddressProblem, FindAddressProblem } from './address-guard.ts'
import { systemResolve, type Resolve } from './guarded-agent.ts'

export type AddressCheckParts = {
  readonly problemOf: FindAddressProblem
  /** The same text for a literal address and for a name, so that a name's address stays unknown to the tenant. */
  readonly messages: Readonly<Record<AddressProblem, string>>
  readonly resolve?: Resolve
  readonly timeoutMs?: number
}

/** Lookups share a few threads with the file system. One that hangs keeps its thread, also after the check has ended. */
const concurrentLookups = 2
const lookupTimeoutMs = 2_000

/**
 * Checks an address when it is configured, so that its owner learns at once what would not be connected to. The guard checks
 * again at each connection, because a name can resolve to another address later.
 */
export function createAddressCheck(parts: AddressCheckParts): (url: URL) => Promise<string | undefined> {
  const { problemOf, messages, resolve = systemResolve, timeoutMs = lookupTimeoutMs } = parts
  const lookups = createSemaphore(concurrentLookups)

  /** The addresses of a name; none if they are not known in time. */
  const addressesOf = async (hostname: string): Promise<readonly string[]> => {
    const signal = AbortSignal.timeout(timeoutMs)
    const lookUp = async (): Promise<readonly string[]> => {
      using _permit = await lookups.acquire(signal)
      return (await resolve(hostname)).map(({ address }) => address)
    }
    return await Promise.race([lookUp().catch(() => []), endOf(signal)])
  }

  return async (url) => {
    const isSecure = url.protocol === 'https:'
    const defaultPort = isSecure ? 443 : 80
    const port = url.port === '' ? defaultPort : Number(url.port)
    const find = (address?: string): AddressProblem | undefined => problemOf({ address, port, isSecure })
    const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const problem = isIP(hostname) === 0 ? find() : find(hostname)
    if (problem !== undefined || isIP(hostname) !== 0) return problem && messages[problem]
    // A connection is opened only if every address of the name is allowed.
    const found = (await addressesOf(hostname)).map(find).find((each) => each !== undefined)
    return found && messages[found]
  }
}

const endOf = (signal: AbortSignal): Promise<readonly string[]> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve([]), { once: true }))
