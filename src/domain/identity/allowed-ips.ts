import { isIP } from 'node:net'
import { Fault } from '../../base/fault.ts'

/** A range of addresses. An IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`) is the IPv4 address. */
export type Network = { readonly family: 4 | 6; readonly value: bigint; readonly prefix: number }

type Address = Omit<Network, 'prefix'>

const bitsOf = { 4: 32, 6: 128 } as const
export const maxAllowedIps = 100

const mappedBits = 96
const mappedValue = 0xffffn

/** Normalises the list: networks without host bits, no duplicates. The error names the first invalid entry. */
export function readAllowedIps(entries: readonly string[]): string[] {
  if (entries.length === 0 || entries.length > maxAllowedIps) {
    const message = `allowed_ips: must have 1 to ${maxAllowedIps} entries; leave the list out to allow every address`
    throw new Fault('validation', 'invalid_parameter', message, { param: 'allowed_ips' })
  }
  const networks = entries.map((entry, at) => {
    const network = parseNetwork(entry)
    if (network !== undefined) return network
    const param = `allowed_ips[${at}]`
    const message = `${param}: must be an address or a network, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32`
    throw new Fault('validation', 'invalid_parameter', message, { param })
  })
  return [...new Set(networks.map(textOfNetwork))]
}

/** Parses a stored list. An entry that cannot be parsed allows nothing. */
export const networksOf = (allowedIps: readonly string[]): Network[] =>
  allowedIps.flatMap((entry) => parseNetwork(entry) ?? [])

/** Whether an address lies in one of the networks. */
export function isAllowedIp(networks: readonly Network[], text: string): boolean {
  const address = parseAddress(text.split('%', 1)[0] ?? '') // the zone names a link, not an address
  return address !== undefined && liesIn(networks, { ...address, prefix: bitsOf[address.family] })
}

/** Whether each network lies in one of the outer ones. */
export const areWithin = (networks: readonly Network[], outer: readonly Network[]): boolean =>
  networks.every((network) => liesIn(outer, network))

const liesIn = (outer: readonly Network[], { family, value, prefix }: Network): boolean =>
  outer.some((each) => {
    const hostBits = BigInt(bitsOf[family] - each.prefix)
    return each.family === family && each.prefix <= prefix && value >> hostBits === each.value >> hostBits
  })

function parseNetwork(text: string): Network | undefined {
  const [, addressText = '', prefixText] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const written = isIP(addressText) === 6 ? 6 : 4
  const address = parseAddress(addressText)
  const prefixWritten = prefixText === undefined ? bitsOf[written] : Number(prefixText)
  if (address === undefined || prefixWritten > bitsOf[written]) return undefined
  if (address.family === written) return masked(address, prefixWritten)
  // An IPv4-mapped IPv6 network: with a prefix of 96 bits or more it is an IPv4 network. A shorter prefix matches no caller.
  return prefixWritten < mappedBits ? undefined : masked(address, prefixWritten - mappedBits)
}

function masked({ family, value }: Address, prefix: number): Network {
  const hostBits = BigInt(bitsOf[family] - prefix)
  return { family, value: (value >> hostBits) << hostBits, prefix }
}

function parseAddress(text: string): Address | undefined {
  const family = isIP(text)
  if (family === 4) return { family, value: ipv4Value(text) }
  if (family !== 6) return undefined
  const value = ipv6Value(text)
  if (value >> 32n !== mappedValue) return { family, value }
  return { family: 4, value: value & 0xffff_ffffn }
}

const ipv4Value = (text: string): bigint => text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n)

function ipv6Value(text: string): bigint {
  const [front = [], back] = text.split('::').map(groupsOf)
  const zeros = Array<bigint>(back === undefined ? 0 : 8 - front.length - back.length).fill(0n)
  return [...front, ...zeros, ...(back ?? [])].reduce((value, group) => (value << 16n) | group, 0n)
}

/** The last 32 bits may be written as an IPv4 address. */
function groupsOf(text: string): bigint[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return BigInt(`0x${group}`)
    const value = ipv4Value(group)
    return [value >> 16n, value & 0xffffn]
  })
}

/** `10.0.0.0/8`. */
export function textOfNetwork({ family, value, prefix }: Network): string {
  const unit = family === 4 ? 8n : 16n
  const parts = Array.from(
    { length: family === 4 ? 4 : 8 },
    (_, at) => (value >> (BigInt(at) * unit)) & ((1n << unit) - 1n),
  )
  const written = parts.toReversed().map((part) => part.toString(family === 4 ? 10 : 16))
  return `${family === 4 ? written.join('.') : shortened(written.join(':'))}/${prefix}`
}

/** The format of RFC 5952, which URLs use. */
const shortened = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)
