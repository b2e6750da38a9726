import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAddressGuard, createAddressProblems, createUpstreamAddressProblems } from './address-guard.ts'

const guard = createAddressGuard({})
const https = { port: 443, isSecure: true }

describe('the address guard', () => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '172.32.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ]) {
    it(`allows https to ${address}`, () => assert.ok(guard({ address, ...https })))
  }

  const closed = [
    ['this network', '0.0.0.0'],
    ['loopback', '127.0.0.1', '127.255.255.254', '::1', '::'],
    ['private networks', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1'],
    ['link-local and metadata', '169.254.169.254', 'fe80::1', 'fe80::1%eth0', '2606:4700::1%eth0', 'fd00:ec2::254'],
    ['carrier-grade NAT', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
    ['the Azure host agent', '168.63.129.16'],
    [
      'reserved, multicast, broadcast',
      '192.0.0.192',
      '198.18.0.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      'ff02::1',
    ],
    ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
    [
      'IPv4 in disguise',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:8.8.8.8',
      '::7f00:1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::1',
    ],
    ['tunnels', '2002:7f00:1::', '2002:0808:0808::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:10::1'],
    ['what is no address', '', 'localhost', '127.1', '1.1.1.1/8', '1.1.1.1 '],
  ]
  for (const [what, ...addresses] of closed) {
    it(`rejects ${what}`, () => {
      for (const address of addresses) assert.ok(!guard({ address, ...https }), address)
    })
  }

  it('rejects plain http and unlisted ports', () => {
    assert.ok(!guard({ address: '1.1.1.1', port: 443, isSecure: false }))
    assert.ok(!guard({ address: '1.1.1.1', port: 22, isSecure: true }))
    assert.ok(guard({ address: '1.1.1.1', port: 8088, isSecure: true }))
  })

  it('allows any port and plain http inside the allowed networks only', () => {
    const lab = createAddressGuard({ allowNetworks: ['10.1.0.0/16', 'fd12::/16'] })
    assert.ok(lab({ address: '10.1.2.3', port: 8125, isSecure: false }))
    assert.ok(lab({ address: 'fd12::9', port: 80, isSecure: false }))
    assert.ok(!lab({ address: '10.2.0.1', port: 443, isSecure: true }))
    assert.ok(!lab({ address: '127.0.0.1', port: 443, isSecure: true }))
  })

  for (const network of ['10.0.0.0', '10.0.0.0/33', 'lan/8', '10.0.0.0/8/8', '10.0.0.0/', '::/129', '10.0.0.0/-1']) {
    it(`throws on the invalid network "${network}"`, () => {
      assert.throws(() => createAddressGuard({ allowNetworks: [network] }), /is not a network/)
    })
  }
})

describe('the reason why the address guard rejects a connection', () => {
  const problemOf = createAddressProblems({})

  it('is the address before the protocol, and the protocol before the port', () => {
    assert.equal(problemOf({ address: '10.0.0.1', port: 22, isSecure: false }), 'address')
    assert.equal(problemOf({ address: '1.1.1.1', port: 22, isSecure: false }), 'scheme')
    assert.equal(problemOf({ address: '1.1.1.1', port: 22, isSecure: true }), 'port')
    assert.equal(problemOf({ address: '1.1.1.1', ...https }), undefined)
  })

  it('is known without an address only if every address is rejected', () => {
    assert.equal(problemOf({ port: 80, isSecure: false }), 'scheme')
    assert.equal(problemOf({ port: 22, isSecure: true }), 'port')
    assert.equal(problemOf(https), undefined)
    assert.equal(createAddressProblems({ allowNetworks: ['10.1.0.0/16'] })({ port: 80, isSecure: false }), undefined)
  })
})

describe('the addresses of upstreams that organizations add', () => {
  const target = { port: 8000, isSecure: false }
  const anywhere = createUpstreamAddressProblems({ allowsPrivate: true })
  const onlyPublic = createUpstreamAddressProblems({ allowsPrivate: false })

  it('may be private, but never link-local or a metadata service, in any spelling', () => {
    for (const address of ['127.0.0.1', '10.0.0.1', '192.168.1.1', '::1', 'fd12::1', '1.1.1.1', '64:ff9b::101:101'])
      assert.equal(anywhere({ ...target, address }), undefined, address)
    for (const address of [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      '2002:a9fe:a9fe::1',
      'fe80::1',
      'fe80::1%eth0',
      'fd00:ec2::254',
      'fd20:ce::254',
      '168.63.129.16',
      '100.100.100.200',
      '0.0.0.0',
      '::',
      'not an address',
    ])
      assert.equal(anywhere({ ...target, address }), 'address', address)
  })

  it('are public and over https where private ones are closed, at any port', () => {
    const secure = { port: 8443, isSecure: true }
    assert.equal(onlyPublic({ ...secure, address: '1.1.1.1' }), undefined)
    assert.equal(onlyPublic({ ...target, address: '1.1.1.1' }), 'scheme')
    for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', 'fd12::1'])
      assert.equal(onlyPublic({ ...secure, address }), 'address', address)
  })
})
