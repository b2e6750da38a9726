import assert from 'node:assert/strict'
import { it } from 'node:test'
import { clientPrefixOf } from './free-request.ts'

it('takes all addresses of one IPv6 /64 for one client, and every IPv4 address for its own', () => {
  assert.equal(clientPrefixOf('2001:db8:1:2:aaaa::1'), clientPrefixOf('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  assert.equal(clientPrefixOf('2001:db8::1'), clientPrefixOf('2001:0db8:0000:0000:1::'))
  assert.notEqual(clientPrefixOf('2001:db8:1:2::1'), clientPrefixOf('2001:db8:1:3::1'))
  assert.notEqual(clientPrefixOf('192.0.2.1'), clientPrefixOf('192.0.2.2'))
  assert.equal(clientPrefixOf('::ffff:192.0.2.1'), '192.0.2.1')
})
