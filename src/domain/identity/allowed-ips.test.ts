import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { areWithin, isAllowedIp, networksOf, readAllowedIps } from './allowed-ips.ts'

describe('a list of allowed addresses', () => {
  for (const [written, stored] of [
    ['203.0.113.7', '203.0.113.7/32'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::1', '2001:db8::1/128'],
    ['2001:db8::ffff/32', '2001:db8::/32'],
    ['::/0', '::/0'],
    ['::1', '::1/128'],
    ['::ffff:192.0.2.9', '192.0.2.9/32'],
    ['::ffff:c000:209/120', '192.0.2.0/24'],
    ['64:ff9b::192.0.2.9', '64:ff9b::c000:209/128'],
  ] as const) {
    it(`stores ${written} as ${stored}`, () => assert.deepEqual(readAllowedIps([written]), [stored]))
  }

  it('stores each network once', () => {
    assert.deepEqual(readAllowedIps(['10.0.0.1/8', '10.9.9.9/8', '::ffff:10.0.0.0/104']), ['10.0.0.0/8'])
  })

  for (const wrong of [
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '010.0.0.1',
    '2001:db8::/129',
    'fe80::1%eth0',
    '::ffff:0.0.0.0/90',
    '10.0.0.1 ',
    '10.0.0.0/255.0.0.0',
  ]) {
    it(`names the entry ${JSON.stringify(wrong)} in the error`, () => {
      assert.throws(
        () => readAllowedIps(['10.0.0.0/8', wrong]),
        (error) => error instanceof Fault && error.kind === 'validation' && error.details.param === 'allowed_ips[1]',
      )
    })
  }

  for (const [list, address, isIn] of [
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', true],
    ['10.0.0.0/8', '::ffff:a00:1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '192.0.2.1', false],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.7', '203.0.113.7:4711', false],
    ['203.0.113.7', 'unknown', false],
    ['203.0.113.7', '', false],
  ] as const) {
    it(`${isIn ? 'allows' : 'does not allow'} ${address || 'an empty address'} if it is ${list}`, () => {
      assert.equal(isAllowedIp(networksOf(readAllowedIps([list])), address), isIn)
    })
  }

  it('allows no address if its entries cannot be parsed', () => {
    assert.equal(isAllowedIp(networksOf(['nonsense']), '10.0.0.1'), false)
  })

  for (const [inner, outer, isWithin] of [
    [['10.1.0.0/16', '10.2.3.4'], ['10.0.0.0/8'], true],
    [['10.0.0.0/8'], ['10.1.0.0/16'], false],
    [['10.1.0.0/16', '192.0.2.1'], ['10.0.0.0/8'], false],
    [['2001:db8:1::/48'], ['2001:db8::/32', '10.0.0.0/8'], true],
    [['::/0'], ['0.0.0.0/0'], false],
    [['0.0.0.0/0'], ['::/0'], false],
    [['10.0.0.0/8'], ['10.0.0.0/8'], true],
  ] as const) {
    it(`of ${inner.join(', ')} ${isWithin ? 'lies' : 'does not lie'} within ${outer.join(', ')}`, () => {
      assert.equal(areWithin(networksOf(readAllowedIps(inner)), networksOf(readAllowedIps(outer))), isWithin)
    })
  }
})
