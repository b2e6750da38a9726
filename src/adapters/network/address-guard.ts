import { BlockList, isIP } from 'node:net'

/**
 * Decides whether a tenant's URL may connect to an address (SSRF protection). It is called with the resolved address at the
 * moment of the connection, because a name that is checked first could resolve to another address later (DNS rebinding).
 */
export type AddressGuard = (target: ConnectTarget) => boolean

export type ConnectTarget = { readonly address: string } & AddressedPort

type AddressedPort = { readonly port: number; readonly isSecure: boolean }

/** Why a connection is not allowed: the address is not public, the protocol is plain http, or the port is not listed. */
export type AddressProblem = 'address' | 'scheme' | 'port'

/** Finds the reason why a connection is not allowed. Without an address, only a reason that holds for every address. */
export type FindAddressProblem = (
  target: AddressedPort & { readonly address?: string | undefined },
) => AddressProblem | undefined

export type AddressRules = {
  /** Private networks (CIDR) that the operator allows. Plain http and any port are allowed there. */
  readonly allowNetworks?: readonly string[]
  /** The allowed ports outside these networks. */
  readonly ports?: readonly number[] | 'any'
}

/** https, Splunk's collector, OpenTelemetry's, Elasticsearch's, Elastic Cloud's. */
export const defaultPorts: readonly number[] = [443, 4318, 8088, 9200, 9243]

/** All IPv4 ranges that IANA does not assign as global unicast addresses. */
const closedInIpv4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and some clouds' metadata services
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host agent, which has a public address
  '169.254.0.0/16', // link-local, and most clouds' metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]

/**
 * In IPv6 only this block is global. Loopback, link-local, private, IPv4-mapped and NAT64 addresses are outside it. The
 * closed ranges inside it are tunnels or not routed.
 */
const openInIpv6 = ['2000::/3']
const closedInIpv6 = [
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries any IPv4 address
  '3fff::/20', // documentation
]

/**
 * Never reachable for a tenant's URL, also where private addresses are: link-local addresses, the metadata services of clouds,
 * multicast, and the same addresses inside of IPv6.
 */
const neverOpen = [
  '0.0.0.0/8',
  '100.100.100.200/32', // Alibaba Cloud's metadata service
  '168.63.129.16/32', // Azure's host agent
  '169.254.0.0/16',
  '192.0.0.192/32', // Oracle Cloud's metadata service
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '2002:a83f:8110::/48', // 6to4
  '2002:a9fe::/32',
  '64:ff9b::6464:64c8/128', // NAT64
  '64:ff9b::a83f:8110/128',
  '64:ff9b::a9fe:0/112',
  '64:ff9b::c000:c0/128',
  'fd00:ec2::/32', // AWS's metadata service
  'fd20:ce::/32', // Google Cloud's metadata service
  'fe80::/10',
  'ff00::/8',
]

/** The rules for upstreams that organizations add: public addresses over https, or also private ones. */
export function createUpstreamAddressProblems({
  allowsPrivate,
}: {
  readonly allowsPrivate: boolean
}): FindAddressProblem {
  const never = networks(neverOpen)
  const publicProblems = createAddressProblems({ ports: 'any' })
  return (target) => {
    const { address } = target
    if (address !== undefined && (isIP(address) === 0 || address.includes('%') || contains(never, address)))
      return 'address'
    return allowsPrivate ? undefined : publicProblems(target)
  }
}

export function createAddressGuard(rules: AddressRules): AddressGuard {
  const problemOf = createAddressProblems(rules)
  return (target) => problemOf(target) === undefined
}

/** The same rules as the guard, with the reason. */
export function createAddressProblems(rules: AddressRules): FindAddressProblem {
  const { allowNetworks = [], ports = defaultPorts } = rules
  const allowed = networks(allowNetworks)
  const open = networks(openInIpv6)
  const closed = networks([...closedInIpv4, ...closedInIpv6])
  const isPublic = (address: string): boolean =>
    !contains(closed, address) && (isIP(address) === 4 || contains(open, address))
  return ({ address, port, isSecure }) => {
    if (address === undefined) {
      if (allowNetworks.length > 0) return undefined
    } else {
      // An address with a zone (`fe80::1%eth0`) names an interface of this host.
      if (isIP(address) === 0 || address.includes('%')) return 'address'
      if (contains(allowed, address)) return undefined
      if (!isPublic(address)) return 'address'
    }
    if (!isSecure) return 'scheme'
    return ports === 'any' || ports.includes(port) ? undefined : 'port'
  }
}

/** Throws on an invalid network, so that a configuration error stops the start instead of weakening the guard. */
function networks(list: readonly string[]): BlockList {
  const blocks = new BlockList()
  for (const network of list) {
    const [address = '', prefix = '', ...rest] = network.split('/')
    const bits = Number(prefix)
    if (isIP(address) === 0 || !/^\d{1,3}$/.test(prefix) || rest.length > 0 || bits > bitsOf(address)) {
      throw new Error(`"${network}" is not a network. Write it like 10.0.0.0/8 or fd00::/8.`)
    }
    blocks.addSubnet(address, bits, familyOf(address))
  }
  return blocks
}

const contains = (blocks: BlockList, address: string): boolean => blocks.check(address, familyOf(address))
const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
const bitsOf = (address: string): number => (isIP(address) === 6 ? 128 : 32)
