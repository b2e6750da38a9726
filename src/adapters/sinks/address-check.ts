import { isIP } from 'node:net'
import { createSemaphore } from '../../base/semaphore.ts'
import type { FindSinkAddressProblem } from '../../domain/audit/export/sink.ts'
import {
  createAddressProblems,
  defaultPorts,
  type AddressProblem,
  type AddressRules,
} from '../network/address-guard.ts'
import { systemResolve, type Resolve } from '../network/guarded-agent.ts'

type AddressCheckParts = {
  readonly allowNetworks: readonly string[]
  readonly resolve?: Resolve
  readonly timeoutMs?: number
}

/** Lookups share a few threads with the file system. One that hangs keeps its thread, also after the check has ended. */
const concurrentLookups = 2
const lookupTimeoutMs = 2_000

/**
 * Checks an address when a sink is configured, so that its owner learns at once what delivery would not connect to. The
 * guard checks again at delivery, because a name can resolve to another address later.
 */
export function createSinkAddressCheck(parts: AddressCheckParts): FindSinkAddressProblem {
  const { allowNetworks, resolve = systemResolve, timeoutMs = lookupTimeoutMs } = parts
  const rules: AddressRules = { allowNetworks }
  const problemOf = createAddressProblems(rules)
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
    // Delivery connects only if every address of the name is allowed.
    const found = (await addressesOf(hostname)).map(find).find((each) => each !== undefined)
    return found && messages[found]
  }
}

const endOf = (signal: AbortSignal): Promise<readonly string[]> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve([]), { once: true }))

const ports = defaultPorts.join(', ').replace(/, (\d+)$/, ' or $1')
const exception = 'networks that the operator lists in exports.allow_addresses'

/** The same text for a literal address and for a name, so that a name's address stays unknown to the tenant. */
const messages: Readonly<Record<AddressProblem, string>> = {
  address: `does not lead to a public address. Use a public one, or ask the operator to add its network to exports.allow_addresses`,
  scheme: `must begin with https://. Plain http is allowed only to ${exception}`,
  port: `must have port ${ports}. Other ports are allowed only to ${exception}`,
}
