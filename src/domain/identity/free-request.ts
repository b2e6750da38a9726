import { createHmac } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { dayMs, type Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Keyring } from '../server-secret/keyring.ts'
import type { FreeCaller } from './principal.ts'
import type { CredentialStore } from './store.ts'

const rememberMs = 30 * dayMs

/** The single anonymous free request: one per client, once, and a cap over all clients per day. */
export type FreeRequests = {
  identify(address: string): FreeCaller
  /** Claims the client's free request. Disposing the slot releases it, unless `keep` or `useUp` was called. */
  claim(caller: FreeCaller): Promise<FreeTierSlot>
}

export type FreeTierSlot = AsyncDisposable & {
  /** The request is answered: it counts for its client and for the day. */
  keep(): void
  /** The request is rejected for what it contains: it counts for its client, and not against the cap that all clients share. */
  useUp(): void
}

export type FreeRequestParts = {
  readonly store: Pick<CredentialStore, 'claimFreeRequest' | 'releaseFreeRequest'>
  readonly clock: Clock
  readonly keyring: Pick<Keyring, 'accepted'>
  readonly dailyCap: number
}

export function createFreeRequests({ store, clock, keyring, dailyCap }: FreeRequestParts): FreeRequests {
  return {
    identify(address) {
      const subscriber = clientPrefixOf(address)
      const [client = '', ...aliases] = keyring
        .accepted()
        .map(({ key }) => createHmac('sha256', key('free request')).update(subscriber).digest('hex'))
      return { kind: 'free', client, aliases }
    },
    async claim({ client, aliases }) {
      const atMs = clock.nowMs()
      const granted = await store.claimFreeRequest({ client, aliases, atMs, rememberMs, dailyCap })
      if (!granted) throw usedUp()
      let isKept = false
      let isUsedUp = false
      return {
        keep: () => void (isKept = true),
        useUp: () => void (isUsedUp = true),
        async [Symbol.asyncDispose]() {
          if (!isKept) await store.releaseFreeRequest({ client, atMs, isUsedUp })
        },
      }
    },
  }
}

const usedUp = (): Fault =>
  new Fault('auth', 'free_request_used', 'The free request is used up. Sign up and send an API key to continue.')

/** The /64 of an IPv6 address, because one client usually has a whole /64. An IPv4-mapped address counts as IPv4. */
export function clientPrefixOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  if (!isIPv6(address)) return address
  return groupsOf(address).slice(0, 4).join(':')
}

function groupsOf(address: string): string[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0')
  return [...front, ...zeros, ...back].map((group) => parseInt(group, 16).toString(16))
}
